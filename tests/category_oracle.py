"""The obvious, slow search for the best split of a categorical column."""

import itertools
from math import ceil, log, pi


def noise_of(g, h):
    """What a split of no use scores on average: the mean square of gradients, by their mean size, over the mean hessian."""
    return pi / 2 * abs(g).mean() ** 2 / h.mean()


def candidate_sets(sums, total, config, min_category):
    """Sets of categories in the order they are tried, each with its charge, and the L2 on top.

    `sums`: (g, h, count) of each category.
    """
    if len(sums) <= config.max_cat_to_onehot:
        return [({b}, 0.0) for b in range(len(sums)) if sums[b][2] > 0], 0.0
    # Rows that the model is sure about have small hessians, and count for less.
    share = total[2] / max(total[1], 1e-300)
    weighed = [min(count, int(h * share + 0.5)) for _, h, count in sums]
    enough = [b for b in range(len(sums)) if weighed[b] >= min_category]
    smooth = config.cat_smooth
    order = sorted(enough, key=lambda b: (sums[b][0] / (sums[b][1] + smooth), b))
    most = min(config.max_cat_threshold, (len(order) + 1) // 2)
    found = []
    for line in (order, order[::-1]):
        held = taken = 0
        for k in range(most):
            held += weighed[line[k]]
            taken += sums[line[k]][2]
            if held < config.min_data_per_group:
                continue
            if total[2] - taken < config.min_data_per_group:
                break
            held = 0
            charge = config.cat_charge * (k + 1) * (1 + log(len(order) / (k + 1)))
            found.append((set(line[: k + 1]), charge))
    return found, config.cat_l2


def best_split(sums, missing, config, noise=0.0):
    """(score, set, missing left) of the best split, None where there is none. A charge is times the noise."""
    total = [sum(part) for part in zip(*sums, missing, strict=True)]
    sets, more = candidate_sets(sums, total, config, max(1, ceil(config.cat_smooth)))
    penalty = config.reg_lambda + more
    best = None
    tried = [*itertools.product(sets, (False, True)), (({*range(len(sums))}, 0.0), False)]
    for (members, charge), left in tried:
        if (left or len(members) == len(sums) > 1) and missing[2] == 0:
            continue
        present = sum(sums[b][2] for b in members)
        other = total[2] - missing[2] - present
        few = 0 < missing[2] < max(1, config.min_child_samples)
        if few and (present < other if left else present > other):
            continue  # few missing values do not join the smaller side
        own = [sum(sums[b][k] for b in members) + (missing[k] if left else 0) for k in range(3)]
        rest = [total[k] - own[k] for k in range(3)]
        if min(own[2], rest[2]) < max(1, config.min_child_samples):
            continue
        if min(own[1], rest[1]) < config.min_child_weight:
            continue
        score = own[0] ** 2 / (own[1] + penalty) + rest[0] ** 2 / (rest[1] + penalty) - charge * noise
        if score < 0:
            continue
        if best is None or score > best[0]:
            best = (score, members, left)
    return best
