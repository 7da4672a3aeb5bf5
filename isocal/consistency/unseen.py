"""Is it calibrated on rows it has not seen: goodness of fit of cross-validated predictions."""

import numpy as np

from ..calibration_tests import cox, ehl, spiegelhalter
from ..metrics import corp
from .finding import ACT, FINE, LOOK, Finding, of_p

CLIP, DRAWS = 1e-6, 199


def held_out(fit):
    """Spiegelhalter, Cox, CORP miscalibration and the e-value test on cross-validated predictions.

    In-sample versions are vacuous and left out. Judged by the smallest p value times their number (Bonferroni); the
    miscalibration is compared with labels drawn from the predictions themselves.
    """
    if np.ptp(fit.y) == 0:
        raise ValueError("all labels are equal")
    y, p, w = fit.held_out()
    order = np.lexsort((y, p) if w is None else (w, y, p))
    y, p, w = y[order], p[order], None if w is None else w[order]
    tests = {"spiegelhalter": _p(spiegelhalter, y, p, w, clip=CLIP), "cox": _p(cox, y, p, w, clip=CLIP)}
    mcb = corp(y, p, w).mcb
    if not fit.quick:
        tests["miscalibration"] = _consistency_p(y, p, w, mcb, fit.rng)
        tests["ehl"] = _p(ehl, y, p, w, rng=fit.rng, clip=CLIP)
    known = {k: v for k, v in tests.items() if np.isfinite(v)}
    if not known:
        raise ValueError("no test of calibration applies to these predictions")
    worst = min(known, key=known.get)
    value = min(1.0, known[worst] * len(known))
    verdict = of_p(value)
    advice = {
        FINE: "Nothing to do: predictions for unseen rows look calibrated.",
        LOOK: "Predictions for unseen rows may be off: see check_calibration() and reliability().",
        ACT: "Predictions for unseen rows are not calibrated: see reliability(); change options, scores or method.",
    }[verdict]
    detail = {"test": list(tests), "p_value": list(tests.values())}
    figures = {"held-out miscalibration (MCB)": float(mcb)}
    shown = f"p = {value:.3f} ({worst}, of {len(known)} tests)"
    return Finding("held_out", value, shown, "p >= 0.05", verdict, advice, figures, detail)


def _p(test, y, p, w, **options):
    try:
        return float(test(y, p, w, **options).p_value)
    except ValueError:  # one class, constant or separable predictions: this test has nothing to say
        return np.nan


def _consistency_p(y, p, w, mcb, rng):
    drawn = [corp((rng.random(len(p)) < p).astype(float), p, w).mcb for _ in range(DRAWS)]
    return float((1 + np.sum(np.array(drawn) >= mcb - 1e-12)) / (1 + DRAWS))
