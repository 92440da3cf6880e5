"""What the plots of docs/isolation.md show is there to be seen; nothing is drawn here."""

import numpy as np

import spinney as sp
from benchmarks.pages import isolation_plots


def test_the_point_apart_is_isolated_by_fewer_splits():
    X, found, _ = isolation_plots.paths()
    middle, apart = found["in the middle"], found["apart"]
    assert len(apart) < len(middle)
    assert apart[-1].rows == 1
    assert [cut.rows for cut in middle] == sorted((cut.rows for cut in middle), reverse=True)
    assert len(X) == 256


def test_mean_paths_settle_on_either_side_of_the_average():
    found = isolation_plots.path_means()
    average = sp.average_path_length(256)
    assert found["apart"][-1] < average < found["in the middle"][-1]
    assert found["apart"][-1] < 0.6 * found["in the middle"][-1]


def test_one_row_in_twenty_is_called_abnormal():
    _, edges, scores, offset = isolation_plots.surface()
    assert scores.shape == (len(edges),) * 2
    assert scores.min() < offset < scores.max()
    assert scores[0, -1] < offset


def test_columns_that_are_odd_save_most_steps():
    hot, loud, ordinary = isolation_plots.shares()
    assert hot.argmax() == 2
    assert set(np.argsort(loud)[2:]) == {1, 3}
    assert ordinary.max() < hot.max() / 2
