"""Metrics of probability forecasts: pure functions of (y, p, w)."""

from .binned import ace, calibration_bins, debiased_ce, ece, ks, mce
from .decompositions import Corp, Murphy, corp, murphy
from .functions import GridError, TruthError, grid_error, truth_error
from .scores import accuracy, auc, brier, brier_skill, decision_curve, log_loss, rmse
from .smooth import Ici, ici, smooth_ece
from .table import METRICS, metrics_table

__all__ = [
    "METRICS", "Corp", "GridError", "Ici", "Murphy", "TruthError", "accuracy", "ace", "auc", "brier", "brier_skill",
    "calibration_bins", "corp", "debiased_ce", "decision_curve", "ece", "grid_error", "ici", "ks", "log_loss", "mce",
    "metrics_table", "murphy", "rmse", "smooth_ece", "truth_error",
]  # fmt: skip
