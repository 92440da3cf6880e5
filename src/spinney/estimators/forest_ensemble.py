"""Many trees and a single tree: what forests add to `ForestBase`, with rows out of their bags, and what one tree adds."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from spinney.binning.binned import BinnedData
from spinney.data import ForestTarget
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.estimators.base import COLUMN_VECTOR, NO_MORE, check_flags, check_verbose, is_column_vector
from spinney.estimators.forest_base import EarlierForest, ForestBase, ForestInputs
from spinney.estimators.forest_trees import TreeView, depth, leaves, pruning_path, root_impurity
from spinney.inspection.leaf_neighbours import proximity
from spinney.inspection.out_of_bag import OutOfBag, check_scorer, out_of_bag, try_scorer
from spinney.inspection.permutation import PermutationImportance, out_of_bag_importance
from spinney.inspection.strength import Diagnosis, diagnose
from spinney.messages import shown
from spinney.params.estimators import TREES
from spinney.params.parameter import SeedLike
from spinney.tree import Tree
from spinney.user_functions import takes_estimator

_NEVER = "Some inputs do not have OOB scores. This probably means too few trees were used to compute any reliable OOB estimates."


class ForestEnsemble(ForestBase):
    """Many trees, each on rows and columns of its own."""

    n_estimators: int
    bootstrap: bool
    oob_score: bool | Callable[..., float]
    verbose: int
    warm_start: bool

    oob_score_: float
    tree_oob_scores_: NDArray[np.float64]

    def apply(self, X: object) -> NDArray[np.int32]:
        """Return the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        int32 array of shape (rows, trees)
            Numbers of nodes in each tree; the root is 0. Several classes or outputs share the trees.
        """
        X = self._checked(X)
        return self.model_.predict_leaf(X, self.n_jobs)

    def decision_path(self, X: object) -> tuple[Any, NDArray[np.int64]]:
        """Return the nodes that each row passes.

        Returns
        -------
        indicator : CSR matrix of shape (rows, nodes of all trees)
            1 where a row passes a node, the trees one after another.
        n_nodes_ptr : int64 array of shape (trees + 1,)
            Columns n_nodes_ptr[t] to n_nodes_ptr[t + 1] - 1 are the nodes of tree t.
        """
        X = self._checked(X)
        return self.model_.decision_path(X, self.n_jobs)

    @property
    def estimators_(self) -> list[Any]:
        """The trees one by one: views with predict, apply, get_depth, get_n_leaves, feature_importances_ and tree_.

        Those of a classifier have predict_proba as well, and predict labels.
        """
        check_is_fitted(self, "model_")
        return [self._view(tree) for tree in range(self.model_.trees)]

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, tree: int) -> Any:
        return self.estimators_[tree]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def diagnose(self, X: object, y: object, *, out_of_bag: bool = False) -> Diagnosis | list[Diagnosis]:
        """How strong the trees are, and how much they agree in their mistakes (Breiman, 2001).

        Parameters
        ----------
        X : table
            Rows to predict.
        y : array of shape (rows,) or (rows, outputs)
            Their targets.
        out_of_bag : bool, default=False
            Whether X is the training table (without rows of weight 0), of which each row is predicted by the trees that have
            not seen it.

        Returns
        -------
        ClassDiagnosis or NumberDiagnosis
            For classes strength, correlation, bound, error, and margins of shape (rows,); for numbers error, tree_error,
            correlation and bound. A list of one for each of several outputs.
        """
        table = self._read(X)
        found = self._find_target(y, table.rows)
        return diagnose(self.model_, table, found, out_of_bag=out_of_bag, n_jobs=self.n_jobs)

    def permutation_importance(
        self, X: object, y: object, *, random_state: SeedLike = 0
    ) -> PermutationImportance:
        """How much worse each tree predicts the rows it has not seen when a column is shuffled among them.

        Parameters
        ----------
        X, y : table and array
            The training rows, without those of weight 0.
        random_state : int, RandomState, Generator or None, default=0
            Seed of the shuffling.

        Returns
        -------
        PermutationImportance
            importances_mean and importances_std of shape (columns,), over trees, and importances of shape (columns, trees), by
            which accuracy or R2 falls. With several outputs a row is right where all outputs are, and R2 is their mean.
        """
        table = self._read(X)
        found = self._find_target(y, table.rows)
        return out_of_bag_importance(self.model_, table, found, random_state, self.n_jobs)

    def proximity(self, X: object, other: object = None, *, out_of_bag: bool = False) -> NDArray[np.float64]:
        """Share of the trees in which two rows reach the same leaf; several classes or outputs share the trees.

        Parameters
        ----------
        X : table
            Rows.
        other : table, optional
            Rows to compare them with; without it with one another.
        out_of_bag : bool, default=False
            Count only trees that have seen neither of the two rows; X must be the training table (without rows of weight 0).

        Returns
        -------
        float64 array of shape (rows, rows), or (rows, rows of other)
        """
        table = self._read(X)
        second = None if other is None else self._read(other)
        return proximity(self.model_, table, second, out_of_bag=out_of_bag, n_jobs=self.n_jobs)

    def _view(self, tree: int) -> TreeView:
        return TreeView(self.model_, tree, self.n_jobs)

    def _trees(self) -> int:
        trees = TREES.check(self.n_estimators)
        return int(trees)

    def _shows_progress(self) -> bool:
        return bool(self.verbose)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._trees()
        check_verbose(self.verbose)
        check_flags(self, "warm_start")
        if not isinstance(self.oob_score, bool | np.bool_) and not callable(self.oob_score):
            raise ParameterTypeError(f"oob_score={shown(self.oob_score)} must be True, False or a function")
        if callable(self.oob_score) and takes_estimator(self.oob_score):
            raise ParameterTypeError(
                f"oob_score={shown(self.oob_score)} is a scorer, which needs an estimator; give True for the forest's own score, "
                "or a function of (y_true, y_pred)"
            )
        if callable(self.oob_score):
            check_scorer(self.oob_score)
        if self.oob_score and not self._parsed(0).draws_rows:
            raise ParameterError(
                f"oob_score={shown(self.oob_score)} needs rows that a tree has not seen, but with bootstrap=False every tree "
                "sees all rows: Out of bag estimation only available if bootstrap=True, or with max_samples"
            )

    def _grow(self, X: object, y: object, sample_weight: ArrayLike | None) -> list[Warning]:
        notes: list[Warning] = [DataConversionWarning(COLUMN_VECTOR)] if is_column_vector(y) else []
        earlier = self._earlier()
        if earlier is not None and earlier.model.trees == self._trees():
            notes.append(UserWarning(NO_MORE))
        if not self.oob_score:
            for name in ("oob_score_", "tree_oob_scores_", "_rows_out_of_bag"):
                self.__dict__.pop(name, None)
        return notes + super()._grow(X, y, sample_weight)

    def _inputs(
        self, X: object, y: object, sample_weight: ArrayLike | None, earlier: EarlierForest | None
    ) -> ForestInputs:
        inputs = super()._inputs(X, y, sample_weight, earlier)
        if self.oob_score and inputs.table.rows == 1:
            raise DataError(
                f"oob_score={shown(self.oob_score)} needs rows that a tree has not seen, but there is only 1 sample"
                f"{'' if inputs.kept is None else ' of weight above 0'}; give more rows, or leave it out"
            )
        if callable(self.oob_score):
            try_scorer(self.oob_score, inputs.target.values)
        return inputs

    def _earlier(self) -> EarlierForest | None:
        if not self.warm_start or "model_" not in vars(self):
            return None
        trees, done = self._trees(), self.model_.trees
        if trees < done:
            raise ParameterError(
                f"n_estimators={trees} is less than the {done} trees that the forest has; with warm_start=True it counts old "
                "and new trees"
            )
        return EarlierForest(self.model_)

    def _score_out_of_bag(
        self, data: BinnedData, target: ForestTarget, kept: NDArray[np.bool_] | None
    ) -> list[Warning]:
        if not self.oob_score:
            return []
        found = out_of_bag(self.model_, data.raw.table(), target.values, self.n_jobs)
        self.oob_score_ = found.score(self.oob_score if callable(self.oob_score) else None)
        self.tree_oob_scores_ = found.tree_scores
        self._rows_out_of_bag = self._shaped_out_of_bag(found, kept)
        return [UserWarning(_NEVER)] if found.never.any() else []

    def _out_of_bag(self, name: str) -> NDArray[np.float64]:
        """The predictions of training rows out of bag, of which `name` is the public name."""
        if "_rows_out_of_bag" in vars(self):
            return self._rows_out_of_bag
        kind = type(self).__name__
        if "oob_score_" in vars(self):
            raise AttributeError(
                f"this {kind} was loaded from a file, which holds oob_score_ and tree_oob_scores_ but not {name}, a line for "
                "every training row; fit it again to have it"
            )
        raise AttributeError(f"this {kind} has no {name}: fit it with oob_score=True")

    @abstractmethod
    def _shaped_out_of_bag(self, found: OutOfBag, kept: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        """Predictions out of bag in the shape that scikit-learn has."""


def spread_rows(values: NDArray[np.float64], kept: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Values of all rows: NaN for those that were not kept.

    Examples
    --------
    >>> spread_rows(np.array([1.0, 2.0]), np.array([True, False, True])).tolist()
    [1.0, nan, 2.0]
    """
    if kept is None:
        return values
    found = np.full((len(kept), *values.shape[1:]), np.nan)
    found[kept] = values
    return found


