"""Sums of a node → its best weight and what that saves. Sums and weights may be in any units, if all are."""

from spinney.jit.inline import inline

INVALID = -1.0
# A smaller penalty cannot keep a side without hessian from being divided by nothing, so each side must have some.
LEAST = 1e-30


@inline
def shrunk(g, alpha):
    """Gradient sum after L1 shrinkage."""
    if g > alpha:
        return g - alpha
    if g < -alpha:
        return g + alpha
    return 0.0


@inline
def node_score(g, h, reg_lambda, reg_alpha, max_step):
    """Twice the loss that a node saves by its best weight: G²/(H+λ), with L1 and the step limit taken into account."""
    s = shrunk(g, reg_alpha)
    d = h + reg_lambda
    if d <= 0.0:
        return 0.0
    if max_step == 0.0:
        return s * s / d
    w = min(max(-s / d, -max_step), max_step)
    return -(2.0 * s * w + d * w * w)


@inline
def node_weight(g, h, reg_lambda, reg_alpha, max_step):
    """Best weight of a leaf."""
    d = h + reg_lambda
    if d <= 0.0:
        return 0.0
    w = -shrunk(g, reg_alpha) / d
    if max_step > 0.0:
        w = min(max(w, -max_step), max_step)
    return w


@inline
def least_hessian(penalty, scales):
    """Hessian that a side must have, in units of the search."""
    return max(scales.min_hessian, LEAST if penalty < LEAST else 0.0)
