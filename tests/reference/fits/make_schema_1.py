"""Writes schema-1.json, once: a fit with everything that a file of schema 1 can hold. Kept for the record."""

import numpy as np

import isocal


def fitted():
    """Two transforms, an odd column name, text labels, weights, a subset, a missing score, a decreasing direction."""
    data = isocal.datasets.simulate_scores(60, M=2, rng=5).rename(columns={"s2": "second score"})
    data["second score"] = -3.0 * data["second score"]
    data["outcome"] = np.where(data["y"] == 1, "yes", "no")
    data["w"] = 1.0 + np.arange(60) % 3
    data.loc[7, "s1"] = np.nan
    model = isocal.bernstein(
        "outcome ~ ecdf(s1) + unit(Q('second score'))", data, K={"s1": 3, "second score": 2}, event="yes", weights="w",
        monotone={"second score": "decreasing"}, subset="w < 3",
    )  # fmt: skip
    return model.fit()


if __name__ == "__main__":
    fitted().save("schema-1.json")
