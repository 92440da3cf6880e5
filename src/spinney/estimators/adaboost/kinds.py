"""AdaBoost with scikit-learn's interface."""

from __future__ import annotations

from spinney.estimators.adaboost.classifier import BoostedClasses
from spinney.estimators.adaboost.regressor import BoostedNumbers
from spinney.estimators.documents import documented
from spinney.estimators.generated import AdaBoostClassifierParameters, AdaBoostRegressorParameters


@documented
class AdaBoostClassifier(AdaBoostClassifierParameters, BoostedClasses):
    """AdaBoost for classes (SAMME): trees one after another, each on rows that become heavier where earlier trees were wrong.

    Labels may be strings, whole numbers or booleans. Where the first tree is no better than guessing, `fit` raises an error;
    where a later one is, it is dropped and boosting ends. With `resample` boosting goes on: the tree has a weight of 0, and the
    next one sees other rows.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes_,)
        The labels, sorted.
    n_classes_ : int
        Number of classes.
    {adaboost_attributes}

    See Also
    --------
    AdaBoostRegressor : The same for numbers.
    GBMClassifier : Boosting by gradients.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> y = np.where(np.abs(X[:, 0] - 0.5) < 0.2, "oak", "ash")
    >>> boosted = sp.AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> boosted.predict([[0.2], [0.5], [0.8]]).tolist()
    ['ash', 'oak', 'ash']
    """


@documented
class AdaBoostRegressor(AdaBoostRegressorParameters, BoostedNumbers):
    """AdaBoost for numbers (AdaBoost.R2): trees one after another, each on rows drawn by weights, which fall where earlier trees
    were right; the median by the trees' weights predicts.

    Boosting ends where the mean loss of a tree is ½ or more. That tree is dropped, unless it is the first.

    {parameters}

    Attributes
    ----------
    {adaboost_attributes}

    See Also
    --------
    AdaBoostClassifier : The same for classes.
    GBMRegressor : Boosting by gradients.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> boosted = sp.AdaBoostRegressor(n_estimators=20).fit(X, X[:, 0] ** 2)
    >>> boosted.predict([[0.2], [0.8]]).round(1)
    array([0. , 0.6])
    """
