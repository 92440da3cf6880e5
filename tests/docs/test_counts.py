"""Numbers of losses and metrics that the pages for users have in their text."""

import re
from pathlib import Path

import pytest

from spinney.params.metrics import METRICS
from spinney.params.objectives import OBJECTIVES, OWN

ROOT = Path(__file__).resolve().parents[2]
LOSSES = len({*OBJECTIVES} - {OWN})  # without functions of the user
ONES = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *(
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ),
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_words(number):
    """A number below 100 in words."""
    if number < len(ONES):
        return ONES[number]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + (f"-{ONES[ones]}" if ones else "")


@pytest.mark.parametrize(
    ("page", "pattern", "count"),
    [
        ("README.md", r"There are ([\w-]+) \[losses\]", LOSSES),
        ("README.md", r"\[losses\]\(docs/losses\.md\) and ([\w-]+)\s\[metrics\]", len(METRICS)),
        ("docs/losses.md", r"You can train with ([\w-]+) built-in losses", LOSSES),
        ("docs/evaluation.md", r"There are ([\w-]+); \[the table of metrics\]", len(METRICS)),
    ],
)
def test_a_page_has_the_number_of_losses_or_metrics(page, pattern, count):
    found = re.search(pattern, (ROOT / page).read_text(encoding="utf-8"))
    assert found is not None, f"{page}: no text like {pattern!r}: change the pattern with the page"
    assert found[1] in (str(count), in_words(count))


def test_numbers_in_words():
    assert [in_words(n) for n in (0, 19, 20, 22, 40, 99)] == [
        "zero", "nineteen", "twenty", "twenty-two", "forty", "ninety-nine",
    ]  # fmt: skip
