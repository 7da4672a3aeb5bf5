"""Calibration and fusion methods: one file each, recipe and curve together. base.py is the whole contract."""

from .base import Curve, Recipe
from .bbq import BBQ
from .bernstein import Bernstein
from .beta import Beta
from .copula_fusion import CopulaFusion
from .fuse import Fuse
from .histogram import Histogram
from .identity import Identity
from .isotonic import Isotonic
from .logistic_fusion import LogisticFusion
from .mean_score import MeanScore
from .mr_mic import MRMIC
from .platt import Platt
from .temperature import Temperature

__all__ = [
    "BBQ", "Bernstein", "Beta", "CopulaFusion", "Curve", "Fuse", "Histogram", "Identity", "Isotonic", "LogisticFusion",
    "MRMIC", "MeanScore", "Platt", "Recipe", "Temperature",
]  # fmt: skip
