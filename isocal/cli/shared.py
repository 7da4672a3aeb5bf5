"""What the commands share: columns of a table for a formula, the event, and pictures."""

from pathlib import Path

from .. import store


def read_columns(args):
    """(frame with the columns of a formula, parsed formula) of args.data, args.formula, args.weights, args.subset."""
    from ..formula import parse, require_column
    from .tables import open_table

    parsed = parse(args.formula)
    for term in parsed.terms:
        if term.column is None:
            raise ValueError(
                f"term {term.label!r} is an expression: the command line takes columns and ecdf(), unit(), "
                "expit(), logit_unit() of columns, so that every fit can be saved; make a column of it"
            )
    wanted = {parsed.response: "response"} | {t.column: f"term {t.label!r}" for t in parsed.terms}
    if args.weights is not None:
        wanted[args.weights] = f"weights {args.weights!r}"
    table = open_table(args.data, wanted)
    for name, where in wanted.items():
        require_column(table, name, where)
    named = [c for c in table.columns if args.subset and c and c in args.subset]  # some too many do no harm
    frame = table.read([*wanted, *(c for c in dict.fromkeys(named) if c not in wanted)])
    if not len(frame):
        raise ValueError(f"{args.data}: has no rows")
    return frame, parsed


def check_outputs(args, paths):
    """What stands in the way of the outputs is said before anything is read or fitted."""
    for path in paths:
        if path is not None:
            target = store.target(path, args.force)
            if target.exists() and Path(args.data).exists() and target.samefile(args.data):
                raise ValueError(f"{path}: the data themselves, which are not replaced")
    if args.plot is not None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        known = FigureCanvasAgg.get_supported_filetypes()
        if ending(args.plot) not in known:
            raise ValueError(f"{args.plot}: a picture ends in one of {', '.join('.' + k for k in sorted(known))}")


def ending(path):
    """The ending of a file name, lower case, without its dot."""
    return Path(path).suffix.lower().lstrip(".")


def plain(text):
    """A number or truth value where the text is one, else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"True": True, "False": False}.get(text, text)


def typed_event(text, column):
    """--event as a value of the type of the response."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if text is None:
        return None
    if is_bool_dtype(column.dtype):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    if is_numeric_dtype(column.dtype):
        return plain(text)
    found = column.dropna().unique()[:1000]  # text; or bool where some are missing
    same = (v for v in found if str(v) == text or (isinstance(v, bool) and str(v).lower() == text.lower()))
    return next(same, text)


def draw(plot, path, force):
    """Write the picture that plot(ax) draws."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    plot(figure.subplots())
    with store.written_beside(path, force) as file:
        figure.savefig(file, format=ending(path), dpi=150)
