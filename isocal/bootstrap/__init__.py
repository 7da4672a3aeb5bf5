"""Replicates of a fit, from arrays and recipes: how rows are drawn again, the refits, what is computed from them."""

from .quantities import coefficients, losses, places, scores, slopes
from .refits import Replicates, Rows, refit
from .sampling import LEAST, METHODS, LeftOut, Sampling, group_codes, new_seed
from .volatility import chosen_size

__all__ = [
    "LEAST", "METHODS", "LeftOut", "Replicates", "Rows", "Sampling", "chosen_size", "coefficients", "group_codes",
    "losses", "new_seed", "places", "refit", "scores", "slopes",
]  # fmt: skip
