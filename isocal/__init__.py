"""Calibrated probabilities from classifier scores, with a formula interface.

>>> import isocal
>>> data = isocal.datasets.load_adult_scores()
>>> res = isocal.bernstein("income ~ ecdf(s1) + ecdf(s2)", data, event=">50K").fit()
"""

from . import calibration_tests, corp, datasets, methods, metrics
from .forecasts import check_calibration, reliability
from .formula import FormulaError
from .loading import load
from .model import Model, bbq, bernstein, beta, histogram, identity, isotonic, platt, temperature
from .nested import anova
from .results import Results
from .theory import bernstein_operator, deviation_bound, elevate, sample_size
from .transforms import bern
from .versions import show_versions

__version__ = "0.1.0"

__all__ = [
    "FormulaError", "Model", "Results", "anova", "bbq", "bern", "bernstein", "bernstein_operator", "beta",
    "calibration_tests", "check_calibration", "corp", "datasets", "deviation_bound", "elevate", "histogram", "identity",
    "isotonic", "load", "methods", "metrics", "platt", "reliability", "sample_size", "show_versions", "temperature",
]  # fmt: skip
