import json
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.params import Config, kind_of, metrics_for, objective_row, parse, table, takes_targets
from spinney.params.config import values_of

ROWS = {row.name: row for row in table()}

share = st.floats(0, 1, exclude_min=True)
positive = st.floats(0, exclude_min=True, allow_infinity=False)
not_negative = st.floats(0, allow_infinity=False)
finite = st.floats(allow_nan=False, allow_infinity=False)
limit = st.integers(0, 2**30).filter(lambda number: number != 1)
sign = st.sampled_from([-1, 0, 1, 1.0, np.int64(-1)])
key = st.text(max_size=3) | st.integers(0, 20)

NUMBERS = {
    "base_score": st.none() | finite,
    "max_depth": st.integers(-1, 2**31 - 1),
    "max_leaves": limit | limit.map(float),
    "min_child_samples": st.integers(0, 2**63 - 1),
    "min_child_weight": not_negative,
    "learning_rate": positive | st.integers(1, 10),
    "gamma": not_negative,
    "reg_lambda": not_negative,
    "reg_alpha": not_negative,
    "max_delta_step": not_negative,
    "subsample": share,
    "colsample_bytree": share,
    "colsample_bylevel": share,
    "colsample_bynode": share,
    "max_bin": st.integers(2, 65536),
    "preset": st.sampled_from(["default", "best"]),
    "models": st.integers(1, 1000),
    "early_stopping_rounds": st.none() | st.integers(0, 2**31 - 1),
    "min_delta": not_negative,
    "random_state": st.integers(0, 2**63 - 1),
    "n_jobs": st.none() | st.integers(1, 64) | st.integers(-64, -1),
    "tree_method": st.sampled_from(["hist", "auto", "approx", "exact"]),
    "proposal": st.just("global"),
    "sketch_eps": st.none(),
    "grow_policy": st.sampled_from(["lossguide", "depthwise", "leafwise", "level"]),
    "max_cat_to_onehot": st.integers(1, 100),
    "max_cat_threshold": st.integers(1, 100),
    "min_data_per_group": st.integers(1, 2**63 - 1),
    "cat_smooth": not_negative,
    "cat_charge": not_negative,
    "target_stats": st.none() | st.integers(1, 2**31 - 1),
    "target_stats_smooth": not_negative,
    "target_stats_pairs": st.integers(0, 2**31 - 1),
    "cat_l2": not_negative,
    "sampling_method": st.sampled_from(["uniform", "bagging"]),
    "top_rate": st.floats(0, 1),
    "other_rate": share,
    "goss_warm_up": st.booleans() | st.sampled_from([0, 1, np.True_]),
    "leaf_values": st.sampled_from(["sample", "all"]),
    "bundle": st.booleans(),
    "bundle_order": st.sampled_from(["auto", "degree", "nonzero"]),
    "max_conflict_rate": st.floats(0, 1),
    "absent": st.sampled_from(["zero", "missing"]),
    "unseen": st.sampled_from(["missing", "error", "rarest"]),
    "monotone_constraints": st.none() | st.lists(sign) | st.dictionaries(key, sign) | st.just("(1,-1)"),
    "interaction_constraints": st.none() | st.lists(st.sets(key, min_size=1) | st.lists(key, min_size=1)),
    "first_metric_only": st.booleans(),
    "feature_weights": st.none() | st.lists(positive) | st.dictionaries(key, not_negative),
}


# Those that only some objectives take.
level = st.floats(0, 1, exclude_min=True, exclude_max=True)
SPECIAL = {
    "scale_pos_weight": positive,
    "quantile_alpha": level | st.lists(level, min_size=1, max_size=5, unique=True).map(sorted),
    "expectile_alpha": level,
    "huber_delta": st.floats(1e-30, 1e30),
    "fair_c": st.floats(1e-30, 1e30),
    "poisson_max_delta_step": st.floats(0, 10),
    "tweedie_variance_power": st.floats(1, 2, exclude_min=True, exclude_max=True),
    "focal_gamma": st.floats(0, 100),
    "focal_alpha": st.none() | level,
    "lambdarank_truncation_level": st.integers(1, 2**31 - 1),
    "lambdarank_norm": st.booleans(),
    "lambdarank_sigmoid": st.floats(1e-6, 1e6),
    "label_gain": st.none() | st.lists(st.floats(1e-30, 1e30), min_size=1).map(sorted),
    "aft_loss_distribution": st.sampled_from(["normal", "logistic", "extreme"]),
    "aft_loss_distribution_scale": st.floats(1e-6, 1e6),
}


