"""`Checkpoint`: the finished rounds of a training, from which another run of it goes on.

Where a rank is lost, a run is over. Another one, on any ranks that hold the rows, adds the trees of the finished rounds of all
members to the scores again, and callbacks and early stopping get these rounds again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spinney.errors import ParameterError
from spinney.metrics import MetricValue
from spinney.tree import Tree

Evals = dict[str, list[MetricValue]]


@dataclass(frozen=True, eq=False)
class RoundRecord:
    """A finished round.

    Attributes
    ----------
    number : int
        Rounds of the model so far, those of `init_model` included.
    trees : list of Tree
        One for each output.
    evals : dict
        Values of the metrics for each validation set.
    refit : bool
        Whether all rows were fitted again, with as many rounds as were best without some.
    before : dict
        Values of the model that the training goes on from, where there is one.
    member : int
        Number of the model in a mean of several.
    """

    number: int
    trees: list[Tree]
    evals: Evals
    refit: bool = False
    before: Evals = field(default_factory=dict)
    member: int = 0


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Rounds of a training that was interrupted, all from the first one on, maybe on other ranks.

    Their trees are added to the scores again, and callbacks and early stopping get their values again. So the model, and the
    state of callbacks in the end, are those of a training that was never interrupted.

    Attributes
    ----------
    rounds : tuple of RoundRecord
        Those of one member after the other; of each the search comes first, then the rounds that fit all rows again.
    """

    rounds: tuple[RoundRecord, ...] = ()

    def of(self, member: int = 0, *, refit: bool, start: int, most: int, outputs: int) -> list[RoundRecord]:
        """The rounds of a member: those of its search, or of its refit.

        Raises
        ------
        ParameterError
            If they are not the first ones after `start` of a training of at most so many rounds.
        """
        found = [one for one in self.rounds if one.member == member and one.refit is refit]
        numbers = [one.number for one in found]
        if len(found) > most or numbers != list(range(start + 1, start + 1 + len(found))):
            raise ParameterError(
                f"the checkpoint has rounds {numbers} of a training of {most}; it must have the first of them, from {start + 1} "
                "on"
            )
        if any(len(one.trees) != outputs for one in found):
            raise ParameterError(
                f"every round of the checkpoint must have {outputs} trees, one for each output"
            )
        return found


NOTHING_DONE = Checkpoint()
