"""Metrics of probability forecasts: pure functions of (y, p, w)."""

from .scores import auc, brier, log_loss

__all__ = ["auc", "brier", "log_loss"]
