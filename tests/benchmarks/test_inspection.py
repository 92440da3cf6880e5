"""The case of shuffled columns, and what the plot of docs/inspection.md shows; nothing is drawn or timed here."""

import numpy as np
import pytest

from benchmarks.bench import Bench
from benchmarks.pages import inspection_plots
from benchmarks.peers import OURS
from benchmarks.registry import CASES
from benchmarks.settings import Options


@pytest.mark.slow
def test_both_libraries_shuffle_the_columns_of_one_model():
    messages = []
    found = CASES["inspection"].run(
        Bench(Options(quick=True, threads=1), OURS(), [], messages.append), "inspection"
    )
    assert [row.measure for row in found] == ["auc", "accuracy"]
    for row in found:
        assert row.peer == "sklearn"
        assert row.holds
        ours, theirs = row.quality["largest"]
        assert ours == pytest.approx(theirs, rel=0.3)
        assert len(row.samples["ours"]) == len(row.samples["theirs"]) == 1
    alone = Bench(Options(quick=True), None, [], messages.append)
    assert CASES["inspection"].run(alone, "inspection") == []
    assert messages[-1] == "inspection is skipped: it needs spinney"


@pytest.fixture(scope="module")
def small():
    """Bias and variance of few refits of few sizes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspection_plots, "REFITS", 6)
        patch.setattr(inspection_plots, "ROWS", 200)
        patch.setattr(inspection_plots, "DEPTHS", (1, 10))
        patch.setattr(inspection_plots, "TREES", (2, 60))
        patch.setattr(inspection_plots, "friedman", lambda make=inspection_plots.friedman: make(200))
        return inspection_plots.by_depth(), inspection_plots.by_trees()


def test_deep_trees_have_variance_shallow_ones_bias_and_a_forest_less_of_the_first(small):
    tree, forest, boosting = small[0].values()
    assert tree[0].bias2 > 2 * tree[1].bias2
    assert tree[1].variance > tree[0].variance
    assert forest[1].variance < 0.5 * tree[1].variance
    assert boosting[0].bias2 < 0.5 * tree[0].bias2


def test_more_trees_take_variance_from_a_forest_and_bias_from_boosting(small):
    forests, boosting = small[1].values()
    assert forests[1].variance < 0.6 * forests[0].variance
    assert boosting[1].bias2 < 0.5 * boosting[0].bias2


def test_the_parts_that_are_drawn_add_up_to_the_loss(small):
    for found in (*small[0].values(), *small[1].values()):
        for one in found:
            assert sum(getattr(one, part) for part in inspection_plots.PARTS) == pytest.approx(
                one.loss, rel=1e-9
            )


def test_the_noise_of_the_made_up_table_is_1():
    _, y, truth = inspection_plots.friedman(4000)
    assert np.mean((y - truth) ** 2) == pytest.approx(1.0, abs=0.1)
