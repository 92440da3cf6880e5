"""Gradients and hessians of the losses, and the scores' way back to predictions.

Each gradient kernel writes (g, h) pairs as float32, and for every block of rows the largest and the summed absolute values, from
which the tree chooses its fixed-point steps. A block is summed in order by one thread, so these do not depend on the
number of threads.
"""

import numpy as np

from spinney.jit import f32, f64, i64, inline, kernel, out
from spinney.jit.math import exp, log, sigmoid

STAT_BLOCK = 8192  # rows


@inline
def block_stats(pairs, begin, end, stats, at):
    """Largest and summed |g| and h of the pairs of one block.

    Two running sums each, of even and odd rows: one alone would wait for its own last addition.
    """
    max_g = 0.0
    max_h = 0.0
    sum_g = 0.0
    sum_h = 0.0
    odd_g = 0.0
    odd_h = 0.0
    even_end = begin + (end - begin) // 2 * 2
    for i in range(begin, even_end, 2):
        g = abs(float(pairs[2 * i]))
        h = float(pairs[2 * i + 1])
        g1 = abs(float(pairs[2 * i + 2]))
        h1 = float(pairs[2 * i + 3])
        top_g = g if g > g1 else g1
        top_h = h if h > h1 else h1
        max_g = top_g if top_g > max_g else max_g
        max_h = top_h if top_h > max_h else max_h
        sum_g += g
        sum_h += h
        odd_g += g1
        odd_h += h1
    for i in range(even_end, end):
        max_g = max(max_g, abs(float(pairs[2 * i])))
        max_h = max(max_h, float(pairs[2 * i + 1]))
        sum_g += abs(float(pairs[2 * i]))
        sum_h += float(pairs[2 * i + 1])
    stats[at] = max_g
    stats[at + 1] = max_h
    stats[at + 2] = sum_g + odd_g
    stats[at + 3] = sum_h + odd_h


@kernel
def restate(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, outputs: i64, blocks: i64,
    pairs: f32["2 * rows * outputs"], stats: out(f64["4 * blocks * outputs"]),
):
    """Statistics of gradients that have been changed."""
    for b in range(rank, blocks * outputs, size):
        begin = b % blocks * STAT_BLOCK
        block_stats(
            pairs, b // blocks * rows + begin, b // blocks * rows + min(begin + STAT_BLOCK, rows), stats, 4 * b
        )


@kernel
def squared_error_gradients(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, blocks: i64, weighted: i64,
    scores: f64["rows"], target: f64["rows"], weight: f64["rows * weighted"],
    pairs: out(f32["2 * rows"]), stats: out(f64["4 * blocks"]),
):
    """g = F - y, h = 1, both times the weight."""
    for b in range(rank, blocks, size):
        begin = b * STAT_BLOCK
        end = min(begin + STAT_BLOCK, rows)
        for i in range(begin, end):
            w = weight[i] if weighted != 0 else 1.0
            pairs[2 * i] = np.float32((scores[i] - target[i]) * w)
            pairs[2 * i + 1] = np.float32(w)
        block_stats(pairs, begin, end, stats, 4 * b)


@kernel
def log_loss_gradients(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, blocks: i64, weighted: i64,
    scores: f64["rows"], target: f64["rows"], weight: f64["rows * weighted"],
    pairs: out(f32["2 * rows"]), stats: out(f64["4 * blocks"]),
):
    """p = 1/(1+e^-F); g = p - y, h = p(1-p), both times the weight."""
    for b in range(rank, blocks, size):
        begin = b * STAT_BLOCK
        end = min(begin + STAT_BLOCK, rows)
        for i in range(begin, end):
            w = weight[i] if weighted != 0 else 1.0
            p = sigmoid(scores[i])
            pairs[2 * i] = np.float32((p - target[i]) * w)
            pairs[2 * i + 1] = np.float32(p * (1.0 - p) * w)
        block_stats(pairs, begin, end, stats, 4 * b)


@kernel
def softmax_gradients(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, blocks: i64, weighted: i64, outputs: i64, threads: i64,
    scores: f64["rows * outputs"], target: f64["rows"], weight: f64["rows * weighted"],
    pairs: out(f32["2 * rows * outputs"]), stats: out(f64["4 * blocks * outputs"]),
    scratch: out(f64["16384 * threads"]),
):
    """p = softmax(F); g = p - 1[y = class], h = K/(K-1) p(1-p), both times the weight."""
    factor = float(outputs) / float(outputs - 1)
    largest = rank * 2 * STAT_BLOCK
    norm = largest + STAT_BLOCK
    for b in range(rank, blocks, size):
        begin = b * STAT_BLOCK
        end = min(begin + STAT_BLOCK, rows)
        for i in range(begin, end):
            scratch[largest + i - begin] = scores[i]
            scratch[norm + i - begin] = 0.0
        for k in range(1, outputs):
            for i in range(begin, end):
                s = scores[k * rows + i]
                top = scratch[largest + i - begin]
                scratch[largest + i - begin] = s if s > top else top
        # Exponentials wait in `pairs` (g and h of a pair as the two halves of a float64 are not enough): summed, then redone.
        for k in range(outputs):
            for i in range(begin, end):
                scratch[norm + i - begin] += exp(scores[k * rows + i] - scratch[largest + i - begin])
        for k in range(outputs):
            at = k * rows
            for i in range(begin, end):
                w = weight[i] if weighted != 0 else 1.0
                p = exp(scores[at + i] - scratch[largest + i - begin]) / scratch[norm + i - begin]
                y = 1.0 if target[i] == float(k) else 0.0
                pairs[2 * (at + i)] = np.float32((p - y) * w)
                pairs[2 * (at + i) + 1] = np.float32(factor * p * (1.0 - p) * w)
            block_stats(pairs, at + begin, at + end, stats, 4 * (k * blocks + b))


@kernel
def sigmoid_all(rank: i64, size: i64, sync: out(i64["32"]), count: i64, scores: f64["count"], result: out(f64["count"])):
    """Logistic function of every score."""
    for i in range(count * rank // size, count * (rank + 1) // size):
        result[i] = sigmoid(scores[i])


@kernel
def softmax_all(
    rank: i64, size: i64, sync: out(i64["32"]), rows: i64, outputs: i64,
    scores: f64["rows * outputs"], result: out(f64["rows * outputs"]),
):
    """Softmax of every row of a row-major table of scores."""
    for i in range(rows * rank // size, rows * (rank + 1) // size):
        top = scores[i * outputs]
        for k in range(1, outputs):
            top = max(top, scores[i * outputs + k])
        total = 0.0
        for k in range(outputs):
            e = exp(scores[i * outputs + k] - top)
            result[i * outputs + k] = e
            total += e
        for k in range(outputs):
            result[i * outputs + k] /= total


@kernel
def log_all(count: i64, values: f64["count"], result: out(f64["count"])):
    """Natural logarithm of every value."""
    for i in range(count):
        result[i] = log(values[i])
