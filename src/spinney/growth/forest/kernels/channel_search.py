"""Searching the columns chosen for a node that has a weight and several sums."""

import numpy as np

from spinney.growth.forest.kernels.access import payload_of, weight_of
from spinney.growth.forest.kernels.channels import (
    add_record, add_with_weight, cut_categories_of_channels, cut_channels, draw_categories_of_channels, list_channels,
    score_channels,
)  # fmt: skip
from spinney.growth.forest.kernels.codes import read_codes
from spinney.growth.forest.kernels.drawn import (
    MOST_CLASSES, cut_of_drawn, draw_numbers, may_draw_together, rows_in_bytes, sum_drawn_classes,
)  # fmt: skip
from spinney.growth.forest.kernels.entries import entries_of, has_sparse
from spinney.growth.forest.kernels.few import is_plain
from spinney.growth.forest.kernels.light import (
    cut_light_classes, has_few_classes, has_one_cut, is_light, search_few_light_rows, try_one_cut,
)  # fmt: skip
from spinney.growth.forest.kernels.pairs import (
    DECIDE_LATER, code_range, goes_left_of, keep_best, keep_drawn, range_of_entries, try_drawn_cut,
)  # fmt: skip
from spinney.growth.forest.kernels.records import FEW_ROWS, MOVED, SQUARES, TARGET, WEIGHT
from spinney.jit.inline import inline


@inline
def add_left_classes(group, cut, node, target, rows, left):
    """Sum the classes of a node's rows whose codes, which records hold, are at most `cut`. Returns how many rows these are."""
    words = rows.words
    place = node.begin * words * 8 + group
    numbers = payload_of(node.begin, words)
    on_left = np.int64(0)
    for _ in range(node.begin, node.end):
        go = np.int64(1) if np.int64(rows.bytes[place]) <= cut else np.int64(0)
        weight = np.int64(rows.ints[numbers - WEIGHT]) & -go
        left[0] += weight
        left[1 + np.int64(rows.ints[numbers - TARGET])] += weight
        on_left += go
        place += words * 8
        numbers += words * 2
    return on_left


@inline
def draw_sparse_of_channels(draw, column, bins, node, data, values, target, rules, rows, mine):
    """Try one cut of a sparse column. What is on the side of its default bin is what the entries on the other side leave."""
    count = node.end - node.begin
    default = data.features.default[column]
    first, found = entries_of(column, node.begin, node.end, data, rows, mine)
    low, high, missing = range_of_entries(bins, first, found, count, default, mine)
    if high < 0 or (low == high and not missing):
        return 0
    cut, default_left = try_drawn_cut(draw, column, bins, low, high, missing, values.starts[column], node, values)
    rest_left = goes_left_of(default, cut, bins, default_left)
    on_left = count if rest_left else np.int64(0)
    for k in range(target.channels + 1):
        mine.left[k] = node.totals[k] if rest_left else np.int64(0)
    for k in range(first, first + found):
        if goes_left_of(np.int64(mine.entry_bins[k]), cut, bins, default_left) != rest_left:
            i = node.begin + mine.entry_places[k]
            weight = weight_of(i, rows)
            add_with_weight(i, -weight if rest_left else weight, mine.left, 0, target, rows)
            on_left += -1 if rest_left else 1
    score = score_channels(on_left, mine.left, node, target, rules)
    keep_drawn(score, column, cut, default_left, mine)
    return 1


