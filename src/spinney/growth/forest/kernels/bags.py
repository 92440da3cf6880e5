"""The rows of a tree: its bag, as records."""

import numpy as np

from spinney.growth.forest.kernels.access import payload_of
from spinney.growth.forest.kernels.records import ABSOLUTE, MOVED, ROW, TARGET, WEIGHT
from spinney.jit.inline import inline
from spinney.sampling.kernels.bootstrap import fill_counts

MOST_STEPS = 1073741824.0  # that a tree weighs, so that sums of targets fit 62 bits
# The same where sums and weights share 62 bits: what weights take is missing for targets, which have 18 bits or more at the root.
PACKED_STEPS = 8388608.0
STEPS_OF_ROW = 16.0  # or more, on average; many rows leave less for targets


@inline
def fill_bag(seed, rules, target, counts):
    """How often the tree has each row."""
    if rules.every_row != 0:
        for i in range(target.rows):
            counts[i] = 1
    else:
        fill_counts(seed, target.rows, rules.drawn, rules.replace, counts, 0)


@inline
def balance(target, rules, counts, factors):
    """Factors that give all classes of the bag the same weight, in every output."""
    if rules.balanced != 0:
        for k in range(target.values):
            factors[k] = 0.0
        total = 0.0
        for i in range(target.rows):
            total += float(counts[i])
            for o in range(target.outputs):
                factors[target.first[o] + target.steps[i * target.outputs + o]] += float(counts[i])
        for o in range(target.outputs):
            end = target.first[o + 1] if o + 1 < target.outputs else target.values
            present = 0
            for k in range(target.first[o], end):
                present += 1 if factors[k] > 0.0 else 0
            for k in range(target.first[o], end):
                factors[k] = total / (float(present) * factors[k]) if factors[k] > 0.0 else 0.0


@inline
def weight_in_bag(i, target, balanced, counts, factors):
    """Real weight of a row: how often it was drawn, times its own weight and those of its classes."""
    weight = float(counts[i])
    if target.weighted != 0:
        weight *= target.weights[i]
    if balanced != 0:
        for o in range(target.outputs):
            weight *= factors[target.first[o] + target.steps[i * target.outputs + o]]
    return weight


@inline
def most_steps(target, rules):
    """Twice the steps that all rows of a tree may weigh."""
    if rules.target_bits == 1 or rules.formula == ABSOLUTE:
        return MOST_STEPS
    most = PACKED_STEPS
    while most < STEPS_OF_ROW * float(target.rows) and most < MOST_STEPS:
        most *= 2.0
    return most


@inline
def weight_step(target, rules, counts, factors):
    """Real weight of a step: 1 where all weights are whole, else the smallest power of two with which the sum fits."""
    if target.weighted == 0 and rules.balanced == 0:
        return 1.0
    total = 0.0
    whole = True
    for i in range(target.rows):
        weight = weight_in_bag(i, target, rules.balanced, counts, factors)
        total += weight
        whole = whole and weight == np.floor(weight)
    most = most_steps(target, rules)
    if whole and total < most * 0.5:
        return 1.0
    step = 1.0
    while total < most * 0.25 * step and step > 1e-290:
        step *= 0.5
    while total >= most * 0.5 * step and step < 1e290:
        step *= 2.0
    return step


@inline
def fill_records(step, stride, others, target, rules, counts, factors, rows):
    """Write a record for every row of the bag that has a weight. A row of the table has `stride` words. Returns how many,
    and the weight of the heaviest one.
    """
    words = rows.words
    code_words = words if rules.access == MOVED else np.int64(0)
    made = np.int64(0)
    heaviest = np.int64(0)
    for i in range(target.rows):
        if counts[i] != 0:
            weight = weight_in_bag(i, target, rules.balanced, counts, factors)
            steps = np.int64(np.floor(weight / step + 0.5))
            if weight > 0.0:
                for k in range(min(code_words, stride)):
                    rows.memory[made * words + k] = others.words[i * stride + k]
                place = payload_of(made, words)
                rows.ints[place - ROW] = i
                steps = max(steps, np.int64(1))
                rows.ints[place - WEIGHT] = steps
                heaviest = max(heaviest, steps)
                rows.ints[place - TARGET] = target.steps[i * target.outputs]
                made += 1
    return made, heaviest
