"""Calibration and fusion methods: one file each, recipe and curve together. base.py is the whole contract."""

from .base import Curve, Recipe
from .bernstein import Bernstein

__all__ = ["Bernstein", "Curve", "Recipe"]
