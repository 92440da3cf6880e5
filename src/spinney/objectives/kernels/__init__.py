"""Gradients and hessians of the losses, a file each, and the scores' way back to predictions.

`pointwise` is the frame around losses of one score: such a loss gives the formula for one row.
"""
