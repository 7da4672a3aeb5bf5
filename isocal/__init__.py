"""Calibrated probabilities from classifier scores, with a formula interface.

>>> import isocal
>>> data = isocal.datasets.load_adult_scores()
>>> res = isocal.bernstein("income ~ ecdf(s1) + ecdf(s2)", data, event=">50K").fit()
"""

import importlib

from . import datasets, methods, metrics
from .comparison import compare, rank_test
from .forecasts import check_calibration, reliability
from .formula import FormulaError
from .loading import load
from .model import (
    Model,
    bbq,
    bernstein,
    beta,
    copula_fusion,
    fuse,
    histogram,
    identity,
    isotonic,
    logistic_fusion,
    mean_score,
    mr_mic,
    platt,
    temperature,
)
from .nested import anova
from .results import Results
from .theory import bernstein_operator, deviation_bound, elevate, sample_size
from .transforms import bern
from .versions import show_versions

__version__ = "0.1.0"

LATER = ("calibration_tests", "corp")  # rooms that are imported when they are first asked for


def __getattr__(name):
    if name in LATER:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "FormulaError", "Model", "Results", "anova", "bbq", "bern", "bernstein", "bernstein_operator", "beta",
    "calibration_tests", "check_calibration", "compare", "copula_fusion", "corp", "datasets", "deviation_bound",
    "elevate", "fuse", "histogram", "identity", "isotonic", "load", "logistic_fusion", "mean_score", "methods",
    "metrics", "mr_mic", "platt", "rank_test", "reliability", "sample_size", "show_versions", "temperature",
]  # fmt: skip
