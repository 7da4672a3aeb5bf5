"""CORP reliability curves and bands about them. Arrays in, small frozen results out.

Dimitriadis, T., Gneiting, T. & Jordan, A. I. (2021). PNAS 118(8), e2016191118. doi:10.1073/pnas.2016191118
"""

from ..numerics.corp_curve import ReliabilityCurve
from .band import Band
from .curve import murphy_diagram, reliability_curve
from .pointwise import confidence_band, consistency_band
from .simultaneous import honest_band, yang_barber_band

__all__ = [
    "Band", "ReliabilityCurve", "confidence_band", "consistency_band", "honest_band", "murphy_diagram",
    "reliability_curve", "yang_barber_band",
]  # fmt: skip
