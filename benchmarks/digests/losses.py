"""Every loss with every learner, several targets, ranking, survival, and what a training does around its trees."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import spinney as sp
from benchmarks.digests.plan import Action, Params, Plan, model_parts, trained
from benchmarks.digests.tables import ROWS, mixed, numbers, queries, times, towns, with_copies

METHODS = ("hist", "approx", "exact")


def plans() -> Iterator[Plan]:
    """Return the name of everything that is trained, and what does it."""
    X, y = numbers()
    for loss, target in _targets(y).items():
        for method in METHODS:
            params: Params = {"objective": loss, "tree_method": method}
            if loss in ("softmax", "one_vs_rest"):
                params["num_class"] = 4
            yield f"{loss}, {method}", trained(params, X, target)
    weight = np.random.default_rng(2).random(ROWS)
    for loss in ("huber", "quantile", "poisson", "focal", "one_vs_rest"):
        params = {"objective": loss} | ({"num_class": 4} if loss == "one_vs_rest" else {})
        yield f"{loss}, weights", trained(params, X, _targets(y)[loss], weight=weight)
    yield from _outputs(X, y)
    yield from _ranked()
    yield from _timed()
    yield from _around(X, y)


def _targets(y: Any) -> dict[str, Any]:
    labels, classes = (y > 0).astype(float), np.digitize(y, [-0.7, 0.1, 0.9]).astype(float)
    positive = np.exp(0.3 * y)
    any_number = ("squared_error", "absolute_error", "huber", "pseudo_huber", "fair", "quantile", "expectile")
    return {
        **dict.fromkeys(any_number, y),
        **dict.fromkeys(("squared_log_error", "mape", "gamma"), positive),
        **dict.fromkeys(("poisson", "tweedie"), np.floor(positive)),
        **dict.fromkeys(("log_loss", "focal"), labels),
        **dict.fromkeys(("softmax", "one_vs_rest"), classes),
    }


def _outputs(X: Any, y: Any) -> Iterator[Plan]:
    """Several targets, and several levels of a quantile."""
    two = np.column_stack([y, y**2])
    for method in METHODS:
        yield f"two targets, {method}", trained({"tree_method": method}, X, two)
    yield "two targets of classes", trained({"objective": "log_loss"}, X, (two > 0.5).astype(float))
    yield "quantiles", trained({"objective": "quantile", "quantile_alpha": [0.1, 0.5, 0.9]}, X, y)
    yield "line search", trained({"objective": "huber", "leaf_estimation": "line_search"}, X, y)


def _ranked() -> Iterator[Plan]:
    X, grades, sizes = queries()
    for loss in ("rank_ndcg", "rank_map", "rank_pairwise", "rank_xendcg"):
        target = (grades > 1).astype(float) if loss == "rank_map" else grades
        yield loss, trained({"objective": loss, "eval_metric": ["ndcg@5", "map"]}, X, target, group=sizes)
    yield (
        "rank_ndcg, exact",
        trained({"objective": "rank_ndcg", "tree_method": "exact"}, X, grades, group=sizes),
    )
    sampled = {"objective": "rank_ndcg", "subsample": 0.5, "lambdarank_norm": False}
    yield "rank_ndcg, rows drawn", trained(sampled, X, grades, group=sizes)


def _timed() -> Iterator[Plan]:
    X, y = times()
    lower = y[:, 0]
    between = np.column_stack([lower, np.where(y[:, 1] > 0, lower, np.inf)])
    yield "cox", trained({"objective": "cox", "eval_metric": ["cox_nloglik", "concordance"]}, X, y)
    yield "cox, exact", trained({"objective": "cox", "tree_method": "exact"}, X, y)
    yield "cox, weights", trained({"objective": "cox"}, X, y, weight=np.arange(len(y)) % 5 + 0.5)
    for kind in ("normal", "logistic", "extreme"):
        yield f"aft, {kind}", trained({"objective": "aft", "aft_loss_distribution": kind}, X, between)


def _around(X: Any, y: Any) -> Iterator[Plan]:
    """Target encoding, rounds that are searched for, members, going on, cross-validation, functions of the user's own."""
    labels = (y > 0).astype(float)
    frame, kinds = towns()
    stats = {"objective": "log_loss", "target_stats": 100}
    yield "target encoding", trained(stats, frame, kinds)
    yield "target encoding, no pairs", trained(stats | {"target_stats_pairs": 0}, frame, kinds)
    yield "target encoding, numbers", trained({"target_stats": 100}, *mixed(), categorical=[0, 5])
    yield "target encoding, members", trained(stats | {"models": 2}, frame, kinds)
    yield "text", trained({"objective": "log_loss"}, frame, kinds)
    yield "one category a split", trained({"max_cat_to_onehot": 400}, *mixed(), categorical=[0, 5])
    yield "large sets", trained({"max_cat_threshold": 64, "cat_charge": 0.0}, *mixed(), categorical=[0, 5])
    yield "auto rounds", _searched({"objective": "log_loss", "learning_rate": 0.3}, X, labels)
    yield "auto rounds, last rows", _searched({"learning_rate": 0.3}, X, y, validation="last")
    yield "auto rounds, groups", _searched({"learning_rate": 0.3}, X, y, groups=np.arange(ROWS) // 7)
    yield "auto rounds, target encoding", _searched(stats | {"learning_rate": 0.3}, frame, kinds)
    yield "early stopping", trained({"early_stopping_rounds": 2, "learning_rate": 0.9}, X, y, rounds=40)
    yield "members", trained({"models": 3, "subsample": 0.7}, X, y)
    yield "going on", lambda: _continued(X, y)
    yield "falling rates", lambda: _scheduled(X, y)
    yield "own objective and metric", lambda: _own(X, y)
    folds: dict[str, Params] = {
        "cv": {}, "cv, groups": {"groups": np.arange(ROWS) % 50}, "cv, in order": {"shuffle": False, "stratified": False},
    }  # fmt: skip
    for name, given in folds.items():
        yield name, _validated(X, labels, {}, given)
    for name, copied in {"few": 40, "many": 1_200}.items():
        again, same = with_copies(frame, kinds, copied)
        yield f"{name} copied rows, auto rounds", _searched(stats | {"learning_rate": 0.3}, again, same)
        yield (
            f"{name} copied rows, members",
            _searched(stats | {"learning_rate": 0.3, "models": 2}, again, same),
        )
        yield f"{name} copied rows, cv", _validated(again, same, stats, {})


def _searched(params: Params, X: Any, y: Any, **given: Any) -> Action:
    def act() -> Iterator[object]:
        history = sp.History()
        model = sp.train({"n_jobs": 2} | params, sp.Dataset(X, y), "auto", callbacks=[history], **given)
        yield from model_parts(model, X, history.evals)

    return act


def _continued(X: Any, y: Any) -> Iterator[object]:
    first = sp.train({"n_jobs": 2}, sp.Dataset(X, y), 3)
    again = sp.train({"n_jobs": 2}, sp.Dataset(X, y, keep_table=True), 3, init_model=first)
    yield from model_parts(again, X)


def _scheduled(X: Any, y: Any) -> Iterator[object]:
    rates = [sp.LearningRateSchedule(lambda k: 0.5 / (k + 1))]
    yield from model_parts(sp.train({"n_jobs": 2}, sp.Dataset(X, y), 4, callbacks=rates), X)


def _own(X: Any, y: Any) -> Iterator[object]:
    def loss(target: Any, score: Any) -> Any:
        return score - target, np.ones_like(target)

    def error(target: Any, score: Any) -> tuple[str, float, bool]:
        return "largest error", float(np.abs(target - score).max()), False

    data, history = sp.Dataset(X, y), sp.History()
    model = sp.train(
        {"n_jobs": 2}, data, 4, objective=loss, metrics=[error], valid={"train": data}, callbacks=[history]
    )
    yield from model_parts(model, X, history.evals)


def _validated(X: Any, labels: Any, params: Params, given: Params) -> Action:
    def act() -> Iterator[object]:
        found = sp.cv({"n_jobs": 2, "objective": "log_loss"} | params, sp.Dataset(X, labels), 3, 5, **given)
        for model in found.models:
            yield from model_parts(model, X)

    return act
