"""Tests of calibration (and one of discrimination): pure functions of (y, p, w) that return small frozen results.

All belong on held-out or cross-validated predictions: on the rows a calibrator was fitted to they are vacuous.
"""

from .adaptive import tcal
from .battery import all_tests
from .belt import giviti
from .discrimination import delong
from .e_values import ehl
from .goodness import hosmer_lemeshow, sse_gof
from .recalibration import cox
from .z_test import spiegelhalter

__all__ = ["all_tests", "cox", "delong", "ehl", "giviti", "hosmer_lemeshow", "spiegelhalter", "sse_gof", "tcal"]
