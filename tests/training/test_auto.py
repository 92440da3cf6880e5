"""rounds="auto": rows that are held out say how many rounds are right."""

import warnings

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from problems import part_of
from spinney.data import Labels
from spinney.errors import DataError, ParameterError
from spinney.params import Config
from spinney.params.common import RATE_BUDGET
from spinney.training import round_plan
from spinney.training.callbacks import AutoRounds, SearchLog
from spinney.training.holdout import held_out, last_out

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")

ROWS = 600
FAST = {"learning_rate": 0.3, "max_leaves": 4, "n_jobs": 1}
RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 1, (ROWS, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=ROWS)


class Heard:
    """A callback that keeps how often a training began, and the rounds."""

    def __init__(self):
        self.begun, self.infos = [], []

    def begin(self, rounds):
        self.begun.append(rounds)

    def __call__(self, info):
        self.infos.append(info)


def whole():
    return sp.Dataset(X, Y)


def parted(dataset, share=0.1, seed=0):
    """The two parts that auto makes of a data set of numbers."""
    chosen = held_out(dataset.labels(), np.zeros(dataset.rows, np.int64), share, seed)
    return part_of(dataset, np.flatnonzero(~chosen), "kept"), part_of(dataset, np.flatnonzero(chosen), "held")


def stopped_by_hand(params=FAST, patience=round_plan.PATIENCE, rounds=100, **how):
    kept, held = parted(whole(), **how)
    return sp.train({**params, "early_stopping_rounds": patience}, kept, rounds, valid={"held": held})


class Seen:
    """A metric that keeps the targets and weights it is shown, and says that every round is better."""

    def __init__(self):
        self.labels = None

    def __call__(self, scores, labels):
        self.labels = labels
        return "seen", 0.0, False


def held_rows(params, dataset, **how):
    """Labels of the rows that auto holds out."""
    seen = Seen()
    sp.train({**FAST, **params}, dataset, "auto", metrics=[seen], max_rounds=1, **how)
    return seen.labels


def test_a_small_table_is_fitted_again_with_the_rounds_that_were_best():
    best = stopped_by_hand().best_round
    found = sp.train(FAST, whole(), "auto")
    assert 1 < best < 100
    assert found.best_round == found.rounds == best
    assert found.forest.equal(sp.train(FAST, whole(), best).forest)


def test_a_large_table_keeps_the_trees_that_were_grown_without_the_rows_held_out(monkeypatch):
    monkeypatch.setattr(round_plan, "SMALL", ROWS - 1)
    found, by_hand = sp.train(FAST, whole(), "auto"), stopped_by_hand()
    assert found.forest.equal(by_hand.forest)
    assert found.best_round == by_hand.best_round
    assert found.params.early_stopping_rounds is None


@pytest.mark.parametrize("sizes", [(ROWS - 1, 1), (2 * ROWS - 1, 2), (3 * ROWS, 3)])
def test_outputs_count_in_what_a_small_table_is(monkeypatch, sizes):
    small, outputs = sizes
    monkeypatch.setattr(round_plan, "SMALL", small)
    classes = {} if outputs == 1 else {"objective": "softmax", "num_class": outputs}
    y = Y if outputs == 1 else np.digitize(Y, [0.0, 0.5][: outputs - 1]).astype(float)
    found = sp.train({**FAST, **classes}, sp.Dataset(X, y), "auto", max_rounds=40)
    assert (found.rounds == found.best_round) == (small >= ROWS * outputs)


def test_a_wished_share_patience_and_seed_are_those_of_the_search():
    params = {**FAST, "early_stopping_rounds": 3, "seed": 11}
    found = sp.train(params, whole(), "auto", validation_fraction=0.3)
    by_hand = stopped_by_hand({**FAST, "seed": 11}, 3, share=0.3, seed=11)
    assert found.best_round == by_hand.best_round


def test_a_target_of_noise_stops_early_and_one_without_goes_on_to_the_end():
    noise = sp.train(FAST, sp.Dataset(X, RNG.normal(size=ROWS)), "auto")
    clear = sp.train({**FAST, "min_child_samples": 1}, sp.Dataset(X, X[:, 0] * X[:, 1]), "auto")
    assert noise.best_round < 20
    assert clear.best_round > 95