@st.composite
def parameters(draw):
    """Valid parameters, each under one of its spellings."""
    chosen = {name: draw(NUMBERS[name]) for name in draw(st.sets(st.sampled_from(sorted(NUMBERS))))}
    objective = draw(st.sampled_from(sorted(ROWS["objective"].choices)))
    chosen["objective"] = draw(st.sampled_from([objective, *ROWS["objective"].choices[objective]]))
    if "num_class" in objective_row(objective).parameters:
        chosen["num_class"] = draw(st.integers(0 if objective == "own" else 2, 1000))
    if kind_of(objective) == "ranks":
        chosen["eval_at"] = draw(st.none() | st.lists(st.integers(1, 9), min_size=1, unique=True))
    elif objective not in ("own", "cox", "aft"):
        chosen["leaf_estimation"] = draw(st.sampled_from(["newton", "line_search"]))
    for name in objective_row(objective).parameters:
        if name in SPECIAL:
            chosen[name] = draw(SPECIAL[name])
    levels = np.size(chosen.get("quantile_alpha", 0.5))
    if takes_targets(objective) and levels == 1 and chosen.get("num_class", 0) < 2:
        chosen["num_target"] = draw(st.integers(1, 1000))
    fitting = metrics_for(objective, chosen.get("num_class", 0)) if levels == 1 else ["pinball"]
    chosen["eval_metric"] = draw(st.lists(st.sampled_from(fitting), unique=True))
    names = {name: [name, *(one for one in ROWS[name].aliases if one != "alpha")] for name in chosen}
    return {draw(st.sampled_from(names[name])): value for name, value in chosen.items()}


def test_the_strategies_cover_every_parameter():
    others = {"objective", "num_class", "num_target", "eval_metric", "eval_at", "leaf_estimation"}
    assert set(NUMBERS) | set(SPECIAL) | others == set(ROWS)


@settings(deadline=None, max_examples=50)
@given(parameters())
def test_a_config_comes_back_equal_from_its_dict_and_from_json(params):
    config = parse(params)
    values = config.to_dict()
    assert parse(values) == config
    assert json.loads(json.dumps(values)) == values
    assert json.dumps(parse(json.loads(json.dumps(values))).to_dict()) == json.dumps(values)


@settings(deadline=None, max_examples=50)
@given(parameters())
def test_checking_a_checked_config_changes_nothing(params):
    config = parse(params)
    assert replace(config) == config
    assert hash(replace(config)) == hash(config)


def test_no_parameters_give_the_defaults():
    config = parse({})
    assert config == Config()
    assert {name: getattr(config, name) for name in ROWS} == {name: row.default for name, row in ROWS.items()}


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_default_can_be_given(name):
    assert parse({name: ROWS[name].default}) == Config()


def test_the_boosting_defaults_are_those_of_the_documentation():
    config = Config()
    assert (config.learning_rate, config.max_leaves, config.max_depth, config.max_bin) == (0.1, 31, 0, 255)
    assert (config.min_child_samples, config.min_child_weight, config.reg_lambda) == (5, 1e-3, 5.0)
    assert (config.objective, config.grow_policy, config.tree_method) == (
        "squared_error",
        "lossguide",
        "hist",
    )


def test_the_table_has_one_row_for_each_field_in_order():
    assert list(ROWS) == [field.name for field in fields(Config)]


def test_the_dict_holds_every_parameter():
    assert list(Config().to_dict()) == list(ROWS)


def test_what_cannot_change_a_model_stays_out_of_what_describes_it():
    one, many = Config(n_jobs=1), Config(n_jobs=8)
    assert one.to_dict(model_only=True) == many.to_dict(model_only=True)
    # What a preset sets is there, and a mean of models is one model.
    left_out = {"n_jobs", "bundle", "bundle_order", "preset", "models"}
    assert set(one.to_dict()) - set(one.to_dict(model_only=True)) == left_out


def test_a_parameter_that_was_added_is_left_out_of_files_while_it_has_its_default():
    rows = [replace(ROWS["gamma"], omit_default=True), ROWS["max_leaves"]]
    assert values_of(Config(), rows, model_only=True) == {"max_leaves": 31}
    assert values_of(Config(gamma=0.5), rows, model_only=True) == {"gamma": 0.5, "max_leaves": 31}
    assert values_of(Config(), rows, model_only=False) == {"gamma": 0.0, "max_leaves": 31}


def test_a_config_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Config().max_depth = 3
