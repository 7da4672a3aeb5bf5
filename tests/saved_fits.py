"""Saved fits for the tests of reading: one written by hand."""

import json


def line(path, **changes):
    """A fit of one score written by hand: beta = (0, 1/2, 1), so that f(x) = x. a__b=c changes part b of part a."""
    document = {
        "format": "isocal fit", "schema": 1, "isocal": "0.1.0",
        "recipe": {"class": "Bernstein", "module": None, "options": {"K": 2}},
        "curve": {"class": "BernsteinCurve", "values": {
            "beta": [0, 0.5, 1], "directions": [1], "df": 3, "kkt": 0, "polished": True,
            "support": [True, True, True], "notes": {}, "path": None}},
        "terms": {"formula": "y ~ s1", "terms": [{"label": "s1", "column": "s1", "transforms": []}],
                  "low": [0], "high": [1]},
        "response": {"column": "y", "event": 1},
        "facts": {"n": 4, "weight": 4.0, "events": 2.0, "n_eff": 4.0, "dropped": {}, "llf": -2.0, "slopes": [1.0],
                  "apparent": {"Brier score": 0.1, "Log loss": 0.5, "AUC": 1.0}},
        "cross_validated": {"Brier score": 0.2, "Log loss": {"$float": "inf"}, "AUC": {"$float": "nan"}},
    }  # fmt: skip
    for place, value in changes.items():
        at = document
        *way, last = place.split("__")
        for key in way:
            at = at[key]
        at[last] = value
    path.write_text(json.dumps(document))
    return path