def searched(params, dataset, **how):
    """What a search did, and the warnings that came."""
    log = SearchLog()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        sp.train(params, dataset, "auto", callbacks=[log], **how)
    (record,) = log.found
    return record, found


def test_patience_decides_and_not_a_number_of_rounds():
    rows = RNG.uniform(-1, 1, (2_000, 3))
    smooth = np.sin(3 * rows[:, 0]) * rows[:, 1] + rows[:, 2] ** 2
    found, warned = searched({**FAST, "learning_rate": 0.5}, sp.Dataset(rows, smooth))
    assert found.stopped_by == "patience"
    assert found.tried == found.chosen + round_plan.PATIENCE > 150
    assert warned == []


def test_a_rule_without_exceptions_is_not_learnt_for_ever():
    """Its log loss falls with every round."""
    rows = np.random.default_rng(0).integers(0, 8, (600, 2)).astype(float)
    params = {**FAST, "objective": "log_loss", "min_child_samples": 1}
    found, warned = searched(params, sp.Dataset(rows, (rows[:, 0] > 3) * 1.0), max_rounds=2_000)
    assert (found.stopped_by, warned) == ("converged", [])
    assert found.chosen == found.tried < 1_000
    assert found.score < 1e-3


def test_a_search_that_ends_at_its_last_round_says_so_and_what_to_set():
    params = {**FAST, "min_child_samples": 5}
    found, warned = searched(params, sp.Dataset(X, X[:, 0] * X[:, 1]), max_rounds=12)
    assert found == AutoRounds(12, 12, 60, "rmse", found.score, True, "max_rounds")
    (one,) = warned
    assert one.category is UserWarning
    assert str(one.message) == (
        "rounds='auto' ended at 12 rounds, the most that it may try, and the last one is the best: more may be better. Set "
        "max_rounds= to more, or a larger learning_rate=; rounds=12 does so many without a search"
    )


def test_the_warning_names_the_line_that_trains():
    with pytest.warns(UserWarning, match="ended at 2 rounds") as found:
        sp.train(FAST, whole(), "auto", max_rounds=2)
    assert found[0].filename == __file__


def test_several_models_warn_once():
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        sp.train({**FAST, "models": 3}, whole(), "auto", max_rounds=2)
    assert len(warned) == 1


def test_rounds_that_somebody_else_ended_are_no_reason_to_warn():
    def third(info):
        return info.round == 3

    for rows, why, callbacks in (
        (ROWS, "learning rates", [sp.LearningRateSchedule([0.5, 0.25, 0.1])]),
        (ROWS, "callback", [third]),
        (100, "no hold-out", []),
        (100, "callback", [third]),
    ):
        log = SearchLog()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sp.train(FAST, sp.Dataset(X[:rows], Y[:rows]), "auto", callbacks=[*callbacks, log])
        assert log.found[0].stopped_by == why


@pytest.mark.parametrize("rows", [round_plan.FEW_ROWS - 1, round_plan.FEW_ROWS])
def test_few_rows_are_not_held_out(rows):
    heard = Heard()
    found = sp.train(FAST, sp.Dataset(X[:rows], Y[:rows]), "auto", callbacks=[heard])
    held = rows >= round_plan.FEW_ROWS
    assert bool(heard.infos[0].evals) == held
    assert (found.best_round is None) == (not held)
    assert held or found.rounds == 100


def test_rows_of_weight_zero_are_no_rows_to_hold_out_from():
    weight = np.ones(ROWS)
    weight[round_plan.FEW_ROWS - 1 :] = 0.0
    assert sp.train(FAST, sp.Dataset(X, Y, weight=weight), "auto").rounds == 100
    weight[round_plan.FEW_ROWS - 1] = 1.0
    assert sp.train(FAST, sp.Dataset(X, Y, weight=weight), "auto").best_round is not None


def test_few_rows_are_held_out_where_that_is_asked_for():
    data = sp.Dataset(X[:100], Y[:100])
    assert sp.train(FAST, data, "auto", validation_fraction=0.2).best_round is not None
    assert sp.train({**FAST, "early_stopping_rounds": 2}, data, "auto").best_round is not None


