"""Figures: one file each; they draw arrays on a given matplotlib Axes and return it."""

from . import marks
from .curve import draw_curve, frequencies
from .path import draw_path, draw_path_pairs
from .slices import draw_slices
from .surface import draw_surface

__all__ = ["draw_curve", "draw_path", "draw_path_pairs", "draw_slices", "draw_surface", "frequencies", "marks"]
