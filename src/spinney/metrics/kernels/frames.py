"""The frames around losses: weighted sums over blocks of rows."""

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, framed, hole, i64, inline, out, own, record

BLOCK = 8192  # rows


@record(per_thread=True)
class Losses:
    """A thread's own memory for the losses of a block of rows."""

    losses: out(f64["BLOCK"])


loss = hole("the loss of one row")


@inline
def weight_of(labels, i):
    """Weight of a row."""
    return labels.weight[i] if labels.weighted != 0 else 1.0


def one_value(
    team: Member, labels: LabelArrays, outputs: i64, count: i64, parameters: f64["count"], blocks: i64,
    values: f64["labels.rows * outputs"], room: Losses, sums: out(f64["blocks"]),
):
    """Weighted sum of the losses of each block of rows."""
    losses = own(room, team.rank).losses
    for b in range(team.rank, blocks, team.size):
        begin = b * BLOCK
        rows = min(BLOCK, labels.rows - begin)
        # Losses first, which the compiler turns into vectors, then their sum in order: log loss in one loop takes 60 ns a row.
        for i in range(rows):
            w = weight_of(labels, begin + i)
            one = w * loss(values[begin + i], labels.target[begin + i], parameters)
            losses[i] = one if w > 0.0 else 0.0
        total = 0.0
        for i in range(rows):
            total += losses[i]
        sums[b] = total


def all_values(
    team: Member, labels: LabelArrays, outputs: i64, count: i64, parameters: f64["count"], blocks: i64,
    values: f64["labels.rows * outputs"], room: Losses, sums: out(f64["blocks"]),
):
    """Weighted sum of the losses of each block of rows."""
    for b in range(team.rank, blocks, team.size):
        total = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, labels.rows)):
            w = weight_of(labels, i)
            if w > 0.0:
                total += w * loss(values, i, labels.rows, outputs, labels.target[i])
        sums[b] = total


def one_value_of_interval(
    team: Member, labels: LabelArrays, outputs: i64, count: i64, parameters: f64["count"], blocks: i64,
    values: f64["labels.rows * outputs"], room: Losses, sums: out(f64["blocks"]),
):
    """Weighted sum of the losses of each block of rows."""
    rows = labels.rows
    for b in range(team.rank, blocks, team.size):
        total = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, rows)):
            w = weight_of(labels, i)
            if w > 0.0:
                total += w * loss(values[i], labels.target[i], labels.target[rows + i], parameters)
        sums[b] = total


def pointwise(name, loss):
    """The kernel `<name>_losses` of a metric: `loss(value, target, parameters)` gives the loss of one row.

    The value is a score or a prediction, as the metric's row in `params` says, and the parameters are those that it names.
    """
    return framed(f"{name}_losses", one_value, loss=loss)


def by_class(name, loss):
    """The same where rows have several values: `loss(values, row, rows, outputs, target)`; values stand by output and row."""
    return framed(f"{name}_losses", all_values, loss=loss)


def of_intervals(name, loss):
    """The same where targets are intervals: `loss(value, lower, upper, parameters)`."""
    return framed(f"{name}_losses", one_value_of_interval, loss=loss)
