"""Labels of rows: some rows of them, their columns, and the forms that kernels and functions get."""

import numpy as np

from spinney.data import Labels, RawLabels, read_labels, read_target

Y = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])


def test_labels_take_rows_with_all_that_belongs_to_them():
    rows = np.arange(4)
    labels = Labels(rows * 1.0, rows * 2.0, np.stack([rows * 3.0, rows * 4.0], axis=1), rows // 2)
    some = labels.take(np.array([False, True, True, False]))
    assert (labels.rows, some.rows) == (4, 2)
    assert some.target.tolist() == [1.0, 2.0]
    assert some.weight.tolist() == [2.0, 4.0]
    assert some.margin.tolist() == [[3.0, 4.0], [6.0, 8.0]]
    assert some.queries.tolist() == [0, 1]
    bare = Labels(rows * 1.0).take(rows > 1)
    assert (bare.weight, bare.margin, bare.queries) == (None, None, None)


def test_a_kernel_gets_no_weights_where_every_row_weighs_one():
    plain, weighted = Labels(np.ones(3)).arrays(), Labels(np.ones(3), np.full(3, 2.0)).arrays()
    assert (plain.rows, plain.weighted, plain.weight.size) == (3, 0, 0)
    assert (weighted.rows, weighted.weighted, weighted.weight.tolist()) == (3, 1, [2.0, 2.0, 2.0])


def test_labels_give_their_columns_and_some_of_their_rows():
    labels = Labels(read_target(Y, 3), np.array([1.0, 2.0, 3.0]))
    assert labels.targets == 2
    assert labels.column(1).target.tolist() == [10.0, 20.0, 30.0]
    some = labels.take(np.array([True, False, True]))
    assert some.target.tolist() == [[1.0, 10.0], [3.0, 30.0]]
    assert some.arrays().target.tolist() == [[1.0, 3.0], [10.0, 30.0]]


def test_functions_see_the_queries_and_parts_of_rows_number_them_anew():
    labels = Labels(np.arange(4.0), queries=np.array([0, 1, 0, 2]))
    seen = labels.for_functions()
    seen.queries[0] = 9
    assert labels.queries.tolist() == [0, 1, 0, 2]
    assert (seen * 2).queries is None
    assert labels.take(np.array([False, True, True, True])).queries.tolist() == [0, 1, 2]


def test_parts_of_rows_keep_the_numbers_of_queries_so_that_they_can_be_joined_again():
    rows = np.arange(4)
    labels = Labels(read_target(Y[[0, 1, 2, 0]], 4), rows * 2.0, rows[:, None] * 3.0, np.array([0, 1, 0, 2]))
    parts = [labels.between(0, 1), labels.between(1, 1), labels.between(1, 4)]
    assert parts[2].queries.tolist() == [1, 0, 2]
    whole = Labels.concatenate(parts)
    for name in ("target", "weight", "margin", "queries"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(labels, name))
    assert whole.target.T.flags.c_contiguous
    whole.target[0] = 9.0
    assert labels.target[0].tolist() == [1.0, 10.0]


def test_rows_without_a_target_have_one_of_no_columns():
    labels = read_labels(RawLabels(weight=[1.0, 2.0]), 2)
    assert (labels.rows, labels.targets, labels.has_target) == (2, 0, False)
    assert Labels.concatenate([labels, labels.between(0, 1)]).target.shape == (3, 0)
    assert read_labels(RawLabels([1, 2]), 2).has_target
