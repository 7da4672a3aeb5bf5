"""Figures: one file each; they draw arrays on a given matplotlib Axes and return it."""

from . import marks
from .curve import draw_curve, frequencies
from .path import draw_path, draw_path_pairs
from .reliability import draw_check, draw_murphy, draw_reliability, panels
from .slices import draw_slices
from .surface import draw_surface

__all__ = [
    "draw_check", "draw_curve", "draw_murphy", "draw_path", "draw_path_pairs", "draw_reliability", "draw_slices",
    "draw_surface", "frequencies", "marks", "panels",
]  # fmt: skip