def test_given_validation_data_take_the_place_of_rows_held_out():
    data = whole()
    valid = {"late": sp.Dataset(X[:200], Y[:200] + 1, reference=data)}
    found = sp.train(FAST, data, "auto", valid=valid)
    by_hand = sp.train({**FAST, "early_stopping_rounds": 25}, data, 1000, valid=valid)
    assert found.forest.equal(by_hand.forest)
    assert found.best_round == by_hand.best_round


def test_most_rounds_follow_the_learning_rate():
    def most(rate, told=None, listed=None):
        return round_plan.Auto(told).most(Config.parse({"learning_rate": rate}), listed)

    assert (most(0.1), most(0.05), most(600.0), most(1e-300)) == (5_000, 10_000, 1, 2**31 - 1)
    assert (most(0.1, 40), most(0.1, None, 70), most(0.1, 40, 70)) == (40, 70, 40)


def test_rounds_of_few_rows_follow_the_learning_rate():
    def usual(rate, most=10**6):
        return round_plan.usual_rounds(Config.parse({"learning_rate": rate}), most)

    assert (usual(0.1), usual(0.3), usual(0.05), usual(0.5), usual(50.0)) == (100, 100, 200, 60, 1)
    assert usual(0.05, 7) == 7


@pytest.mark.parametrize("rows", [100, ROWS])
def test_no_more_rounds_are_done_than_may_be(rows):
    heard = Heard()
    found = sp.train(FAST, sp.Dataset(X[:rows], Y[:rows]), "auto", max_rounds=4, callbacks=[heard])
    assert found.rounds <= 4
    assert heard.begun == [4]
    assert [info.rounds for info in heard.infos] == [4] * 4


def test_callbacks_hear_of_the_training_that_finds_the_rounds_only():
    heard, history = Heard(), sp.History()
    found = sp.train(FAST, whole(), "auto", callbacks=[heard, history])
    assert heard.begun == [round(RATE_BUDGET / FAST["learning_rate"])]
    assert len(heard.infos) == found.best_round + round_plan.PATIENCE
    values = history.evals["validation_0"]["rmse"]
    assert int(np.argmin(values)) + 1 == found.best_round


def test_rates_of_a_schedule_hold_for_both_trainings():
    rates = sp.LearningRateSchedule([0.5, 0.25, 0.1, 0.1, 0.05, 0.05])
    found = sp.train(FAST, whole(), "auto", callbacks=[rates])
    assert found.rounds <= 6
    assert found.forest.equal(sp.train(FAST, whole(), found.rounds, callbacks=[rates]).forest)


def test_the_largest_seed_holds_out_rows_too():
    found = sp.train(
        {**FAST, "objective": "log_loss", "random_state": 2**63 - 1},
        sp.Dataset(X, (Y > 0) * 1.0),
        "auto",
        max_rounds=2,
    )
    assert found.best_round is not None


def test_classes_are_held_out_alike():
    y = (np.arange(ROWS) % 20 == 0).astype(float)
    assert held_rows({"objective": "log_loss"}, sp.Dataset(X, y)).tolist().count(1.0) == 3
    several = np.repeat([0.0, 1.0, 2.0], [30, 70, 500])
    labels = held_rows({"objective": "softmax", "num_class": 3}, sp.Dataset(X, several))
    assert np.bincount(labels.astype(int)).tolist() == [3, 7, 50]


def test_groups_are_held_out_whole():
    groups = np.arange(ROWS) % 40
    labels = held_rows({}, sp.Dataset(X, groups.astype(float)), groups=[f"g{k}" for k in groups])
    found, counts = np.unique(labels, return_counts=True)
    assert (len(found), set(counts.tolist())) == (4, {15})


def test_rows_of_a_class_that_none_is_held_out_of_do_not_decide_the_rounds():
    y = np.zeros(ROWS)
    y[17] = 1.0
    heard = Heard()
    found = sp.train({**FAST, "objective": "log_loss"}, sp.Dataset(X, y), "auto", callbacks=[heard])
    assert (found.rounds, found.best_round) == (round_plan.usual_rounds(Config.parse(FAST), 100), None)


