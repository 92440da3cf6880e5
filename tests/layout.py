"""What `test_layout.py` measures: sizes of files and functions of the package, and the places of its classes."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import spinney

PACKAGE = Path(spinney.__file__).resolve().parent


def source_files(under=PACKAGE):
    """All Python files of a folder, sorted."""
    return sorted(under.rglob("*.py"))


def place(path, line):
    """A line of a file as editors and test reports link it."""
    inside = path.is_relative_to(PACKAGE.parent.parent)
    return f"{path.relative_to(PACKAGE.parent.parent) if inside else path}:{line}"


@cache
def syntax_tree(path):
    """What a file's text means to Python; read once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


def long_files(limit):
    """Files with more lines than `limit`, as messages."""
    for path in source_files():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > limit:
            yield f"{place(path, 1)}: {lines} lines, at most {limit} are allowed"


def long_functions(limit):
    """Functions with more lines than `limit`, as messages.

    Signature and docstring do not count. A nested function counts as a part of the one around it.
    """
    for path in source_files():
        for function in _outer_functions(syntax_tree(path)):
            lines = _body_lines(function, path.read_text(encoding="utf-8").splitlines())
            if lines > limit:
                yield f"{place(path, function.lineno)}: {function.name} has {lines} lines, at most {limit} are allowed"


def _outer_functions(node):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        else:
            yield from _outer_functions(child)


def _body_lines(function, lines):
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body:
        return 0
    first = body[0].lineno
    while (
        lines[first - 2].lstrip().startswith("#") or not lines[first - 2].strip()
    ):  # comments that stand first
        first -= 1
    return function.end_lineno - first + 1


def class_places():
    """Name of every class → the lines where one of this name is defined, one for each file."""
    found = defaultdict(list)
    for path in source_files():
        classes = {}
        for node in ast.walk(syntax_tree(path)):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, place(path, node.lineno))
        for name, where in classes.items():
            found[name].append(where)
    return found
