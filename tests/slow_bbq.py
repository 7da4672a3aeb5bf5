"""BBQ of METHODS section 2 once more: loops, fractions and math.lgamma; shares no line with isocal. Tests only."""

from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, floor, lgamma, log


def slow_bbq(s, y, w=None, **options):
    """[(bins made, log marginal likelihood, weight, borders, alphas, betas)] of the kept models, best first."""
    o = {"C": 10, "min_bin": 5, "prior_strength": 2, "prior_scale": "total", "prior_mean": "interval",
         "pruning_threshold": 0.001, "combine": "average"} | options  # fmt: skip
    rows = sorted(zip(s, y, [1] * len(s) if w is None else w, strict=True))
    n = sum(Fraction(float(r[2])) for r in rows)
    ends, x = [], sorted({r[0] for r in rows})
    for v in x:
        ends.append(sum(Fraction(float(r[2])) for r in rows if r[0] <= v))
    models, seen = [], []
    for B in bin_numbers(n, o["C"], o["min_bin"]):
        cuts = sorted({nearest_end([Fraction(0), *ends], floor(i * n / B + Fraction(1, 2))) for i in range(1, B)})
        cuts = [c for c in cuts if 0 < c < n]
        if cuts not in seen:
            seen.append(cuts)
            models.append(one_model(rows, x, ends, cuts, o))
    return keep(models, o)


def bin_numbers(n, C, min_bin):
    lo = max([1] + [k for k in range(1, 200) if (C * k) ** 3 <= n])
    hi = next(k for k in range(1, 10_000) if k**3 >= C**3 * n)
    if min_bin is not None:
        hi = min(hi, ceil(n / min_bin))
    return range(lo, max(lo, hi) + 1)


def nearest_end(ends, target):
    for a, b in pairwise(ends):
        if a <= target < b:
            return a if target - a <= b - target else b
    return ends[-1]


def one_model(rows, x, ends, cuts, o):
    borders = []
    for c in cuts:
        left, right = x[ends.index(c)], x[ends.index(c) + 1]
        middle = (left + right) / 2
        borders.append(middle if middle > left else right)
    edges, total = [0.0, *borders, 1.0], 0.0
    n0 = o["prior_strength"] / (1 if o["prior_scale"] == "per_bin" else len(borders) + 1)
    alphas, betas = [], []
    for b in range(len(borders) + 1):
        inside = [r for r in rows if sum(r[0] >= border for border in borders) == b]
        N = float(sum(r[2] for r in inside))
        m = float(sum(r[2] for r in inside if r[1] == 1))
        p = 0.5 if o["prior_mean"] == "half" else min(max((edges[b] + edges[b + 1]) / 2, 0.005), 0.995)
        a, c = n0 * p, n0 * (1 - p)
        total += lgamma(n0) - lgamma(N + n0) + lgamma(m + a) - lgamma(a) + lgamma(N - m + c) - lgamma(c)
        alphas.append(m + a)
        betas.append(N - m + c)
    return total, borders, alphas, betas


def keep(models, o):
    best = max(m[0] for m in models)
    ranked = sorted(models, key=lambda m: -exp(m[0] - best))  # stable: smaller B first
    R = [exp(m[0] - best) for m in ranked]
    T, mean = len(R), sum(R) / len(R)
    variance = sum((v - mean) ** 2 for v in R) / T
    count, rho = T, o["pruning_threshold"]
    if rho is not None and T > 1 and variance > 0:
        r = sum(v >= 1 - 1e-9 for v in R)
        count = next((k for k in range(r, T) if (R[k - 1] - R[k]) / variance <= rho), T)
    if o["combine"] == "select":
        count = 1
    total = sum(R[:count])
    return [(len(m[1]) + 1, m[0], v / total, *m[1:]) for m, v in zip(ranked[:count], R[:count], strict=True)]


def slow_predict(models, v):
    """The weighted mean of the models' posterior means at a score."""
    total = 0.0
    for _, _, weight, borders, alphas, betas in models:
        b = sum(v >= border for border in borders)
        total += weight * alphas[b] / (alphas[b] + betas[b])
    return total


def beta_product(events, others, alpha, beta):
    """log of the probability of labels one after the other: (m + alpha)/(n + n0) at an event, and so on."""
    total, m, k = 0.0, 0, 0
    for label in [1] * events + [0] * others:
        total += log((m + alpha if label else k + beta) / (m + k + alpha + beta))
        m, k = m + label, k + 1 - label
    return total
