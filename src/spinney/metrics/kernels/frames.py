"""The frames around losses: weighted sums over blocks of rows."""

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, framed, i64, inline, out

BLOCK = 8192  # rows


@inline
def weight_of(labels, i):
    """Weight of a row."""
    return labels.weight[i] if labels.weighted != 0 else 1.0


def one_score(
    team: Member, labels: LabelArrays, outputs: i64, blocks: i64, scores: f64["labels.rows * outputs"],
    sums: out(f64["blocks"]),
):
    """Weighted sum of the losses of each block of rows."""
    for b in range(team.rank, blocks, team.size):
        total = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, labels.rows)):
            w = weight_of(labels, i)
            if w > 0.0:
                total += w * loss(scores[i], labels.target[i])
        sums[b] = total


def all_scores(
    team: Member, labels: LabelArrays, outputs: i64, blocks: i64, scores: f64["labels.rows * outputs"],
    sums: out(f64["blocks"]),
):
    """Weighted sum of the losses of each block of rows."""
    for b in range(team.rank, blocks, team.size):
        total = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, labels.rows)):
            w = weight_of(labels, i)
            if w > 0.0:
                total += w * loss(scores, i, labels.rows, outputs, labels.target[i])
        sums[b] = total


def pointwise(name, loss):
    """The kernel `<name>_losses` of a metric: `loss(score, target)` gives the loss of one row."""
    return framed(f"{name}_losses", one_score, loss=loss)


def by_class(name, loss):
    """The same where rows have several scores: `loss(scores, row, rows, outputs, target)`; scores stand by output and row."""
    return framed(f"{name}_losses", all_scores, loss=loss)
