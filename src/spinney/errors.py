"""Every error that spinney raises on purpose.

All of them derive from `SpinneyError` and from the built-in `ValueError` or `TypeError`, so code written for
other libraries keeps catching them. What is no fault of the caller's derives from `RuntimeError`.
"""


class SpinneyError(Exception):
    """Base of all errors raised on purpose by spinney."""


class ParameterError(SpinneyError, ValueError):
    """A hyper-parameter is unknown, given twice, out of range or contradicts another one."""


class ParameterTypeError(SpinneyError, TypeError):
    """A hyper-parameter has a value of the wrong type, or an estimator was given one that it does not have."""


class DataError(SpinneyError, ValueError):
    """A table, target or weight holds something that cannot be used."""


class DataTypeError(SpinneyError, TypeError):
    """A table, target or weight is of a kind that cannot be read."""


class OwnFunctionError(SpinneyError, ValueError):
    """A function of the user's own, such as a metric, failed or returned what cannot be used."""


class ModelFormatError(SpinneyError, ValueError):
    """A model file is damaged, of an unknown version, or not a model file."""


class DatasetFormatError(SpinneyError, ValueError):
    """The folder of a data set is damaged, not whole, of an unknown version, or none of a data set."""


class SketchFormatError(SpinneyError, ValueError):
    """The bytes of a sketch are damaged, of an unknown version, or not those of a sketch."""


class KernelArgumentError(SpinneyError, TypeError):
    """A kernel was called with an array of the wrong dtype, shape or layout."""


class KernelBuildError(SpinneyError, ValueError):
    """The kernel library cannot be built on this machine."""


class MissingPackageError(SpinneyError, ImportError):
    """A package is not there that a part of spinney needs."""


class ClusterError(SpinneyError, RuntimeError):
    """A training on a cluster cannot go on: data or workers are lost, or the same failure comes again and again."""
