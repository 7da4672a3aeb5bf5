"""What a copula fusion prints: its tables and the words of its summary."""

import numpy as np

from ..numerics import copulas


def families_table(lines, chosen, M):
    """{column: list}, a row for each (class, CopulaFit); of several correlations the mean is shown."""
    tails = [copulas.tail_dependence(fit.name, fit.theta, M) for _, fit in lines]
    return {
        "class": [label for label, _ in lines],
        "family": [fit.name for _, fit in lines],
        "parameter": [float(np.mean(own_parameters(fit, M))) for _, fit in lines],
        "nu": [fit.theta[-1] if fit.name == "student" else float("nan") for _, fit in lines],
        "log_likelihood": [fit.llf for _, fit in lines],
        "tau": [copulas.kendall_tau(fit.name, fit.theta, M) for _, fit in lines],
        "lower_tail": [low for low, _ in tails],
        "upper_tail": [high for _, high in tails],
        "chosen": [fit is chosen[label] for label, fit in lines],
    }


def correlations_table(lines, M):
    """{column: list}, a row for each correlation of the elliptical families among (class, CopulaFit)."""
    found = [
        (label, fit.name, name.removeprefix("rho"), t)
        for label, fit in lines if fit.name in copulas.ELLIPTICAL
        for name, t in zip(parameter_names(fit.name, M), own_parameters(fit, M), strict=False)
    ]  # fmt: skip
    return {name: [line[k] for line in found] for k, name in enumerate(("class", "family", "scores", "correlation"))}


def parameter_names(name, M):
    """Names of the parameters of a family."""
    if name not in copulas.ELLIPTICAL:
        return ["theta"]
    pairs = ["rho"] if M == 2 else [f"rho{a + 1},{b + 1}" for a in range(M) for b in range(a + 1, M)]
    return [*pairs, "nu"] if name == "student" else pairs


def own_parameters(fit, M):
    """The parameters without the degrees of freedom."""
    return fit.theta[: M * (M - 1) // 2] if fit.name in copulas.ELLIPTICAL else fit.theta


def described(fit, M):
    """Family, parameters and Kendall's tau in a few characters; of several correlations the range."""
    own = own_parameters(fit, M)
    text = f"{own[0]:.3g}" if fit.name not in copulas.ELLIPTICAL else f"rho {min(own):.2f}"
    text += f" to {max(own):.2f}" if len(own) > 1 else ""
    text += f", nu {fit.theta[-1]:.3g}" if fit.name == "student" else ""
    return f"{fit.name} ({text}), tau {copulas.kendall_tau(fit.name, fit.theta, M):.2f}"


def fall_words(falls, M):
    """How often the probability falls, from CopulaFusionCurve.falls."""
    size, share, drop = falls
    grid = " x ".join([f"{size}"] * M)
    if share == 0:
        return f"never falls on a grid of {grid}"
    often = "less than 1 %" if share < 0.005 else f"{100 * share:.0f} %"
    return f"falls on {often} of grid steps, largest drop {drop:.2g}"
