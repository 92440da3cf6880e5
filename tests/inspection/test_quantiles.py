import numpy as np
import pytest
import scipy.sparse
from sklearn.ensemble import RandomForestRegressor

from sklearn_forests import converted
from spinney.data import read_table
from spinney.errors import ParameterError, ParameterTypeError
from spinney.inspection.leaf_neighbours import predict_quantiles
from spinney.model.forest import ForestModel

WANTED = [0.9, 0.0, 0.5, 0.25, 1.0, 0.5]


def naive_quantiles(case, weight, wanted, output=0):
    """Masses of all training rows, one query and one tree after another; then the first target that reaches a share."""
    leaves = case.sklearn.apply(case.matrix)
    target = case.target[:, output]
    found = np.empty((len(leaves), len(wanted)))
    for row in range(len(leaves)):
        mass = np.zeros(len(target))
        for tree in range(leaves.shape[1]):
            inside = np.where(leaves[:, tree] == leaves[row, tree], case.bags[tree] * weight, 0.0)
            mass += inside / inside.sum() / leaves.shape[1]
        order = np.argsort(target, kind="stable")
        order = order[mass[order] > 0]
        reached = np.cumsum(mass[order])
        for k, share in enumerate(wanted):
            found[row, k] = target[order[np.argmax(reached >= share - 1e-9)]]
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["numbers", "weighted numbers"])
def test_quantiles_are_those_of_loops_in_the_given_order(forest, name):
    case = forest(name)
    weight = np.arange(70.0) % 4 if name == "weighted numbers" else np.ones(70)
    found = predict_quantiles(case.model, case.table, WANTED)
    assert found.shape == (70, len(WANTED))
    assert np.array_equal(found, naive_quantiles(case, weight, WANTED))


@pytest.mark.kernels
def test_several_outputs_have_quantiles_of_their_own(forest):
    case = forest("two numbers")
    found = predict_quantiles(case.model, case.table, WANTED)
    assert found.shape == (70, 2, len(WANTED))
    for output in (0, 1):
        assert np.array_equal(found[:, output], naive_quantiles(case, np.ones(70), WANTED, output))
    assert np.array_equal(predict_quantiles(case.model, case.table, 0.5), found[:, :, 2])


def test_a_single_number_gives_one_quantile_a_row(forest):
    case = forest("numbers")
    found = predict_quantiles(case.model, case.table, 0.5)
    assert found.shape == (70,)
    assert np.array_equal(found, predict_quantiles(case.model, case.table, [0.5])[:, 0])


@pytest.mark.kernels
def test_a_leaf_worked_by_hand_counts_rows_as_often_as_the_bag_has_them(forest):
    # One leaf with the targets 1 2 3 4, which the bag has 1, 1, 5 and 0 times: 1/7, 2/7, 7/7.
    case = converted(
        RandomForestRegressor(1, bootstrap=False, max_depth=1, random_state=0), np.zeros((4, 1)), [1.0, 2.0, 3.0, 4.0],
        keep_leaf_rows=True,
    )  # fmt: skip
    known = case.model.leaf_rows
    known.counts[:3] = [1, 1, 5]
    kept = type(known)(np.array([0, 3]), known.rows[:3], known.counts[:3], known.targets, known.weight)
    model = ForestModel(case.model.forest, case.model.config, case.model.schema, (), 1, 4, kept)
    found = predict_quantiles(model, case.table, [0.0, 1 / 7, 0.15, 2 / 7, 0.3, 0.5, 1.0])
    assert found.tolist() == [[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0]] * 4


@pytest.mark.kernels
def test_a_quantile_on_the_edge_of_two_targets_is_the_lower_one():
    # Ten rows of the same weight: shares of a tenth do not add up to .3 exactly.
    case = converted(
        RandomForestRegressor(3, bootstrap=False, max_depth=1, random_state=0), np.zeros((10, 1)), np.arange(1.0, 11.0),
        keep_leaf_rows=True,
    )  # fmt: skip
    shares = np.arange(1, 11) / 10
    assert predict_quantiles(case.model, case.table, shares)[0].tolist() == list(range(1, 11))


