"""Calibration and fusion methods: one file each, recipe and curve together. base.py is the whole contract."""

from .base import Curve, Recipe
from .bbq import BBQ
from .bernstein import Bernstein
from .beta import Beta
from .fuse import Fuse
from .histogram import Histogram
from .identity import Identity
from .isotonic import Isotonic
from .logistic_fusion import LogisticFusion
from .mean_score import MeanScore
from .platt import Platt
from .temperature import Temperature

__all__ = [
    "BBQ", "Bernstein", "Beta", "Curve", "Fuse", "Histogram", "Identity", "Isotonic", "LogisticFusion",
    "MeanScore", "Platt", "Recipe", "Temperature",
]  # fmt: skip
