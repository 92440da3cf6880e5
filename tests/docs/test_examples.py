"""The pages for users: their examples run, their lines are short, and their links lead to files and headings that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
TEXTS = [
    *PAGES,
    *(
        name
        for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
        if (ROOT / name).is_file()
    ),
]
LONGEST = 120
# Their tables are written from the parameters' own texts, or pasted as a command prints them.
GENERATED = {"docs/parameters.md"}
PASTED = ("<!-- speed: begin -->", "<!-- speed: end -->")
FENCE = "```"
NOT_RUN = re.compile(r"<!-- not run: \S.* -->")
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
IMAGE_OR_LINK_ALONE = re.compile(r"(- )?!?\[[^\]]*\]\([^()\s]+\)")


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def examples(text):
    """Source of the Python blocks that run, at the lines where they stand: a traceback then has the line of the page."""
    source, inside, before = [], False, ""
    for line in text.splitlines():
        if inside and line == FENCE:
            inside = False
        elif not inside and line.startswith(FENCE + "python") and not NOT_RUN.fullmatch(before):
            inside = True
            source.append("")
            continue
        source.append(line if inside else "")
        before = line
    return "\n".join(source)


def prose(text):
    """Lines of a text, numbered from 1, without its blocks of code."""
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith(FENCE):
            inside = not inside
        elif not inside:
            yield number, line


def long_lines(page, text):
    """Numbers of the lines that are too long and can be cut."""
    pasted = False
    for number, line in enumerate(text.splitlines(), start=1):
        pasted = line == PASTED[0] or (pasted and line != PASTED[1])
        row = line.startswith("|") and (pasted or page in GENERATED)
        if len(line) > LONGEST and not row and not IMAGE_OR_LINK_ALONE.fullmatch(line):
            yield number


def anchors(text):
    """Anchors of a page's headings, as GitHub makes them."""
    found = set()
    for _, line in prose(text):
        if re.match(r"#{1,6} ", line):
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def links(text):
    """Relative links of a text, with the number of their first line; a link's title may be broken over two lines."""
    lines = dict(prose(text))
    joined = "\n".join(lines.get(number, "") for number in range(1, len(text.splitlines()) + 1))
    joined = re.sub(r"`[^`\n]*`", lambda code: "x" * len(code[0]), joined)
    for link in LINK.finditer(joined):
        if not re.match(r"[a-z]+:", link[1]):
            yield joined.count("\n", 0, link.start()) + 1, link[1]


@pytest.mark.parametrize("page", [page for page in PAGES if examples(read(page)).strip()])
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(examples(read(page)), page, "exec"), {"__name__": page})
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("page", TEXTS)
def test_lines_are_short(page):
    found = list(long_lines(page, read(page)))
    assert not found, f"{page}: more than {LONGEST} characters in lines {found}"


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_to_files_and_headings_that_exist(page):
    missing = []
    for number, link in links(read(page)):
        name, _, anchor = link.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        if not path.exists():
            missing.append(f"{page}:{number}: {link}: there is no such file")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text(encoding="utf-8")):
            missing.append(f"{page}:{number}: {link}: there is no such heading")
    assert not missing, "\n" + "\n".join(missing)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "docs/index.md"])
def test_the_list_of_pages_has_every_page(page):
    assert page == "README.md" or f"]({Path(page).name})" in read("docs/index.md")


SAMPLE = """# A `page`: its title

```python
a = 1
```

<!-- not run: it needs a cluster -->
```python
a = 2
```

A [link](that is none), a [broken
link](data.md#tables), an [address](https://x.org/), `code [a](b)`.
"""


def test_blocks_are_run_at_their_lines_unless_the_line_before_has_the_marker():
    names = {}
    exec(examples(SAMPLE), names)
    assert names["a"] == 1
    assert examples(SAMPLE).splitlines().index("a = 1") == SAMPLE.splitlines().index("a = 1")
    assert "a = 2" in examples(SAMPLE.replace("not run: it needs a cluster", "not run:"))


def test_links_and_headings_are_found():
    assert list(links(SAMPLE)) == [(12, "data.md#tables")]
    assert anchors(SAMPLE) == {"a-page-its-title"}


def test_rows_of_tables_may_be_long_only_where_they_are_generated():
    row = "| " + "a " * LONGEST + "|"
    assert list(long_lines("docs/data.md", f"{row}\n\n{'a ' * LONGEST}")) == [1, 3]
    assert list(long_lines("docs/parameters.md", row)) == []
    assert list(long_lines("README.md", f"{PASTED[0]}\n{row}\n{PASTED[1]}\n{row}")) == [4]
