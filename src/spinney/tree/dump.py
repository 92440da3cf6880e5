"""One tree for people: as text, as nested dictionaries, as JSON.

No function here calls itself, so a tree of any depth can be shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from spinney.data import Categories
from spinney.tree.forest import Tree


def text(
    tree: Tree,
    names: Sequence[str | int] | None = None,
    categories: Sequence[Categories | None] | None = None,
) -> str:
    """Show a tree as one line for each node, indented by depth.

    Parameters
    ----------
    tree : Tree
        The tree to show.
    names : sequence of str, optional
        Names of the columns; without them column 3 is shown as `column 3`.
    categories : sequence of Categories or None, optional
        The categories of each column; without them their numbers are shown.

    Returns
    -------
    str
        A node before its children, the left child (value <= threshold) first.

    Examples
    --------
    >>> import numpy as np
    >>> stump = Tree(
    ...     feature=np.array([0, -1, -1], np.int32), threshold=np.array([0.5, 0.0, 0.0]),
    ...     left=np.array([1, 0, 0], np.int32), default_left=np.array([1, 0, 0], np.uint8),
    ...     value=np.array([0.0, -1.0, 1.0]), gain=np.array([8.0, 0.0, 0.0]),
    ...     cover=np.array([20.0, 10.0, 10.0]), count=np.array([20, 10, 10]),
    ... )
    >>> lines = text(stump, ["age"])
    >>> lines.splitlines()[0]
    '0: age <= 0.5, missing left, gain 8.0, cover 20.0, count 20'
    >>> lines.splitlines()[2]
    '  2: leaf 1.0, cover 10.0, count 10'
    """
    lines = []
    for node, depth in tree.walk():
        if tree.feature[node] < 0:
            what = f"leaf {_value(tree, node)}"
        else:
            missing = "left" if tree.default_left[node] else "right"
            members = _members(tree, node, categories)
            rule = f"<= {float(tree.threshold[node])}" if members is None else f"in {_set_text(members)}"
            what = f"{_column(tree, node, names)} {rule}, missing {missing}, gain {float(tree.gain[node])}"
        reached = f"cover {float(tree.cover[node])}, count {tree.count[node]}"
        lines.append(f"{'  ' * depth}{node}: {what}, {reached}")
    return "\n".join(lines)


def nested(
    tree: Tree,
    names: Sequence[str | int] | None = None,
    categories: Sequence[Categories | None] | None = None,
) -> dict[str, object]:
    """Turn a tree into dictionaries, each inner node holding its children under "left" and "right".

    Parameters
    ----------
    tree : Tree
        The tree to turn.
    names : sequence of str or int, optional
        Names of the columns; without them "feature" is the column's number.
    categories : sequence of Categories or None, optional
        The categories of each column; without them "categories" holds their numbers.

    Returns
    -------
    dict
        The root. An inner node has "node", "feature", "threshold" (or "categories", a list of those that go left), "missing"
        ("left" or "right"), "gain", "cover", "count", "left" and "right"; a leaf has "node", "leaf" (a list where it holds
        several numbers), "cover" and "count".
        Where rare categories, which share a number, go left, the list ends with {"others": how many they are}.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = Tree(
    ...     feature=np.array([-1], np.int32), threshold=np.zeros(1), left=np.zeros(1, np.int32),
    ...     default_left=np.zeros(1, np.uint8), value=np.array([0.25]), gain=np.zeros(1),
    ...     cover=np.array([3.0]), count=np.array([3]),
    ... )
    >>> nested(leaf)
    {'node': 0, 'leaf': 0.25, 'cover': 3.0, 'count': 3}
    """
    root = _fields(tree, 0, names, categories)
    pending = [(0, root)]
    while pending:
        node, fields = pending.pop()
        if tree.feature[node] >= 0:
            left = int(tree.left[node])
            for side, child in (("left", left), ("right", left + 1)):
                below = _fields(tree, child, names, categories)
                fields[side] = below
                pending.append((child, below))
    return root


def to_json(
    tree: Tree,
    names: Sequence[str | int] | None = None,
    categories: Sequence[Categories | None] | None = None,
    indent: int = 0,
) -> str:
    """Write the dictionaries of `nested` as JSON, one line for each node.

    Parameters
    ----------
    tree : Tree
        The tree to write.
    names : sequence of str or int, optional
        Names of the columns; without them "feature" is the column's number.
    categories : sequence of Categories or None, optional
        The categories of each column; without them "categories" holds their numbers.
    indent : int
        Spaces before the root; each level below has one more.

    Returns
    -------
    str
        JSON text; its numbers read back as the very same numbers.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = Tree(
    ...     feature=np.array([-1], np.int32), threshold=np.zeros(1), left=np.zeros(1, np.int32),
    ...     default_left=np.zeros(1, np.uint8), value=np.array([0.25]), gain=np.zeros(1),
    ...     cover=np.array([3.0]), count=np.array([3]),
    ... )
    >>> to_json(leaf)
    '{"node": 0, "leaf": 0.25, "cover": 3.0, "count": 3}'
    """
    lines = []
    pending = [(0, indent, "", "")]
    while pending:
        node, depth, before, after = pending.pop()
        fields = _fields(tree, node, names, categories)
        line = " " * depth + before + json.dumps(fields, ensure_ascii=False)
        if tree.feature[node] < 0:
            lines.append(line + after)
        else:
            lines.append(line[:-1] + ",")
            left = int(tree.left[node])
            pending.append((left + 1, depth + 1, '"right": ', "}" + after))
            pending.append((left, depth + 1, '"left": ', ","))
    return "\n".join(lines)


def _fields(
    tree: Tree,
    node: int,
    names: Sequence[str | int] | None,
    categories: Sequence[Categories | None] | None,
) -> dict[str, object]:
    tail = {"cover": float(tree.cover[node]), "count": int(tree.count[node])}
    feature = int(tree.feature[node])
    if feature < 0:
        return {"node": node, "leaf": _value(tree, node), **tail}
    members = _members(tree, node, categories)
    rule: dict[str, object] = (
        {"threshold": float(tree.threshold[node])} if members is None else {"categories": members}
    )
    return {
        "node": node,
        "feature": feature if names is None else names[feature],
        **rule,
        "missing": "left" if tree.default_left[node] else "right",
        "gain": float(tree.gain[node]),
        **tail,
    }


def _value(tree: Tree, node: int) -> float | list[float]:
    """The number of a node, or all of them where it has several."""
    if tree.values == 1:
        return float(tree.value[node])
    return [float(number) for number in tree.value[node * tree.values : (node + 1) * tree.values]]


def _members(
    tree: Tree, node: int, categories: Sequence[Categories | None] | None
) -> list[str | int | float | dict[str, int]] | None:
    """Categories that go left, None where a node compares numbers."""
    numbers = tree.sets.members(node)
    column = None if categories is None else categories[int(tree.feature[node])]
    if numbers is None or column is None:
        return None if numbers is None else [*numbers]
    kept = [column.values[number] for number in numbers if number < column.kept]
    shared = any(number >= column.kept for number in numbers)
    return [*kept, {"others": column.rare}] if shared else [*kept]


def _set_text(members: Sequence[str | int | float | dict[str, int]]) -> str:
    """Categories in one line, text in quotes."""
    words = [f"{one['others']} others" if isinstance(one, dict) else repr(one) for one in members]
    return f"[{', '.join(words)}]"


def _column(tree: Tree, node: int, names: Sequence[str | int] | None) -> str:
    feature = int(tree.feature[node])
    name = feature if names is None else names[feature]
    return name if isinstance(name, str) else f"column {name}"
