"""Checks that the tests share: what a row must be, and the refusals that several tests have in common."""

import numpy as np

from ..numerics.forecast import check_forecast


def prepared(y, p, w=None, clip=None):
    """(y, p, w) as checked float64 arrays without rows of zero weight; p moved into [clip, 1 - clip] on request."""
    if clip is not None and not 0 < clip < 0.5:
        raise ValueError(f"clip must lie strictly between 0 and 0.5; got {clip!r}")
    y, p, w = check_forecast(y, p, w)
    return y, p if clip is None else np.clip(p, clip, 1 - clip), w


def size(w):
    """Rows, an integer weight counted as repeats."""
    total = float(w.sum())
    return int(total) if total.is_integer() else total


def refuse_certain(p, test):
    """A logit needs 0 < p < 1."""
    certain = int(np.count_nonzero((p == 0) | (p == 1)))
    if certain:
        raise ValueError(
            f"{test} takes logits, and {certain} of {len(p)} p are exactly 0 or 1: set clip=1e-6 to move them inside"
        )


def refuse_one_class(y, test):
    """Both classes must be there."""
    if np.all(y == y[0]):
        raise ValueError(f"{test} needs both classes; every y is {y[0]:g}")


def refuse_constant(p, test):
    """p must take two values."""
    if np.ptp(p) == 0:
        raise ValueError(f"{test} needs at least two distinct p; every p is {p[0]:g}")


def repeated(y, p, w, test):
    """(y, p) with every row repeated w times; tests that draw or split rows have no other weighted form."""
    if not np.all(w == np.floor(w)):
        raise ValueError(f"{test} draws rows one by one: it takes whole-number weights (repeats) only")
    return (y, p) if np.all(w == 1) else (np.repeat(y, w.astype(np.int64)), np.repeat(p, w.astype(np.int64)))


def drawing(rng):
    """(numpy Generator, the seed that makes it again, or None where a Generator was handed in)."""
    if isinstance(rng, np.random.Generator):
        return rng, None
    seed = int(np.random.SeedSequence().entropy) if rng is None else rng
    return np.random.default_rng(seed), seed
