"""The members of a super learner: the default library, and one that the user names."""

from dataclasses import dataclass, fields

from .base import Recipe, check_choice, own_classes
from .bernstein import Bernstein
from .fuse_scales import CHAINS
from .logistic_fusion import LogisticFusion
from .mean_score import MeanScore

ANCHOR_ROWS = 500  # what the logistic fusion weighs where nothing else is known: better than a share of the rows
DEGREES = {1: (3, 9), 2: (3, 9), 3: (3, 6), 4: (2, 4), 5: (2,)}  # of M scores, at most 700 coefficients


def default_library(M):
    """((scale, recipe), ...) for M scores: few, and all near the mean logit where the rows say little."""
    pools = (MeanScore(), MeanScore(pool="log")) if M > 1 else (MeanScore(),)
    fixed = (("scores", recipe) for recipe in (*pools, LogisticFusion(prior="pool")))
    sieves = [Bernstein(K=K, anchor="pool", anchor_rows=ANCHOR_ROWS) for K in DEGREES[M]]
    return *fixed, *((on, sieve) for on in ("halfway", "calibrated") for sieve in sieves)


@dataclass(frozen=True)
class Entry:
    """One member: how it is called, the scale of the scores it is fitted to, its recipe."""

    name: str
    on: str
    recipe: Recipe


def entries(library, M):
    """The Entries of a library, or of the default one, for M scores; a member that may fall is an error."""
    out, seen = [], {}
    for on, recipe in default_library(M) if library is None else library:
        if any(d != 1 for d in recipe.directions(M)):
            raise ValueError(f"library: {called(recipe)} does not promise to rise in every score, so the mixture could "
                             "not either: leave it out, or use its monotone option")  # fmt: skip
        name = f"{called(recipe)} on {on}"
        seen[name] = seen.get(name, 0) + 1
        out.append(Entry(name if seen[name] == 1 else f"{name}, {seen[name]}", on, recipe))
    return out


def called(recipe):
    """Class and the options that differ from the default, as it would be typed."""
    own = ((f.name, getattr(recipe, f.name)) for f in fields(recipe) if f.default != getattr(recipe, f.name))
    return f"{type(recipe).__name__}({', '.join(f'{k}={v!r}' for k, v in own)})"


def read_library(library):
    """((scale, recipe), ...) of what the user gave, or of the dicts that to_dict() wrote."""
    found = []
    for entry in library if isinstance(library, list | tuple) else [library]:
        if isinstance(entry, dict):
            kinds = own_classes(Recipe)
            if entry["class"] not in kinds:
                raise ValueError(f"library: this isocal has no method {entry['class']!r}")
            entry = (entry["on"], kinds[entry["class"]](**entry["options"]))
        on, recipe = entry if isinstance(entry, tuple) and len(entry) == 2 else ("scores", entry)
        if not isinstance(recipe, Recipe):
            raise ValueError("library: members are recipes such as isocal.methods.Bernstein(K=4), or pairs of a scale "
                             f"and a recipe; got {entry!r}")  # fmt: skip
        check_choice("library: the scale of a member", on, tuple(CHAINS))
        found.append((on, recipe))
    if not found:
        raise ValueError("library is empty: give at least one recipe, or leave it out for the default library")
    return tuple(found)


def written_library(library):
    """The library in plain JSON types; None is the default one."""
    if library is None:
        return None
    strange = [type(r).__name__ for _, r in library if own_classes(Recipe).get(type(r).__name__) is not type(r)]
    if strange:
        raise ValueError(f"library: {strange[0]} is not of isocal, so a file cannot hold it: keep the fit with pickle")
    return [{"on": on, "class": type(r).__name__, "options": r.to_dict()} for on, r in library]
