"""What the plots of docs/forests.md show is there to be seen; nothing is drawn here."""

import numpy as np

from benchmarks.pages import forest_plots


def test_a_forest_is_less_sure_than_its_tree_and_boosting_lies_between():
    found = {name: share for name, (_, _, share) in forest_plots.surfaces().items()}
    assert all(share.shape == (forest_plots.GRID,) * 2 for share in found.values())
    tree, forest, boosting = found.values()
    assert set(np.unique(tree)) == {0.0, 1.0}
    unsure = [((share > 0.1) & (share < 0.9)).mean() for share in (tree, boosting, forest)]
    assert unsure == sorted(unsure)
    assert unsure[2] > 0.1


def test_errors_out_of_bag_fall_as_those_of_other_rows_do(monkeypatch):
    monkeypatch.setattr(forest_plots, "TREES", (25, 100, 400))
    for errors in forest_plots.oob_errors().values():
        assert errors[0] > errors[-1]
        assert max(errors[1:]) < 0.05


def test_trees_disagree_away_from_the_data():
    edges, deviation = forest_plots.spread()
    across, up = np.meshgrid(edges, edges)
    near, far = np.abs(across - up) < 0.3, np.abs(across - up) > 4
    assert deviation[far].min() > 3 * np.median(deviation[near & (np.abs(up) < 2.5)])


def test_quantiles_hold_nine_rows_in_ten_and_widen_with_the_noise():
    found = forest_plots.quantiles()
    X, y = forest_plots.wave(2_000, seed=9)
    low, high = (np.interp(X[:, 0], found["x"], found[end]) for end in ("low", "high"))
    assert 0.82 < ((low <= y) & (y <= high)).mean() < 0.96
    width = found["high"] - found["low"]
    assert width[-100:].mean() > 1.5 * width[:100].mean()
