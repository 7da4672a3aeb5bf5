"""What a saved Bernstein fit must predict, in exact rational arithmetic; standard library only, nothing of isocal.

python exact_predictions.py schema-1.json rows.csv > schema-1.csv
"""

import csv
import itertools
import json
import math
import sys
from fractions import Fraction


def transform(name, learned, x):
    """ecdf: weight at or below x over all weight; unit: place in the range, clipped to [0, 1]."""
    if name == "ecdf":
        below = [c for knot, c in zip(learned["knots"], learned["cumulated"]) if Fraction(knot) <= x]
        return Fraction(below[-1]) / Fraction(learned["cumulated"][-1]) if below else Fraction(0)
    low, high = Fraction(learned["low"]), Fraction(learned["high"])
    return min(max((x - low) / (high - low), Fraction(0)), Fraction(1))


def predict(fit, row):
    """f(s) = sum_k beta_k prod_m C(K_m, k_m) s_m^k_m (1 - s_m)^(K_m - k_m); None where a score is missing."""
    s = []
    for term in fit["terms"]["terms"]:
        if row[term["column"]] == "":
            return None
        x = Fraction(float(row[term["column"]]))
        for name, learned in term["transforms"]:
            x = transform(name, learned, x)
        s.append(min(max(x, Fraction(0)), Fraction(1)))
    beta, K = fit["curve"]["values"]["beta"], []
    inside = beta
    while isinstance(inside, list):
        K.append(len(inside) - 1)
        inside = inside[0]
    total = Fraction(0)
    for k in itertools.product(*(range(size + 1) for size in K)):
        b = beta
        for i in k:
            b = b[i]
        parts = (math.comb(n, i) * x**i * (1 - x) ** (n - i) for n, i, x in zip(K, k, s))
        total += Fraction(b) * math.prod(parts, start=Fraction(1))
    return float(total)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        fit = json.load(file)
    with open(sys.argv[2], newline="") as file:
        rows = list(csv.DictReader(file))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([*rows[0], "predicted"])
    for row in rows:
        p = predict(fit, row)
        out.writerow([*row.values(), "" if p is None else repr(p)])
