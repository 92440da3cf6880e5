"""`QuantileSketch`: quantiles of a stream of weighted values, in little memory."""

from __future__ import annotations

import copy
import numbers
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.binning.sketch_state import (
    BLOCK,
    SMALLEST_EPS,
    SketchBatch,
    Store,
    read_numbers,
    read_store,
    write_store,
)
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from spinney.jit.team import Team, threads_for
from spinney.messages import shown
from spinney.params import checked_jobs

TIE = 1e-13  # shares of the mass that differ by less are equal: they are running sums of many weights


class QuantileSketch:
    """Quantiles of any number of weighted values in one pass, wrong by at most `eps` of the total weight.

    Parameters
    ----------
    eps : float, default=0.001
        Largest error of a rank, as a share of the total weight; 1e-7 to 0.5.
    n_jobs : int, optional
        Threads to update with; the sketch does not depend on it.

    Notes
    -----
    *Promise.* F(z), the weight of the values below z, is estimated with an error of at most eps times the total weight, for
    every z, whatever the values and weights, in any order, in batches of any size, after any tree of merges; rounding adds
    less than 1e-9. Nothing is random. The sketch depends on the sequence of values alone, bit for bit: neither on how it was
    cut into batches nor on threads. Merging in another order gives another sketch that keeps the same promise.

    *Algorithm.* Values are collected into blocks of 65 536. A full block is sorted and becomes a summary: ascending points
    with masses. There is at most one summary of each level; where a second one comes, both are merged, and where the result
    has more than m(l) = 3 (max(l, 1) + 2) / eps + 2 points, it is pruned and goes up one level, as a carry does. Pruning
    takes neighbouring points together, as long as at most d of a group's mass lies on either side of the point that stands
    for it.

    *Proof.* (1) Two summaries together are wrong by at most the sum of their errors, as F is a sum over values. (2) Groups
    keep their mass, so pruning moves F only inside a group, and there by at most d. (3) A summary of level l and mass W is
    allowed the error e(l) W, where e(l) = eps (1/9 + 1/12 + ... + 1/(3 (l + 2))); d is what merged summaries leave of
    e(l + 1) W, at least eps W / (3 (l + 3)). (4) So, by induction over any tree of merges, each summary keeps its allowance:
    only its level counts, not how it came about. (5) A summary of level l >= 1 holds at least 2^(l-1) blocks, so among fewer
    than 2^62 values no level is above 47, and e(47) < eps: the errors of all summaries add up to at most eps times the total.

    *Memory.* Each group but the last has more than d of mass up to and with its point, so there are at most W / d + 1
    groups, which is within m(l). With n values and L = 1 + log2(n / 65 536) that makes at most 16 (m(0) + ... + m(L)) bytes,
    and 16 for each value of the unfinished block: O((1/eps) log(n)^2), or, since L is at most 47, never more than 147/eps + 2
    points for each doubling of n. As long as points fit nothing is pruned, so that few values, or few distinct ones, are
    answered exactly.

    It is the merge and prune of Greenwald and Khanna and of XGBoost's weighted sketch, with masses in place of rank
    intervals, in the binary counter that makes it mergeable in any order (Agarwal et al., "Mergeable summaries", 2012).

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> sketch = sp.QuantileSketch(0.01).update(np.arange(1000.0)).update([np.nan, 1000.0])
    >>> sketch
    QuantileSketch(eps=0.01, count=1001, missing=1)
    >>> sketch.quantile([0.0, 0.5, 1.0]).tolist()
    [0.0, 500.0, 1000.0]
    """

    _block = BLOCK

    def __init__(self, eps: float = 0.001, *, n_jobs: int | None = None) -> None:
        if not isinstance(eps, int | float | np.integer | np.floating) or isinstance(eps, bool):
            raise ParameterTypeError(f"eps must be a number, got {type(eps).__name__}")
        if not SMALLEST_EPS <= eps <= 0.5:
            raise ParameterError(f"eps = {shown(eps)} must be from {SMALLEST_EPS} to 0.5")
        self.n_jobs = checked_jobs(n_jobs)
        self._store = Store(float(eps), self._block)

    @property
    def eps(self) -> float:
        """Largest error of a rank, as a share of the total weight."""
        return self._store.eps

    @property
    def count(self) -> int:
        """Values seen that weigh something."""
        return self._store.count

    @property
    def missing(self) -> int:
        """NaN seen."""
        return self._store.missing

    @property
    def total(self) -> float:
        """Weight of all values."""
        return self._store.total

    @property
    def error(self) -> float:
        """What ranks are wrong by at most, as a share of the total weight: 0 while all is exact, never above `eps`."""
        total = self.total
        return sum((summary.error / total for summary in self._store.summaries), 0.0)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self._store.nbytes

    def update(self, values: ArrayLike, weights: ArrayLike | None = None) -> QuantileSketch:
        """Add values.

        Parameters
        ----------
        values : array-like of shape (n,), or a column of a frame
            Numbers of any type; they count as float64. NaN is counted in `missing` and else ignored.
        weights : array-like of shape (n,), optional
            Finite, 0 or more. Values of weight 0 are ignored.

        Returns
        -------
        QuantileSketch
            This one.

        Raises
        ------
        DataError
            If a value is infinite, or a weight negative, infinite or NaN. The sketch is then as it was before.
        """
        column = read_numbers(values, "values")
        mass = None if weights is None else read_numbers(weights, "weights").astype(np.float64, copy=False)
        if mass is not None and len(mass) != len(column):
            raise DataError(
                f"weights has {len(mass)} values, but values has {len(column)}; give one weight for each"
            )
        if len(column):
            with Team(threads_for(self.n_jobs, len(column) // self._block)) as team:
                batch = SketchBatch(column, mass, team)
                self._store.check_space(batch.count, batch.missing, batch.total)
                self._store.take(batch, team)
        return self

    def merge(self, other: QuantileSketch) -> QuantileSketch:
        """Add all that another sketch of the same `eps` has seen; it stays as it is.

        Examples
        --------
        >>> import spinney as sp
        >>> sp.QuantileSketch(0.1).update([1, 2]).merge(sp.QuantileSketch(0.1).update([9])).quantile(0.5)
        2.0
        """
        if not isinstance(other, QuantileSketch):
            raise DataTypeError(f"other must be a spinney.QuantileSketch, got {type(other).__name__}")
        if other.eps != self.eps or other._block != self._block:
            raise DataError(
                f"a sketch of eps = {other.eps} cannot be merged into one of eps = {self.eps}; make both alike"
            )
        self._store.check_space(other.count, other.missing, other.total)
        self._store.merge(other._store)
        return self

    def __copy__(self) -> QuantileSketch:
        """Return a sketch of its own: points are never shared."""
        return copy.deepcopy(self)

    @overload
    def quantile(self, q: float) -> float: ...
    @overload
    def quantile(self, q: ArrayLike) -> float | NDArray[np.float64]: ...
    def quantile(self, q: ArrayLike) -> float | NDArray[np.float64]:
        """Find the smallest value that has the share `q` of the weight at or below it.

        Where a value has exactly that share, the answer is half-way to the next one, as in NumPy's method
        "averaged_inverted_cdf". 0 and 1 give the smallest and the largest value seen.

        Parameters
        ----------
        q : float or array-like
            From 0 to 1.

        Returns
        -------
        float or ndarray
            Of the shape of `q`.

        Examples
        --------
        >>> import spinney as sp
        >>> sp.QuantileSketch().update([1, 2, 3, 4, 5], [0.1, 0.1, 0.5, 0.2, 0.1]).quantile([1 / 3, 2 / 3]).tolist()
        [3.0, 3.0]
        """
        wanted = _floats(q, "q")
        if not np.all((wanted >= 0.0) & (wanted <= 1.0)):
            raise ParameterError(f"q = {q!r} must be from 0 to 1")
        points, shares = self._shares()
        found = _inverse(points, shares, wanted.ravel()).reshape(wanted.shape)
        found = np.where(wanted <= 0.0, self._store.low, np.where(wanted >= 1.0, self._store.high, found))
        return found if wanted.ndim else float(found)

    @overload
    def rank(self, z: float) -> float: ...
    @overload
    def rank(self, z: ArrayLike) -> float | NDArray[np.float64]: ...
    def rank(self, z: ArrayLike) -> float | NDArray[np.float64]:
        """Give the weight of the values below `z`, as a share of the total weight.

        Parameters
        ----------
        z : float or array-like
            Any numbers but NaN.

        Returns
        -------
        float or ndarray
            Of the shape of `z`.

        Examples
        --------
        >>> import spinney as sp
        >>> sp.QuantileSketch().update([1, 2, 3, 4]).rank([1, 2.5, 9]).tolist()
        [0.0, 0.5, 1.0]
        """
        places = _floats(z, "z")
        if np.isnan(places).any():
            raise ParameterError("z holds NaN, which has no rank")
        points, shares = self._shares()
        found = np.concatenate([[0.0], shares])[np.searchsorted(points, places)]
        return found if places.ndim else float(found)

    def cuts(self, k: int) -> NDArray[np.float64]:
        """Find values that cut the weight into `k` about equal parts; a value equal to a cut is below it.

        Parameters
        ----------
        k : int
            Parts, 1 or more.

        Returns
        -------
        ndarray
            The quantiles of 1/k, 2/k, ..., ascending, at most k - 1: of those between the same two neighbouring values the
            first. Where there are no more than `k` distinct values, one cut half-way between each two.

        Examples
        --------
        >>> import spinney as sp
        >>> sp.QuantileSketch().update([1.2, 2.3, 2.8, 3.5, 4.1, 5.0, 5.5, 6.2, 7.8, 9.1]).cuts(4).tolist()
        [2.8, 4.55, 6.2]
        """
        if not isinstance(k, numbers.Integral) or isinstance(k, bool):
            raise ParameterTypeError(f"k must be a whole number, got {type(k).__name__}")
        if k < 1:
            raise ParameterError(f"k = {k} must be 1 or more")
        points, shares = self._shares()
        if len(points) <= k:
            low, high = points[:-1], points[1:]
            middle = low * 0.5 + high * 0.5
            return np.where((low <= middle) & (middle < high), middle, low)
        found = _inverse(points, shares, np.arange(1, k) / k)
        gaps, firsts = np.unique(np.searchsorted(points, found, side="right"), return_index=True)
        inner: NDArray[np.float64] = found[firsts[gaps < len(points)]]
        return inner

    def points(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the points that stand for the values, ascending, and the weight that each stands for.

        Examples
        --------
        >>> import spinney as sp
        >>> points, masses = sp.QuantileSketch().update([3, 1, 3]).points()
        >>> points.tolist(), masses.tolist()
        ([1.0, 3.0], [1.0, 2.0])
        """
        return self._store.points()

    def to_bytes(self) -> bytes:
        """Write the sketch; the same sketch gives the same bytes.

        Examples
        --------
        >>> import spinney as sp
        >>> sp.QuantileSketch.from_bytes(sp.QuantileSketch(0.1).update([1, 2, 3]).to_bytes())
        QuantileSketch(eps=0.1, count=3, missing=0)
        """
        return write_store(self._store)

    @classmethod
    def from_bytes(cls, data: bytes, *, n_jobs: int | None = None) -> QuantileSketch:
        """Read what `to_bytes` wrote.

        Every field is checked: whatever the bytes, the answer is a sound sketch or a `SketchFormatError`.
        """
        store = read_store(data, cls._block)
        sketch = cls(store.eps, n_jobs=n_jobs)
        sketch._store = store
        return sketch

    def __repr__(self) -> str:
        return f"QuantileSketch(eps={self.eps}, count={self.count}, missing={self.missing})"

    def _shares(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The points, and the share of the weight that is at or below each."""
        if self.count == 0:
            raise DataError("the sketch is empty: update it with values first")
        points, masses = self.points()
        below = np.cumsum(masses)
        return points, below / below[-1]


def _inverse(
    points: NDArray[np.float64], shares: NDArray[np.float64], q: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Quantiles, half-way to the next point where a share is met exactly."""
    last = len(points) - 1
    at = np.minimum(np.searchsorted(shares, q - TIE), last)
    after = np.where(shares[at] - q <= TIE, np.minimum(at + 1, last), at)
    return np.where(at == after, points[at], points[at] * 0.5 + points[after] * 0.5)


def _floats(values: ArrayLike, what: str) -> NDArray[np.float64]:
    try:
        found = np.asarray(values)
    except ValueError as error:
        raise ParameterTypeError(f"{what} must be a number or an array of numbers: {error}") from error
    if found.dtype.kind not in "iuf" and found.size:
        raise ParameterTypeError(f"{what} must be a number or an array of numbers, got {found.dtype}")
    return found.astype(np.float64)
