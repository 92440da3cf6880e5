"""The estimators' constructors, made of the table in `parameters.py`.

This file is written by `python -m spinney.estimators > src/spinney/estimators/generated.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.estimators.names import keep, named


class GBMClassifierParameters:
    """The constructor of GBMClassifier."""

    @named
    def __init__(
        self,
        *,
        objective: str | Callable[..., Any] | None = None,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_leaves: int | None = 31,
        max_depth: int | None = 0,
        grow_policy: str = "lossguide",
        tree_method: str = "hist",
        proposal: str = "global",
        sketch_eps: float | None = None,
        min_child_samples: int = 20,
        min_child_weight: float = 0.001,
        gamma: float = 0.0,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        max_delta_step: float = 0.0,
        monotone_constraints: Sequence[int] | Mapping[str | int, int] | str | None = None,
        interaction_constraints: Sequence[Sequence[str | int]] | str | None = None,
        subsample: float = 1.0,
        sampling_method: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        goss_warm_up: bool = True,
        leaf_values: str = "sample",
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        feature_weights: ArrayLike | Mapping[str | int, float] | None = None,
        focal_gamma: float = 2.0,
        focal_alpha: float | None = None,
        scale_pos_weight: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        base_score: float | None = None,
        leaf_estimation: str = "newton",
        max_bin: int = 255,
        bundle: bool = True,
        bundle_order: str = "auto",
        max_conflict_rate: float = 0.0,
        absent: str = "zero",
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        unseen: str = "missing",
        max_cat_to_onehot: int = 4,
        max_cat_threshold: int = 32,
        min_data_per_group: int = 100,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        eval_metric: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None = (),
        early_stopping_rounds: int | None = None,
        min_delta: float = 0.0,
        first_metric_only: bool = False,
        validation_fraction: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
        importance_type: str = "total_gain",
        warm_start: bool = False,
    ) -> None:
        keep(self, locals())


class GBMRegressorParameters:
    """The constructor of GBMRegressor."""

    @named
    def __init__(
        self,
        *,
        objective: str | Callable[..., Any] = "squared_error",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_leaves: int | None = 31,
        max_depth: int | None = 0,
        grow_policy: str = "lossguide",
        tree_method: str = "hist",
        proposal: str = "global",
        sketch_eps: float | None = None,
        min_child_samples: int = 20,
        min_child_weight: float = 0.001,
        gamma: float = 0.0,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        max_delta_step: float = 0.0,
        monotone_constraints: Sequence[int] | Mapping[str | int, int] | str | None = None,
        interaction_constraints: Sequence[Sequence[str | int]] | str | None = None,
        subsample: float = 1.0,
        sampling_method: str = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        goss_warm_up: bool = True,
        leaf_values: str = "sample",
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        feature_weights: ArrayLike | Mapping[str | int, float] | None = None,
        quantile_alpha: float = 0.5,
        expectile_alpha: float = 0.5,
        huber_delta: float = 1.0,
        fair_c: float = 1.0,
        poisson_max_delta_step: float = 0.7,
        tweedie_variance_power: float = 1.5,
        base_score: float | None = None,
        leaf_estimation: str = "newton",
        max_bin: int = 255,
        bundle: bool = True,
        bundle_order: str = "auto",
        max_conflict_rate: float = 0.0,
        absent: str = "zero",
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        unseen: str = "missing",
        max_cat_to_onehot: int = 4,
        max_cat_threshold: int = 32,
        min_data_per_group: int = 100,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        eval_metric: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None = (),
        early_stopping_rounds: int | None = None,
        min_delta: float = 0.0,
        first_metric_only: bool = False,
        validation_fraction: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
        importance_type: str = "total_gain",
        warm_start: bool = False,
    ) -> None:
        keep(self, locals())
