"""How large the sieve is for these rows: support, degrees of freedom, ratios, and the steepest slope it can have."""

import numpy as np

from ..numerics.basis import basis
from .finding import ACT, FINE, LOOK, Finding, graded

FEW = 5.0  # effective rows below which a place is the constraint's choice
OF_DOMAIN, OF_ROWS = 0.25, 0.10  # share of places, and of rows, with fewer
COEFFICIENTS_PER_ROW, DF_PER_ROW = 1 / 5, 1 / 10
STEEP, TOO_STEEP = 0.8, 0.95  # share of the slope ceiling


def support(fit):
    """Rank and condition of the Gram matrix; effective rows at every place; share of the domain with fewer than five.

    Consistency is in the mean over the scores' distribution: it says nothing where there are no rows.
    """
    eigenvalues = np.linalg.eigvalsh(fit.face.G)
    rank = int(np.sum(eigenvalues > 1e-10 * np.mean(np.diag(fit.face.G))))
    domain = float(np.mean(fit.local_rows < FEW))
    rows = float(fit.weights @ (fit.local_rows_at_rows < FEW) / fit.weights.sum())
    condition = float(eigenvalues[-1] / max(eigenvalues[0], np.finfo(float).eps * eigenvalues[-1]))
    verdict = ACT if rows > OF_ROWS else LOOK if domain > OF_DOMAIN else FINE
    advice = {
        FINE: "Nothing to do.",
        LOOK: "Read the support map: where it is pale the order, not the rows, sets the curve; flag such predictions.",
        ACT: f"{rows:.0%} of the rows lie where fewer than five decide the curve: lower K or find more rows.",
    }[verdict]
    figures = {
        "share of rows there": rows, "rank": rank, "coefficients": len(eigenvalues), "condition": condition,
        "median effective rows at the rows": float(np.median(fit.local_rows_at_rows)),
    }  # fmt: skip
    shown = f"{domain:.0%} of the domain has fewer than 5 effective rows"
    return Finding("support", domain, shown, f"{OF_DOMAIN:.0%}", verdict, advice, figures)


def degrees_of_freedom(fit):
    """Rank of the free level sets: p minus the rank (not the number) of the active constraints.

    The divergence of the projection (Meyer & Woodroofe 2000, doi:10.1214/aos/1015956708). For one score: how many of
    the increments b_0, b_1 - b_0, ..., 1 - b_K are positive, less one.
    """
    df, p = fit.face.fit.df, fit.grid.size
    loss = float(fit.weights @ (fit.y - fit.fitted) ** 2)
    n = fit.effective
    sigma2 = [loss / fit.weights.sum() * n / max(n - c * df, 1.0) for c in (1.0, 1.5, 2.0)]
    flat = df <= 1 and np.ptp(fit.fitted) < 1e-6
    advice = "The curve is constant: no score helps, or one points the wrong way." if flat else "Nothing to do."
    figures = {
        "coefficients": p, "active constraints": int(fit.face.active.sum()), "rank of the active": int(p - df),
        "residual variance": sigma2[0], "residual variance, 1.5 df": sigma2[1], "residual variance, 2 df": sigma2[2],
    }  # fmt: skip
    verdict = LOOK if flat else FINE
    return Finding("degrees_of_freedom", df, f"{df:g} of {p} coefficients", "not constant", verdict, advice, figures)


def sieve_ratio(fit):
    """(K + 1)^M / n and df / n: both must go to 0 for consistency (Theorem 4)."""
    n, p, df = fit.effective, fit.grid.size, fit.face.fit.df
    size, used = p / n, df / n
    flagged = size > COEFFICIENTS_PER_ROW or used > DF_PER_ROW
    verdict = ACT if used > 2 * DF_PER_ROW or size > 1 else LOOK if flagged else FINE
    advice = {
        FINE: "Nothing to do.",
        LOOK: "K is large for so few rows: compare with a smaller K before relying on details of the curve.",
        ACT: "K is too large for so few rows: lower K.",
    }[verdict]
    shown = f"coefficients / rows {size:.3f}, df / rows {used:.3f}"
    reference = f"{COEFFICIENTS_PER_ROW:g}, {DF_PER_ROW:g}"
    figures = {"coefficients per row": size, "df per row": used, "effective rows": n}
    return Finding("sieve_ratio", size, shown, reference, verdict, advice, figures)


def slope_ceiling(fit):
    """Steepest slope, as a share of what a polynomial of this degree in [0, 1] can have at that place.

    At s the steepest member of the sieve has slope max_j K b_{j,K-1}(s), about sqrt(K / (2 pi s (1 - s))). A fit near
    that ceiling is held back by its degree.
    """
    places = fit.places[1][fit.local_rows >= FEW]
    places = fit.s if not len(places) else places
    slopes = fit.curve.gradient(places)
    shares, where = [], []
    for m, d in enumerate(fit.directions):
        ratio = d * slopes[:, m] / _ceiling(fit.K[m], places[:, m]) if d else np.zeros(len(places))
        first = int(np.argmax(np.round(ratio, 9)))  # of places that are alike up to round-off
        shares.append(float(ratio[first]) if d else np.nan)
        where.append(float(places[first, m]) if d else np.nan)
    worst = float(np.nanmax(shares))
    verdict = graded(worst, STEEP, TOO_STEEP)
    advice = "Nothing to do." if verdict == FINE else (
        f"The curve is as steep as K = {_degrees(fit.K)} allows, near {where[int(np.nanargmax(shares))]:.2f} of "
        f"{fit.names[int(np.nanargmax(shares))]}: raise K."
    )  # fmt: skip
    detail = {"score": list(fit.names), "share_of_ceiling": shares, "at": where}
    return Finding("slope_ceiling", worst, f"{worst:.0%} of the steepest slope", f"{STEEP:.0%}", verdict, advice,
                   {}, detail)  # fmt: skip


def _ceiling(K, x):
    return K * basis(x, K - 1).max(axis=0)


def _degrees(K):
    return f"{K[0]}" if len(set(K)) == 1 else f"{K}"