@inline
def draw_cut_of_channels(draw, column, bins, node, data, others, values, target, rules, rows, mine):
    """Try one cut of a column, drawn uniformly in the range of the node's values. Returns 1 unless the column is constant."""
    held = rules.access == MOVED and target.outputs == 1
    low = np.int64(0)
    high = bins
    missing = False
    if held:
        low = np.int64(mine.low[data.features.group_of[column]])
        high = np.int64(mine.high[data.features.group_of[column]])
    if has_sparse(data, rules) and data.features.group_of[column] < 0:
        return draw_sparse_of_channels(draw, column, bins, node, data, values, target, rules, rows, mine)
    if high == bins:
        read_codes(column, node.begin, node.end, data, others, rules, rows, mine)
        low, high, missing = code_range(bins, node.end - node.begin, mine.line)
        held = False
    if high < 0 or (low == high and not missing):
        return 0
    cut, default_left = try_drawn_cut(draw, column, bins, low, high, missing, values.starts[column], node, values)
    for k in range(target.channels + 1):
        mine.left[k] = 0
    on_left = np.int64(0)
    if held:
        on_left = add_left_classes(data.features.group_of[column], cut, node, target, rows, mine.left)
    else:
        for i in range(node.begin, node.end):
            code = np.int64(mine.line[i - node.begin])
            if goes_left_of(code, cut, bins, default_left):
                add_record(i, mine.left, 0, target, rows)
                on_left += 1
    score = score_channels(on_left, mine.left, node, target, rules)
    keep_drawn(score, column, cut, default_left, mine)
    return 1


@inline
def judge_drawn_classes(k, node, values, target, rules, mine):
    """Judge the cut drawn for one of some columns."""
    channels = target.channels
    weight = np.int64(0)
    for channel in range(channels):
        part = mine.left_classes[k * channels + channel]
        mine.left[1 + channel] = part
        weight += part
    mine.left[0] = weight
    score = score_channels(weight, mine.left, node, target, rules)
    if score > mine.best[0].score:
        keep_best(score, mine.chosen[k], cut_of_drawn(k, node, values, mine), 0, DECIDE_LATER, 0, mine)


@inline
def search_channels(count, node, data, others, values, target, rules, rows, words, mine):
    """Look for the best split in the columns chosen. Returns how many are not constant."""
    good = np.int64(0)
    counted = rules.min_leaf > 1
    light = is_light(node, target, rules)
    held = rules.access == MOVED and target.classes != 0 and target.outputs == 1
    drawn = False
    if rules.random != 0 and held and target.channels <= MOST_CLASSES and may_draw_together(node, rules):
        draw_numbers(count, node, data, values, mine)
        drawn = sum_drawn_classes(count, target.channels, node, values, rows, mine)
    begin = np.int64(0)
    if light and rules.random == 0 and node.end - node.begin <= FEW_ROWS:
        begin = search_few_light_rows(count, node, data, values, rules, rows, mine)
        if begin == count:
            return count
        good = begin
    at_once = rows_in_bytes(node) if has_few_classes(target, rules) else np.int64(0)
    free = rules.formula == SQUARES and node.min_weight == 0.0 and at_once > 0
    for k in range(begin, count):
        if mine.best[0].score >= node.perfect:
            return good
        column = mine.chosen[k]
        bins = values.codes[column]
        categorical = data.features.categorical[column] != 0
        if drawn and mine.drawn[k].odd == 0:
            judge_drawn_classes(k, node, values, target, rules, mine)
            good += 1
            continue
        if rules.random != 0 and not categorical:
            good += draw_cut_of_channels(mine.chosen_draw[k], column, bins, node, data, others, values, target, rules, rows, mine)
            continue
        if free and is_plain(column, bins, data, mine) and has_one_cut(column, data, mine):
            try_one_cut(at_once, column, bins, node, data, values, target, rules, rows, mine)
            good += 1
            continue
        if light and not categorical:
            found = cut_light_classes(column, bins, node, data, values, target, rules, rows, mine)
            if found >= 0:
                good += found
                continue
        listed = list_channels(column, bins + 1, counted, node, data, others, target, rules, rows, mine)
        if listed < 2:
            continue
        good += 1
        if not categorical:
            cut_channels(listed, column, bins, node, values, target, rules, mine)
        elif rules.random != 0:
            draw_categories_of_channels(mine.chosen_draw[k], listed, column, bins, node, target, rules, words, mine)
        else:
            cut_categories_of_channels(listed, column, bins, node, data, others, target, rules, rows, words, mine)
    return good
