import json

import numpy as np
import pytest

import spinney as sp
from spinney.errors import DataError, ParameterError

NAMES = ["rank_ndcg", "rank_map", "rank_pairwise", "rank_xendcg"]
QUERIES, SIZE = 40, 25


def table(binary=False, seed=0):
    """Queries of 25 rows whose relevance follows from two columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(QUERIES * SIZE, 6))
    quality = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=len(X)) * 0.3
    target = np.clip(np.floor(quality + 1), 0, 4)
    return X, (target > 1) * 1.0 if binary else target, np.repeat(np.arange(QUERIES), SIZE)


def trained(name, rounds=5, valid=None, init_model=None, **params):
    X, y, qid = table(name == "rank_map")
    given = {"objective": name, "max_leaves": 7, "n_jobs": 1} | params
    return sp.train(given, sp.Dataset(X, y, qid=qid), rounds, valid=valid, init_model=init_model)


def trees(model, without=()):
    forest = model.forest
    names = ("feature", "threshold", "left", "value", "gain", "cover", "count")
    return b"".join(getattr(forest, name).tobytes() for name in names if name not in without)


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_were_not_trained_on_come_in_a_better_order(name):
    X, y, qid = table(name == "rank_map")
    half = len(y) // 2
    data = sp.Dataset(X[:half], y[:half], qid=qid[:half])
    other = sp.Dataset(X[half:], y[half:], qid=qid[half:], reference=data)
    history = sp.History()
    params = {"objective": name, "max_leaves": 7, "eval_metric": "ndcg@5", "n_jobs": 1}
    sp.train(params, data, rounds=20, valid={"other": other}, callbacks=[history])
    found = history.evals["other"]["ndcg@5"]
    assert found[-1] > max(0.8, found[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_the_same_for_any_number_of_threads(name, tmp_path):
    files = set()
    for threads in (1, 2, 3, 8):
        trained(name, n_jobs=threads).save(tmp_path / "model")
        files.add((tmp_path / "model").read_bytes())
    assert len(files) == 1


@pytest.mark.parametrize("name", ["rank_ndcg", "rank_map", "rank_pairwise"])
def test_rows_of_a_query_need_not_stand_together(name):
    X, y, qid = table(name == "rank_map")
    params = {"objective": name, "max_leaves": 7, "n_jobs": 1}
    sorted_rows = sp.train(params, sp.Dataset(X, y, qid=qid), 5)
    # Rows of a query keep their order, by which equal scores are ranked.
    mixed = np.lexsort((np.arange(len(y)), np.arange(len(y)) % SIZE))
    assert not np.all(np.diff(qid[mixed]) >= 0)
    shuffled = sp.train(params, sp.Dataset(X[mixed], y[mixed], qid=qid[mixed]), 5)
    assert trees(shuffled) == trees(sorted_rows)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "params",
    [
        {"tree_method": "exact"},
        {"tree_method": "approx"},
        {"sampling_method": "goss"},
        {"subsample": 0.5},
        {"sampling_method": "gradient_based", "subsample": 0.5},
    ],
    ids=["exact", "approx", "goss", "subsample", "gradient_based"],
)
def test_every_way_to_grow_trees_can_rank(name, params):
    X, y, qid = table(name == "rank_map")
    history = sp.History()
    data = sp.Dataset(X, y, qid=qid, keep_table=True)
    sp.train(
        {"objective": name, "max_leaves": 7, "n_jobs": 1, "reg_lambda": 1.0, "eval_metric": "ndcg@5"}
        | params,
        data,
        12,
        valid={"train": data},
        callbacks=[history],
    )
    assert history.evals["train"]["ndcg@5"][-1] > 0.85


@pytest.mark.parametrize("name", NAMES)
def test_training_goes_on_where_it_stopped(name):
    assert trees(trained(name, 3, init_model=trained(name, 3))) == trees(trained(name, 6))


@pytest.mark.parametrize("name", NAMES)
def test_queries_that_say_nothing_give_leaves_of_0(name):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = sp.train({"objective": name, "n_jobs": 1}, sp.Dataset(X, np.ones(60), group=[20, 40]), 3)
    assert not model.predict(X).any()


@pytest.mark.parametrize("name", NAMES)
def test_one_row_in_all_is_enough(name):
    model = sp.train({"objective": name, "n_jobs": 1}, sp.Dataset([[1.0]], [1.0], group=[1]), 2)
    assert model.predict([[1.0]]).tolist() == [0.0]


def test_a_query_that_weighs_more_counts_for_more():
    X, y, qid = table()
    y[qid % 2 == 1] = 4 - y[qid % 2 == 1]  # half of the queries say the opposite
    weight = np.where(qid % 2 == 1, 1.0, 20.0)
    data = sp.Dataset(X, y, qid=qid, weight=weight)
    model = sp.train({"objective": "rank_ndcg", "max_leaves": 7, "n_jobs": 1}, data, 20)
    scores = model.predict(X)
    agree = [np.corrcoef(scores[qid == q], y[qid == q])[0, 1] for q in range(QUERIES)]
    assert np.mean(agree[::2]) > 0.4 > -0.4 > np.mean(agree[1::2])


def test_metrics_are_told_at_each_place():
    X, y, qid = table()
    data, history = sp.Dataset(X, y, qid=qid), sp.History()
    params = {"objective": "rank_ndcg", "eval_metric": ["ndcg", "map@3"], "eval_at": [5, 10], "n_jobs": 1}
    sp.train(params, data, 2, valid={"train": data}, callbacks=[history], metrics=["mrr"])
    assert list(history.evals["train"]) == ["ndcg@5", "ndcg@10", "map@3", "mrr@5", "mrr@10"]
    history = sp.History()
    sp.train({"objective": "rank_map", "eval_at": 3, "n_jobs": 1}, sp.Dataset(X, y > 1, qid=qid), 1)
    own = sp.Dataset(X, (y > 1) * 1.0, qid=qid)
    sp.train(
        {"objective": "rank_map", "eval_at": 3, "n_jobs": 1}, own, 1, valid={"t": own}, callbacks=[history]
    )
    assert list(history.evals["t"]) == ["map@3"]


def test_a_metric_cannot_be_asked_for_twice_at_one_place():
    X, y, qid = table()
    with pytest.raises(ParameterError, match="'ndcg@5' twice"):
        sp.train(
            {"objective": "rank_ndcg", "eval_metric": "ndcg@5", "eval_at": 5},
            sp.Dataset(X, y, qid=qid),
            1,
            metrics=["ndcg"],
        )


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("rank_ndcg", 31.0, r"from 0 to 30.*y\[3\] = 31; give label_gain more places"),
        ("rank_ndcg", -1.0, r"y\[3\] = -1"),
        ("rank_pairwise", 0.5, r"y\[3\] = 0.5"),
        ("rank_xendcg", 31.0, r"y\[3\] = 31"),
        ("rank_map", 2.0, r"y\[3\] = 2; rank_ndcg takes more relevances"),
    ],
)
def test_relevances_that_do_not_fit_are_refused(name, value, told):
    X, y = np.zeros((6, 1)), np.array([0.0, 1.0, 0.0, value, 0.0, 1.0])
    with pytest.raises(DataError, match=told):
        sp.train({"objective": name}, sp.Dataset(X, y, group=[6]), 1)
    right = sp.Dataset(X, (y > 0) * 1.0, group=[6])
    other = sp.Dataset(X, y, group=[6], reference=right)
    with pytest.raises(DataError, match=r"valid\['other'\]: .*" + told):
        sp.train({"objective": name}, right, 1, valid={"other": other})


def test_a_short_table_of_gains_ends_the_relevances():
    X = np.arange(3.0).reshape(-1, 1)
    with pytest.raises(DataError, match=r"from 0 to 1.*y\[2\] = 2; give label_gain more places"):
        sp.train(
            {"objective": "rank_ndcg", "label_gain": [0, 1]}, sp.Dataset(X, [0.0, 1.0, 2.0], group=[3]), 1
        )


@pytest.mark.parametrize("name", NAMES)
def test_leaves_are_not_searched_for(name):
    with pytest.raises(ParameterError, match=f"objective='{name}' looks at all rows of a query"):
        trained(name, leaf_estimation="line_search")


def test_a_model_of_ranking_is_saved_with_its_parameters(tmp_path):
    model = trained("rank_ndcg", label_gain=[0, 1, 2, 3, 4], eval_at=[3], lambdarank_truncation_level=5)
    model.save(tmp_path / "model")
    loaded = sp.load(tmp_path / "model")
    assert loaded == model
    told = json.loads(json.dumps(loaded.params.to_dict()))
    assert told["label_gain"] == [0, 1, 2, 3, 4]
    assert told["eval_at"] == [3]
    assert loaded.params.lambdarank_truncation_level == 5
