"""What `make demo` runs: fit the bundled data, print the summary, draw the fused surface."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import isocal

data = isocal.datasets.load_adult_scores()
res = isocal.bernstein("income ~ ecdf(s1) + ecdf(s2)", data, K=5, event=">50K").fit()
print(res.summary())

fig, ax = plt.subplots(figsize=(6.4, 5.2))
res.plot(ax=ax)
path = Path(__file__).with_name("demo.png")
fig.savefig(path, dpi=150, bbox_inches="tight")
print(f"\nThe fused surface is drawn in {path}")
