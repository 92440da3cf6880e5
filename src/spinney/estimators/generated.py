"""The estimators' constructors, made of the tables in `parameters.py`.

This file is written by `python -m spinney.estimators > src/spinney/estimators/generated.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.estimators.base import keep, named


class GBMClassifierParameters:
    """The constructor of GBMClassifier."""

    @named
    def __init__(
        self,
        *,
        objective: str | Callable[..., Any] | None = None,
        preset: str = "default",
        n_estimators: int | str = "auto",
        max_rounds: int | None = None,
        models: int | None = None,
        learning_rate: float = 0.1,
        max_leaves: int | None = 31,
        max_depth: int | None = 0,
        grow_policy: str = "lossguide",
        tree_method: str = "hist",
        proposal: str = "global",
        sketch_eps: float | None = None,
        min_child_samples: int = 5,
        min_child_weight: float = 0.001,
        gamma: float = 0.0,
        reg_lambda: float = 5.0,
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
        class_weight: Mapping[Any, float] | Sequence[Mapping[Any, float]] | str | None = None,
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
        max_cat_threshold: int = 8,
        min_data_per_group: int = 100,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        cat_charge: float = 0.2,
        target_stats: int | None = 100,
        target_stats_smooth: float = 10.0,
        target_stats_pairs: int = 12,
        eval_metric: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None = (),
        early_stopping_rounds: int | None = None,
        min_delta: float = 0.0,
        first_metric_only: bool = False,
        validation_fraction: float | None = None,
        validation: str = "random",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
        importance_type: str = "total_gain",
        warm_start: bool = False,
    ) -> None:
        keep(self, locals())


class GBMRankerParameters:
    """The constructor of GBMRanker."""

    @named
    def __init__(
        self,
        *,
        objective: str | Callable[..., Any] = "rank_ndcg",
        preset: str = "default",
        n_estimators: int | str = "auto",
        max_rounds: int | None = None,
        models: int | None = None,
        learning_rate: float = 0.1,
        max_leaves: int | None = 31,
        max_depth: int | None = 0,
        grow_policy: str = "lossguide",
        tree_method: str = "hist",
        proposal: str = "global",
        sketch_eps: float | None = None,
        min_child_samples: int = 5,
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
        lambdarank_truncation_level: int = 30,
        lambdarank_norm: bool = True,
        lambdarank_sigmoid: float = 1.0,
        label_gain: ArrayLike | None = None,
        base_score: float | None = None,
        max_bin: int = 255,
        bundle: bool = True,
        bundle_order: str = "auto",
        max_conflict_rate: float = 0.0,
        absent: str = "zero",
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        unseen: str = "missing",
        max_cat_to_onehot: int = 4,
        max_cat_threshold: int = 8,
        min_data_per_group: int = 100,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        cat_charge: float = 0.2,
        target_stats: int | None = None,
        target_stats_smooth: float = 10.0,
        target_stats_pairs: int = 12,
        eval_metric: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None = (),
        eval_at: int | Sequence[int] | None = None,
        early_stopping_rounds: int | None = None,
        min_delta: float = 0.0,
        first_metric_only: bool = False,
        validation_fraction: float | None = None,
        validation: str = "random",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
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
        preset: str = "default",
        n_estimators: int | str = "auto",
        max_rounds: int | None = None,
        models: int | None = None,
        learning_rate: float = 0.1,
        max_leaves: int | None = 31,
        max_depth: int | None = 0,
        grow_policy: str = "lossguide",
        tree_method: str = "hist",
        proposal: str = "global",
        sketch_eps: float | None = None,
        min_child_samples: int = 5,
        min_child_weight: float = 0.001,
        gamma: float = 0.0,
        reg_lambda: float = 5.0,
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
        quantile_alpha: float | ArrayLike = 0.5,
        expectile_alpha: float = 0.5,
        huber_delta: float = 1.0,
        fair_c: float = 1.0,
        poisson_max_delta_step: float = 0.7,
        tweedie_variance_power: float = 1.5,
        aft_loss_distribution: str = "normal",
        aft_loss_distribution_scale: float = 1.0,
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
        max_cat_threshold: int = 8,
        min_data_per_group: int = 100,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        cat_charge: float = 0.2,
        target_stats: int | None = 100,
        target_stats_smooth: float = 10.0,
        target_stats_pairs: int = 12,
        eval_metric: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None = (),
        early_stopping_rounds: int | None = None,
        min_delta: float = 0.0,
        first_metric_only: bool = False,
        validation_fraction: float | None = None,
        validation: str = "random",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
        importance_type: str = "total_gain",
        warm_start: bool = False,
    ) -> None:
        keep(self, locals())


class RandomForestClassifierParameters:
    """The constructor of RandomForestClassifier."""

    @named
    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Mapping[Any, float] | Sequence[Mapping[Any, float]] | str | None = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Sequence[int] | Mapping[str | int, int] | str | None = None,
        tree_method: str = "hist",
        max_bin: int = 255,
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        absent: str = "zero",
        unseen: str = "missing",
        keep_leaf_rows: bool = False,
    ) -> None:
        keep(self, locals())


class RandomForestRegressorParameters:
    """The constructor of RandomForestRegressor."""

    @named
    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Sequence[int] | Mapping[str | int, int] | str | None = None,
        tree_method: str = "hist",
        max_bin: int = 255,
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        absent: str = "zero",
        unseen: str = "missing",
        keep_leaf_rows: bool = False,
    ) -> None:
        keep(self, locals())


class ExtraTreesClassifierParameters:
    """The constructor of ExtraTreesClassifier."""

    @named
    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Mapping[Any, float] | Sequence[Mapping[Any, float]] | str | None = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Sequence[int] | Mapping[str | int, int] | str | None = None,
        tree_method: str = "hist",
        max_bin: int = 255,
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        absent: str = "zero",
        unseen: str = "missing",
        keep_leaf_rows: bool = False,
    ) -> None:
        keep(self, locals())


class ExtraTreesRegressorParameters:
    """The constructor of ExtraTreesRegressor."""

    @named
    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Sequence[int] | Mapping[str | int, int] | str | None = None,
        tree_method: str = "hist",
        max_bin: int = 255,
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        absent: str = "zero",
        unseen: str = "missing",
        keep_leaf_rows: bool = False,
    ) -> None:
        keep(self, locals())


class DecisionTreeClassifierParameters:
    """The constructor of DecisionTreeClassifier."""

    @named
    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Mapping[Any, float] | Sequence[Mapping[Any, float]] | str | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Sequence[int] | Mapping[str | int, int] | str | None = None,
        tree_method: str = "hist",
        max_bin: int = 255,
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        absent: str = "zero",
        unseen: str = "missing",
        keep_leaf_rows: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())


class DecisionTreeRegressorParameters:
    """The constructor of DecisionTreeRegressor."""

    @named
    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Sequence[int] | Mapping[str | int, int] | str | None = None,
        tree_method: str = "hist",
        max_bin: int = 255,
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        absent: str = "zero",
        unseen: str = "missing",
        keep_leaf_rows: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())


class AdaBoostClassifierParameters:
    """The constructor of AdaBoostClassifier."""

    @named
    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        max_depth: int | None = 1,
        resample: bool = False,
        max_bin: int = 255,
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        absent: str = "zero",
        unseen: str = "missing",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())


class AdaBoostRegressorParameters:
    """The constructor of AdaBoostRegressor."""

    @named
    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        max_depth: int | None = 3,
        resample: bool = True,
        max_bin: int = 255,
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        absent: str = "zero",
        unseen: str = "missing",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())


class IsolationForestParameters:
    """The constructor of IsolationForest."""

    @named
    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_samples: int | float | str = "auto",
        contamination: float | str = "auto",
        max_features: int | float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        absent: str = "zero",
        unseen: str = "rarest",
    ) -> None:
        keep(self, locals())
