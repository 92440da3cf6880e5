"""What the plot of docs/defaults.md shows follows from stored losses; nothing is drawn here."""

import math
from pathlib import Path

import pytest

from benchmarks.pages import defaults_plots

PAGE = Path(__file__).parents[2] / "docs" / "defaults.md"


def test_ranks_and_losses_over_the_best_are_counted_by_table():
    found = defaults_plots.standings(
        [{"one": 1.0, "two": 2.0, "three": 4.0}, {"one": 3.0, "two": 3.0, "three": 1.5}]
    )
    assert {name: standing.ranks for name, standing in found.items()} == {
        "one": [1, 2],
        "two": [2, 2],
        "three": [3, 1],
    }
    assert list(found) == ["one", "two", "three"]
    assert found["two"].over == pytest.approx(math.sqrt(2.0 * 2.0) - 1)


def test_tables_that_a_library_lacks_are_left_out(tmp_path):
    lines = ["table,split,setting,library,loss"]
    lines += ["oak,0,defaults,one,1", "oak,0,defaults,two,2", "ash,0,defaults,one,1", "oak,0,stopped,one,3"]
    path = tmp_path / "losses.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert defaults_plots.stored("defaults", path) == [{"one": 1.0, "two": 2.0}]


@pytest.mark.parametrize("setting", defaults_plots.SETTINGS)
def test_the_page_tells_what_the_stored_losses_say(setting):
    found = defaults_plots.standings(defaults_plots.stored(setting))
    text = PAGE.read_text(encoding="utf-8").replace("**", "")
    for name, standing in found.items():
        title = "spinney, `best`" if (name, setting) == ("spinney", "stopped") else name
        line = f"| {title} | {standing.mean:.2f} | {100 * standing.over:.1f} % |"
        assert line in text