class SingleTree(ForestBase):
    """One tree on all rows."""

    splitter: str
    _FIXED: ClassVar[Mapping[str, object]] = {"bootstrap": False}

    def apply(self, X: object) -> NDArray[np.int32]:
        """Return the leaf that each row reaches.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        int32 array of shape (rows,)
            Numbers of nodes; the root is 0.
        """
        X = self._checked(X)
        found = self.model_.predict_leaf(X, self.n_jobs)
        return np.ascontiguousarray(found[:, 0])

    def decision_path(self, X: object) -> Any:
        """Return the nodes that each row passes, as a CSR matrix of shape (rows, nodes): 1 where a row passes a node."""
        X = self._checked(X)
        return self.model_.decision_path(X, self.n_jobs)[0]

    def get_depth(self) -> int:
        """Most splits on the way from the root to a leaf."""
        check_is_fitted(self, "model_")
        return depth(self.model_.forest, 0)

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self, "model_")
        return leaves(self.model_.forest, 0)

    @property
    def tree_(self) -> Tree:
        """The nodes as arrays."""
        check_is_fitted(self, "model_")
        return self.model_.tree(0)

    def cost_complexity_pruning_path(
        self, X: object, y: object, sample_weight: ArrayLike | None = None
    ) -> Any:
        """The values of `ccp_alpha`, and how much each prunes.

        Parameters
        ----------
        X, y, sample_weight
            As `fit` takes them; the estimator itself stays as it is.

        Returns
        -------
        Bunch
            ccp_alphas, float64[steps]: the values, ascending, at which a next part of the tree is pruned, from 0.
            impurities, float64[steps]: the impurity of all leaves together after each.
        """
        whole = clone(self).set_params(ccp_alpha=0.0)
        whole._check_parameters()
        inputs = whole._inputs(X, y, sample_weight, None)
        whole._grow_on(inputs, None)
        forest, target = whole.model_.forest, inputs.target
        alphas, removed = pruning_path(forest, 0)
        impurity = root_impurity(inputs.config.criterion, target.values, target.classes, inputs.weight)
        gained = float(forest.gain.astype(np.float64).sum())
        return Bunch(ccp_alphas=alphas, impurities=np.maximum(impurity - gained + removed, 0.0))
