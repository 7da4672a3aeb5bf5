"""The pictures of README.md: python docs/make_pictures.py."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import isocal

HERE = Path(__file__).parent

if __name__ == "__main__":
    data = isocal.datasets.load_adult_scores()
    res = isocal.bernstein("income ~ ecdf(s1) + ecdf(s2)", data, K=5, event=">50K").fit()
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained", width_ratios=[1.15, 1])
    res.plot(ax=axes[0], scale="unit")
    isocal.reliability("income ~ s1 + s2 + s3", data, event=">50K").plot(ax=axes[1])
    fig.savefig(HERE / "surface-and-reliability.png", dpi=110)
