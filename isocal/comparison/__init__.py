"""Fits compared on the same rows, and methods compared over several data sets."""

from .compared import Comparison
from .doors import compare
from .ranking import RankTest, rank_test

__all__ = ["Comparison", "RankTest", "compare", "rank_test"]