@pytest.mark.parametrize("objective", ["cox", "aft"])
def test_events_are_held_out_alike(objective):
    time = RNG.uniform(1, 2, ROWS)
    event = np.arange(ROWS) % 20 == 0
    second = event if objective == "cox" else np.where(event, time, np.inf)
    seen = held_rows({"objective": objective}, sp.Dataset(X, np.column_stack([time, second])))
    events = seen[:, 1] > 0 if objective == "cox" else seen[:, 0] == seen[:, 1]
    assert (len(seen), int(events.sum())) == (60, 3)


@pytest.mark.parametrize("objective", ["cox", "aft"])
def test_rows_with_events_alone_can_judge(objective):
    time, event = RNG.uniform(1, 2, ROWS), np.arange(ROWS) != 5
    second = event if objective == "cox" else np.where(event, time, np.inf)
    dataset = sp.Dataset(X, np.column_stack([time, second]))
    assert sp.train({**FAST, "objective": objective}, dataset, "auto", max_rounds=3).best_round is not None


def test_queries_are_held_out_whole():
    queries = np.arange(ROWS) % 30
    data = sp.Dataset(X, (queries % 5).astype(float), qid=queries)
    heard = Heard()
    found = sp.train({**FAST, "objective": "rank_ndcg"}, data, "auto", max_rounds=5, callbacks=[heard])
    assert list(heard.infos[0].evals) == ["validation_0"]
    assert found.best_round is not None
    labels = Labels(data.target, None, queries=data.queries)
    chosen = held_out(labels, np.zeros(ROWS, np.int64), 0.1, 0)
    assert {int(chosen[queries == q].sum()) for q in range(30)} == {0, 20}


def test_rows_of_weight_zero_are_not_held_out():
    weight = (np.arange(ROWS) % 2).astype(float)
    labels = held_rows({}, sp.Dataset(X, np.arange(ROWS) * 1.0, weight=weight))
    assert len(labels) == 30
    assert (labels % 2 == 1).all()


def test_without_a_metric_there_are_a_hundred_rounds():
    def loss(scores, labels):
        return scores - labels, np.ones(len(labels))

    none = {**FAST, "eval_metric": "none"}
    assert sp.train(none, whole(), "auto", objective=loss).rounds == 100
    assert sp.train(none, whole(), "auto").rounds == 100
    assert sp.train({**FAST, "eval_metric": "mae"}, whole(), "auto", objective=loss).best_round is not None


def test_a_model_that_may_have_seen_the_rows_goes_on_for_a_hundred_rounds():
    first = sp.train(FAST, whole(), 5)
    assert sp.train(FAST, whole(), "auto", init_model=first).rounds == 105


def test_rows_that_cannot_be_judged_are_not_held_out():
    y = np.zeros(ROWS)
    y[7] = 1.0
    params = {**FAST, "objective": "log_loss", "eval_metric": "auc"}
    assert sp.train(params, sp.Dataset(X, y), "auto").rounds == 100
    with pytest.raises(DataError, match=r"the rows held out by validation_fraction=0.1: .*auc"):
        sp.train(params, sp.Dataset(X, y), "auto", validation_fraction=0.1)


def test_rows_that_training_cannot_do_without_are_not_held_out():
    """One row has events: held out or not by the seed."""
    y = np.zeros(ROWS)
    y[7] = 1.0
    params, found = {**FAST, "objective": "poisson", "max_bin": 8}, set()
    dataset = sp.Dataset(X, y, max_bin=8)
    for seed in range(40):
        found.add(sp.train({**params, "random_state": seed}, dataset, "auto", max_rounds=1).best_round)
        if len(found) == 2:
            break
    assert found == {None, 1}
    with pytest.raises(
        DataError, match=r"the rows left by validation_fraction=0.1: objective poisson needs a row"
    ):
        sp.train({**params, "random_state": seed}, dataset, "auto", validation_fraction=0.1)