def test_all_quantiles_of_a_constant_target_are_that_constant():
    case = converted(
        RandomForestRegressor(4, random_state=0),
        np.arange(8.0)[:, None],
        np.full(8, 2.5),
        keep_leaf_rows=True,
    )
    assert (predict_quantiles(case.model, case.table, [0.0, 0.5, 1.0]) == 2.5).all()


@pytest.mark.kernels
def test_leaves_of_many_rows_and_of_few_give_the_same_whether_sorted_or_scanned():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(150, 2)), rng.normal(size=150).round(1)
    for least in (1, 40):  # with 1 a prediction touches few targets, which are sorted; with 40 nearly all
        case = converted(
            RandomForestRegressor(3, min_samples_leaf=least, random_state=0), X, y, keep_leaf_rows=True
        )
        found = predict_quantiles(case.model, case.table, WANTED)
        assert np.array_equal(found, naive_quantiles(case, np.ones(150), WANTED))


def test_a_loaded_model_gives_the_same_quantiles(forest):
    case = forest("weighted numbers")
    loaded = ForestModel.from_bytes(case.model.to_bytes())
    assert np.array_equal(
        predict_quantiles(loaded, case.table, WANTED), predict_quantiles(case.model, case.table, WANTED)
    )


def test_a_sparse_table_has_the_quantiles_of_the_same_dense_one(forest, monkeypatch):
    case = forest("numbers")
    dense = predict_quantiles(case.model, case.table, WANTED)
    monkeypatch.setattr("spinney.inspection.forest_leaves.CELLS", 4 * 12 * 33)  # blocks of 33 rows
    sparse = read_table(scipy.sparse.csc_array(case.matrix))
    assert np.array_equal(predict_quantiles(case.model, sparse, WANTED), dense)


def test_no_rows_have_no_quantiles(forest):
    case = forest("two numbers")
    empty = read_table(np.zeros((0, 4)), allow_empty=True)
    assert predict_quantiles(case.model, empty, [0.1, 0.9]).shape == (0, 2, 2)


@pytest.mark.parametrize(
    ("quantiles", "error", "message"),
    [
        ([0.5, 1.5], ParameterError, "quantiles holds 1.5; every one must be from 0 to 1"),
        ([float("nan")], ParameterError, "quantiles holds nan"),
        ([], ParameterError, "a list of one number at least"),
        ([[0.5]], ParameterError, r"an array of shape \(1, 1\)"),
        ("median", ParameterTypeError, "quantiles must be a number or a list of numbers, got 'median'"),
        ([True], ParameterTypeError, "got \\[True\\]"),
    ],
)
def test_what_is_no_quantile_is_refused(forest, quantiles, error, message):
    case = forest("numbers")
    with pytest.raises(error, match=message):
        predict_quantiles(case.model, case.table, quantiles)


def test_without_leaf_rows_or_numbers_there_are_no_quantiles(forest):
    case = forest("few numbers")
    with pytest.raises(ParameterError, match="train with keep_leaf_rows=True"):
        predict_quantiles(case.model, case.table, 0.5)
    case = forest("classes")
    with pytest.raises(ParameterError, match="this forest predicts classes"):
        predict_quantiles(case.model, case.table, 0.5)


def test_neither_threads_nor_blocks_of_rows_change_a_bit(forest, monkeypatch):
    case = forest("two numbers")
    alone = predict_quantiles(case.model, case.table, WANTED, n_jobs=1)
    monkeypatch.setattr("spinney.inspection.leaf_neighbours.SHARE_LEAVES", 1)
    monkeypatch.setattr("spinney.inspection.forest_leaves.CELLS", 4 * 10 * 33)
    for n_jobs in (1, 2, 3):
        assert np.array_equal(predict_quantiles(case.model, case.table, WANTED, n_jobs=n_jobs), alone)
