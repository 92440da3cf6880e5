"""Random forests, extra trees and single trees with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from spinney.estimators.constructors import documented
from spinney.estimators.forest_targets import ClassEnsemble, ClassTree, NumberEnsemble, NumberTree
from spinney.estimators.generated import (
    DecisionTreeClassifierParameters,
    DecisionTreeRegressorParameters,
    ExtraTreesClassifierParameters,
    ExtraTreesRegressorParameters,
    RandomForestClassifierParameters,
    RandomForestRegressorParameters,
)


@documented
class RandomForestClassifier(RandomForestClassifierParameters, ClassEnsemble):
    """A random forest for classes: trees on drawn rows, with the best of some drawn columns at every split.

    Labels may be strings, whole numbers or booleans, of one output or several. A forest of one class predicts it.

    {parameters}

    Attributes
    ----------
    {class_attributes}
    {class_forest_attributes}

    See Also
    --------
    ExtraTreesClassifier : Cuts are drawn as well.
    RandomForestRegressor : The same for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> forest = sp.RandomForestClassifier(20, oob_score=True).fit(X, np.where(X[:, 0] < 0.5, "ash", "oak"))
    >>> forest.predict([[0.2], [0.8]]).tolist()
    ['ash', 'oak']
    >>> round(forest.oob_score_, 1)
    1.0
    """

    _FIXED: ClassVar[Mapping[str, object]] = {"splitter": "best"}


@documented
class RandomForestRegressor(RandomForestRegressorParameters, NumberEnsemble):
    """A random forest for numbers, of one output or several: trees on drawn rows.

    {parameters}

    Attributes
    ----------
    {number_attributes}
    {number_forest_attributes}

    See Also
    --------
    ExtraTreesRegressor : Cuts are drawn.
    RandomForestClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> forest = sp.RandomForestRegressor(20).fit(X, X[:, 0] ** 2)
    >>> forest.predict([[0.2], [0.8]]).round(1)
    array([0. , 0.6])
    """

    _FIXED: ClassVar[Mapping[str, object]] = {"splitter": "best"}


@documented
class ExtraTreesClassifier(ExtraTreesClassifierParameters, ClassEnsemble):
    """Extremely randomized trees for classes: of each drawn column one cut is drawn, and the best of these is made.

    {parameters}

    Attributes
    ----------
    {class_attributes}
    {class_forest_attributes}

    See Also
    --------
    RandomForestClassifier : The best cut of each drawn column.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> trees = sp.ExtraTreesClassifier(20).fit(X, np.where(X[:, 0] < 0.5, "ash", "oak"))
    >>> trees.predict([[0.2], [0.8]]).tolist()
    ['ash', 'oak']
    """

    _FIXED: ClassVar[Mapping[str, object]] = {"splitter": "random"}


@documented
class ExtraTreesRegressor(ExtraTreesRegressorParameters, NumberEnsemble):
    """Extremely randomized trees for numbers: of each drawn column one cut is drawn, and the best of these is made.

    {parameters}

    Attributes
    ----------
    {number_attributes}
    {number_forest_attributes}

    See Also
    --------
    RandomForestRegressor : The best cut of each drawn column.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> trees = sp.ExtraTreesRegressor(20).fit(X, X[:, 0] ** 2)
    >>> trees.predict([[0.2], [0.8]]).round(1)
    array([0. , 0.6])
    """

    _FIXED: ClassVar[Mapping[str, object]] = {"splitter": "random"}


@documented
class DecisionTreeClassifier(DecisionTreeClassifierParameters, ClassTree):
    """A single tree for classes.

    {parameters}

    Attributes
    ----------
    {class_attributes}
    {tree_attributes}

    See Also
    --------
    RandomForestClassifier : Many trees.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> tree = sp.DecisionTreeClassifier().fit(X, np.where(X[:, 0] < 0.5, "ash", "oak"))
    >>> tree.predict([[0.2], [0.8]]).tolist(), tree.get_depth()
    (['ash', 'oak'], 1)
    """


@documented
class DecisionTreeRegressor(DecisionTreeRegressorParameters, NumberTree):
    """A single tree for numbers.

    {parameters}

    Attributes
    ----------
    {number_attributes}
    {tree_attributes}

    See Also
    --------
    RandomForestRegressor : Many trees.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> tree = sp.DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0] ** 2)
    >>> tree.get_n_leaves()
    8
    """