@pytest.mark.parametrize("method", ["hist", "exact", "approx"])
@pytest.mark.parametrize("small", [0, 10**9])
def test_any_number_of_threads_gives_the_same_bytes(monkeypatch, tmp_path, method, small):
    monkeypatch.setattr(round_plan, "SMALL", small)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    if method == "hist":
        frame["town"] = np.array(["Oslo", "Rome", "Bern", None], dtype=object)[np.arange(ROWS) % 4]
    written = []
    for jobs in (1, 2, 3):
        data = sp.Dataset(frame, Y, keep_table=True)
        model = sp.train({**FAST, "n_jobs": jobs, "tree_method": method}, data, "auto", max_rounds=8)
        model.save(tmp_path / "model")
        written.append((tmp_path / "model").read_bytes())
    assert written[0] == written[1] == written[2]


@pytest.mark.parametrize(
    ("rounds", "how", "message"),
    [
        ("many", {}, r"rounds='many' is unknown: it must be a number, or 'auto'"),
        (20, {"max_rounds": 30}, r"max_rounds is for rounds='auto', but rounds=20"),
        (20, {"validation_fraction": 0.1}, r"validation_fraction is for rounds='auto'.*`split` parts a data set"),
        (20, {"groups": np.zeros(ROWS)}, r"groups is for rounds='auto'"),
        ("auto", {"max_rounds": 0}, r"max_rounds=0 is out of range"),
        ("auto", {"validation_fraction": 0.0}, r"validation_fraction=0.0 is out of range"),
        ("auto", {"groups": np.zeros(3)}, r"groups has shape \(3,\); it must be \(600,\)"),
        ("auto", {"groups": np.zeros(ROWS)}, r"holds out 1 of 1 group, but a group must be left to train on"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(rounds, how, message):
    with pytest.raises(ValueError, match=message):
        sp.train(FAST, whole(), rounds, **how)


def test_what_contradicts_each_other_is_refused():
    data, own = whole(), {**FAST, "eval_metric": "none"}
    with pytest.raises(ParameterError, match="validation_fraction contradicts valid"):
        sp.train(FAST, data, "auto", valid={"train": data}, validation_fraction=0.1)
    with pytest.raises(ParameterError, match="groups contradicts valid"):
        sp.train(FAST, data, "auto", valid={"train": data}, groups=np.arange(ROWS))
    with pytest.raises(ParameterError, match="needs a metric to stop by, but eval_metric='none'; name one"):
        sp.train(own, data, "auto", validation_fraction=0.1)
    with pytest.raises(ParameterError, match="cannot hold out rows that init_model may have seen"):
        sp.train(FAST, data, "auto", validation_fraction=0.1, init_model=sp.train(FAST, data, 2))
    ranked = sp.Dataset(X, np.arange(ROWS) % 3 * 1.0, group=[20] * 30)
    with pytest.raises(ParameterError, match="groups contradicts queries"):
        sp.train({**FAST, "objective": "rank_ndcg"}, ranked, "auto", groups=np.arange(ROWS))


def test_several_targets_are_held_out_together():
    labels = np.column_stack([Y > 0, Y > 0.5]).astype(float)
    heard = Heard()
    params = {**FAST, "objective": "log_loss"}
    found = sp.train(params, sp.Dataset(X, labels), "auto", max_rounds=10, callbacks=[heard])
    assert list(heard.infos[0].evals) == ["validation_0"]
    assert found.rounds == found.best_round <= 10
    levels = {**FAST, "objective": "quantile", "quantile_alpha": [0.1, 0.9]}
    assert sp.train(levels, whole(), "auto", max_rounds=5).best_round is not None


ORDER = np.arange(ROWS) * 1.0


def test_the_last_rows_are_held_out_where_that_is_asked_for():
    assert held_rows({}, sp.Dataset(X, ORDER), validation="last").tolist() == ORDER[-60:].tolist()
    held = held_rows({"seed": 5}, sp.Dataset(X, ORDER), validation="last", validation_fraction=0.25)
    assert held.tolist() == ORDER[-150:].tolist()
    few = held_rows({}, sp.Dataset(X[:100], ORDER[:100]), validation="last")
    assert few.tolist() == ORDER[90:100].tolist()


def test_rows_of_weight_zero_at_the_end_are_not_the_last_ones():
    weight = np.where(np.arange(ROWS) < 500, 1.0, 0.0)
    held = held_rows({}, sp.Dataset(X, ORDER, weight=weight), validation="last")
    assert held.tolist() == ORDER[450:500].tolist()


def test_named_rows_are_held_out():
    mask = np.arange(ROWS) % 7 == 3
    for rows in (mask, np.flatnonzero(mask)[::-1], np.flatnonzero(mask).tolist(), pd.Series(mask)):
        assert held_rows({}, sp.Dataset(X, ORDER), validation=rows).tolist() == ORDER[mask].tolist()
    few = held_rows({}, sp.Dataset(X[:50], ORDER[:50]), validation=[3, 49])
    assert few.tolist() == [3.0, 49.0]


def test_the_last_queries_and_groups_are_held_out_whole_in_the_order_of_their_first_rows():
    queries = np.roll(np.repeat(np.arange(30), 20)[::-1], 7)  # the first one has rows at both ends
    data = sp.Dataset(X, np.arange(ROWS) % 3 * 1.0, qid=queries)
    seen = held_rows({"objective": "rank_ndcg"}, data, validation="last")
    assert len(seen) == 60
    held = np.flatnonzero(last_out(Labels(ORDER, queries=queries), 0.1))
    assert set(queries[held]) == {1, 2, 3}
    labels = held_rows(
        {}, sp.Dataset(X, queries * 1.0), validation="last", groups=[f"g{k:02}" for k in queries]
    )
    assert set(labels.tolist()) == set(queries[held].tolist())


def test_copies_do_not_keep_a_row_from_being_held_out_by_its_order():
    table, y = np.tile(X[:300], (2, 1)), np.tile(Y[:300], 2)
    y[540:] += 7.0
    assert held_rows({}, sp.Dataset(table, y), validation="last").tolist() == y[540:].tolist()


def test_a_model_of_the_last_rows_is_that_of_any_threads_and_of_rows_by_hand(tmp_path):
    models = [
        sp.train({**FAST, "n_jobs": jobs}, whole(), "auto", validation=rows).to_bytes()
        for jobs in (1, 2, 3)
        for rows in ("last", np.arange(540, 600), np.arange(ROWS) >= 540)
    ]
    assert len(set(models)) == 1
    assert models[0] != sp.train(FAST, whole(), "auto").to_bytes()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            {"validation": "first"},
            "validation='first' is unknown: it must be 'last', or the numbers or a mask",
        ),
        ({"validation": [0.5]}, "validation must be 'last', an array of row numbers"),
        ({"validation": [[1], [2, 3]]}, "validation must be 'last', an array of row numbers"),
        ({"validation": np.ones((2, 2), bool)}, "validation must be 'last', an array of row numbers"),
        ({"validation": np.ones(5, bool)}, r"validation has shape \(5,\); a mask must be \(600,\)"),
        ({"validation": [-1]}, "validation names row -1; there are rows 0 to 599"),
        ({"validation": [4, 600]}, "validation names row 600"),
        ({"validation": [4, 7, 4]}, "validation names row 4 twice"),
        ({"validation": []}, "validation names no row; some must be held out"),
        ({"validation": 0.2}, "got 0.2; a share of the rows is validation_fraction"),
        ({"validation": np.zeros(ROWS, bool)}, "validation names none of the 600 rows"),
        ({"validation": np.arange(ROWS)}, "validation names all of the 600 rows"),
        ({"validation": [1], "validation_fraction": 0.1}, "validation_fraction=0.1 contradicts validation"),
        ({"validation": [1], "groups": np.arange(ROWS) // 2}, "row 1, but not all rows of its group"),
        ({"validation": "last", "validation_fraction": 1.0}, "holds out 600 of 600 rows"),
    ],
)
def test_rows_that_cannot_be_held_out_are_refused(how, message):
    with pytest.raises((ValueError, TypeError), match=message):
        sp.train(FAST, whole(), "auto", **how)


def test_validation_is_refused_where_nothing_is_held_out():
    with pytest.raises(ParameterError, match="validation is for rounds='auto', but rounds=3"):
        sp.train(FAST, whole(), 3, validation="last")
    data = whole()
    with pytest.raises(ParameterError, match="validation contradicts valid"):
        sp.train(FAST, data, "auto", valid={"all": data}, validation="last")
    ranked = sp.Dataset(X, np.arange(ROWS) % 3 * 1.0, group=[20] * 30)
    with pytest.raises(DataError, match="row 19, but not all rows of its query; hold out whole queries"):
        sp.train({**FAST, "objective": "rank_ndcg"}, ranked, "auto", validation=[19])
    light = sp.Dataset(X, Y, weight=np.where(np.arange(ROWS) < 500, 1.0, 0.0))
    with pytest.raises(DataError, match="all have weight 0"):
        sp.train(FAST, light, "auto", validation=np.arange(550, 600))


@pytest.mark.parametrize("rows", ["last", np.arange(500, 600)], ids=["last", "rows"])
def test_validation_is_refused_where_it_would_be_ignored(rows):
    with pytest.raises(ParameterError, match="cannot hold out rows that init_model may have seen"):
        sp.train(FAST, whole(), "auto", init_model=sp.train(FAST, whole(), 2), validation=rows)
    with pytest.raises(ParameterError, match="needs a metric to stop by, but eval_metric='none'; name one"):
        sp.train({**FAST, "eval_metric": "none"}, whole(), "auto", validation=rows)


SOFTMAX = {"objective": "softmax", "num_class": 3}


@pytest.mark.parametrize("rows", ["last", np.arange(540, 600)], ids=["last", "rows"])
@pytest.mark.parametrize(
    ("params", "target", "message"),
    [
        ({"objective": "log_loss"}, ORDER >= 300, "held out by validation.* are all of one class"),
        (SOFTMAX, np.where(ORDER < 400, ORDER % 3, 1), "held out by validation.* are all of one class"),
        ({"objective": "log_loss", "base_score": 0.0}, ORDER >= 540, "holds out all rows of class 1"),
        (SOFTMAX, ORDER % 2 + (ORDER >= 570), "validation.* holds out all rows of class 2"),
        ({"objective": "cox"}, np.column_stack([ORDER + 1, ORDER >= 550]), "holds out all rows that have an event"),
        ({"objective": "cox"}, np.column_stack([ORDER + 1, ORDER < 500]), "held out by validation.* row with an event"),
        (
            {"objective": "aft"},
            np.column_stack([ORDER + 1, np.where(ORDER < 500, ORDER + 1, np.inf)]),
            "held out by validation.* have no event, so more rounds",
        ),
    ],
    ids=["one of two", "one of three", "the only second", "the only third", "the only events", "no event", "censored"],
)  # fmt: skip
def test_rows_that_judge_nothing_or_leave_too_little_are_refused(params, target, message, rows):
    with pytest.raises(DataError, match=message):
        sp.train({**FAST, **params}, sp.Dataset(X, target), "auto", validation=rows)


def test_rows_that_lack_one_of_several_classes_are_held_out():
    target = np.where(np.arange(ROWS) < 300, np.arange(ROWS) % 3, np.arange(ROWS) % 2) * 1.0
    history = sp.History()
    params = {**FAST, **SOFTMAX}
    sp.train(params, sp.Dataset(X, target), "auto", max_rounds=3, validation="last", callbacks=[history])
    assert history.auto.holdout_rows == 60


def test_the_only_row_with_a_label_is_never_held_out(monkeypatch):
    """Else the label's probability would be that of no row at all."""
    monkeypatch.setattr(round_plan, "SMALL", 0)
    rng = np.random.default_rng(0)
    labels = np.column_stack([X[:, 0] > 0, np.arange(ROWS) == 77, np.arange(ROWS) != 5]).astype(float)
    dataset = sp.Dataset(X, labels)
    for seed in rng.integers(0, 10**6, 25).tolist():
        model = sp.train(
            {**FAST, "objective": "log_loss", "random_state": seed}, dataset, "auto", max_rounds=1
        )
        assert model.best_round is not None
        assert (np.abs(model.base_score) < 10).all()
