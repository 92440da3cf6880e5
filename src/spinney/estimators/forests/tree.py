"""What a single tree has that a forest has not."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from spinney.estimators.forests.base import ForestBase
from spinney.estimators.forests.pruning import pruning_path, root_impurity
from spinney.estimators.forests.trees import depth, leaves
from spinney.tree import Tree


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
        """Tell which values of `ccp_alpha` prune how much.

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
        sample = whole._sample(X, y, sample_weight, None)
        whole._grow_on(sample, None)
        forest, target = whole.model_.forest, sample.target
        alphas, removed = pruning_path(forest, 0)
        impurity = root_impurity(sample.config.criterion, target.values, target.classes, sample.weight)
        gained = float(forest.gain.astype(np.float64).sum())
        return Bunch(ccp_alphas=alphas, impurities=np.maximum(impurity - gained + removed, 0.0))
