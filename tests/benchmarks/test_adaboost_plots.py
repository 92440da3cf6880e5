"""What the plots of docs/adaboost.md show is there to be seen; nothing is drawn here."""

import numpy as np

from benchmarks.pages import adaboost_plots


def test_rows_that_the_last_tree_got_wrong_have_half_of_the_weight():
    boosted, X, y = adaboost_plots.boosted_moons()
    weights = adaboost_plots.weights_by_round(boosted, X, y)
    assert len(weights) == len(boosted) + 1
    for tree, error, before, after in zip(
        boosted, boosted.estimator_errors_, weights, weights[1:], strict=False
    ):
        wrong = tree.predict(X) != y
        np.testing.assert_allclose(before[wrong].sum(), error, rtol=1e-9)
        np.testing.assert_allclose(after[wrong].sum(), 0.5, rtol=1e-9)


def test_few_rows_have_much_of_the_weight_in_the_end():
    boosted, X, y = adaboost_plots.boosted_moons()
    last = np.sort(adaboost_plots.weights_by_round(boosted, X, y)[-1])
    assert 0.4 < last[-30:].sum() < 0.5


def test_the_surfaces_are_the_votes_after_the_rounds_that_are_shown():
    across, up, votes = adaboost_plots.surfaces()
    assert len(across) == len(up) == adaboost_plots.GRID
    assert [len(np.unique(vote)) for vote in votes[:2]] == [2, 2]
    assert len(np.unique(votes[3])) > 20


def test_trees_together_improve_where_each_alone_hardly_guesses():
    alone, training, other = adaboost_plots.errors().values()
    assert np.mean(alone[50:]) > 0.4
    assert training[-1] < 0.4 * training[0]
    assert other[-1] < 0.5 * other[0]
