"""The command line: ``isocal fit``, ``isocal predict``, ``isocal summary`` (or ``python -m isocal ...``).

Errors are one line on stderr with exit status 2. What a command does not need is not imported.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

from .. import store

FORMULA_HELP = 'e.g. "y ~ ecdf(s1) + s2"; terms are columns and ecdf(), unit(), expit() of columns'
TABLES = "CSV or Parquet, by its ending: .csv, .csv.gz, .parquet"


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are exceptions, for one line on stderr."""

    def error(self, message):
        raise ValueError(f"{message} (see {self.prog} --help)")


def main(argv=None):
    """Run one command.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; default: those of the process.

    Returns
    -------
    int
        Exit status: 0, or 2 after an error, 130 after Ctrl-C, 141 if the reader of stdout went away.

    Examples
    --------
    >>> import isocal, os, tempfile
    >>> from isocal.cli import main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data, fit = os.path.join(folder, "data.csv"), os.path.join(folder, "fit.json")
    ...     isocal.datasets.simulate_scores(200, M=2, rng=1).to_csv(data, index=False)
    ...     status = main(["fit", data, "y ~ s1 + s2", "--K", "3", "--save", fit])
    ...     isocal.load(fit)
                 Isotonic Bernstein polynomial Results
    ...
    <isocal results: Isotonic Bernstein polynomial, y ~ s1 + s2>
    >>> status
    0
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *rest, **more: _say("warning", message)
            args = _parser().parse_args(argv)
            args.run(args)
            sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        _say("error", "interrupted")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to flush at exit
        return 141
    except Exception as error:
        _say("error", _reason(error))
        return 2


def _say(kind, what):
    print(f"isocal: {kind}: {' '.join(str(what).split())}", file=sys.stderr)


def _reason(error):
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, FileExistsError):
        return f"{error} (--force replaces it)"
    if isinstance(error, ValueError | TypeError | OSError | ImportError):
        return str(error) or type(error).__name__
    if isinstance(error, MemoryError):
        return "not enough memory"
    return f"unforeseen, please report it: {type(error).__name__}: {error}"


def _parser():
    from .. import __version__

    parser = Parser("isocal", description="Calibrated probabilities from classifier scores.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"isocal {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="{fit,predict,summary}")
    _fit_arguments(commands.add_parser("fit", help="fit a method to a table, print the summary", allow_abbrev=False))
    _predict_arguments(commands.add_parser("predict", help="probabilities for new rows", allow_abbrev=False))
    shown = commands.add_parser("summary", help="print the summary of a saved fit", allow_abbrev=False)
    shown.add_argument("fit", help="a file that fit --save or Results.save wrote")
    shown.set_defaults(run=_summary)
    return parser


def _fit_arguments(parser):
    add = parser.add_argument
    add("data", help=TABLES)
    add("formula", help=FORMULA_HELP)
    add("--method", default="bernstein", help="name of the method (default: bernstein)")
    add("--K", help='degree: 5, "5,3", "s1=5,s2=3", or a rule that chooses it: cv, aic, bic')
    add("--monotone", action="append", metavar="SCORE=WORD", help="increasing, decreasing or none; may be repeated")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="any other option of the method")
    add("--event", help="value of the response that is modelled")
    add("--weights", metavar="COLUMN", help="column of case weights")
    add("--subset", metavar="EXPRESSION", help='rows to use, e.g. "age > 30"')
    add("--save", metavar="FILE", help="write the fit as JSON, for isocal predict and isocal.load")
    add("--plot", metavar="FILE", help="draw the fit: .png, .pdf, .svg")
    add("--force", action="store_true", help="replace existing files")
    parser.set_defaults(run=_fit)


def _predict_arguments(parser):
    add = parser.add_argument
    add("fit", help="a file that fit --save or Results.save wrote")
    add("data", help=f"rows to predict: {TABLES}")
    add("-o", "--out", default="-", metavar="FILE", help=f"{TABLES}; default: CSV on standard output")
    add("--only", action="store_true", help="write the predictions without the columns of the input")
    add("--force", action="store_true", help="replace an existing file")
    parser.set_defaults(run=_predict)


def _fit(args):
    _check_outputs(args)
    from ..formula import parse, require_column
    from ..model import Model, check_options
    from .tables import open_table

    recipe_type, options = _method(args.method), _options(args)
    check_options(recipe_type, options)
    recipe, parsed = recipe_type(**options), parse(args.formula)
    for term in parsed.terms:
        if term.column is None:
            raise ValueError(
                f"term {term.label!r} is an expression: the command line takes columns and ecdf(), unit(), expit() of "
                "columns, so that every fit can be saved; make a column of it"
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
    event = _event(args.event, frame[parsed.response])
    res = Model(args.formula, frame, recipe, event, args.weights, args.subset).fit()
    text = str(res.summary())
    if args.save is not None:
        res.save(args.save, overwrite=args.force)
    if args.plot is not None:
        _draw(res, args.plot, args.force)
    print(text)


def _check_outputs(args):
    """What stands in the way of the outputs is said before anything is read or fitted."""
    for path in (args.save, args.plot):
        if path is not None:
            target = store.target(path, args.force)
            if target.exists() and Path(args.data).exists() and target.samefile(args.data):
                raise ValueError(f"{path}: the data themselves, which are not replaced")
    if args.plot is not None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        known = FigureCanvasAgg.get_supported_filetypes()
        if _ending(args.plot) not in known:
            raise ValueError(f"{args.plot}: a picture ends in one of {', '.join('.' + k for k in sorted(known))}")


def _ending(path):
    return Path(path).suffix.lower().lstrip(".")


def _method(name):
    """The recipe class behind a door such as isocal.bernstein."""
    from .. import __all__ as public
    from ..results.export import own_recipes

    known = {k.lower(): v for k, v in own_recipes().items()}
    doors = {door: known[door.replace("_", "")] for door in public if door.replace("_", "") in known}
    if name.lower() not in doors:
        raise ValueError(f"there is no method {name!r}: the methods are {', '.join(doors)}")
    return doors[name.lower()]


def _options(args):
    """Options of the method as Python values, those given only."""
    options = {} if args.K is None else {"K": _value(args.K)}
    if args.monotone:
        options["monotone"] = _value(",".join(args.monotone))
    for text in args.option:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--option takes NAME=VALUE; got {text!r}")
        options[name] = _value(value)
    return options


def _value(text):
    """A word or number; several with commas are a tuple, with names a dict: "s1=5,s2=3"."""
    parts = [part.strip() for part in text.split(",")]
    if all("=" in part for part in parts):
        return {name.strip(): _plain(value.strip()) for name, _, value in (part.partition("=") for part in parts)}
    found = tuple(_plain(part) for part in parts)
    return found[0] if len(found) == 1 else found


def _plain(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"True": True, "False": False}.get(text, text)


def _event(text, column):
    """--event as a value of the type of the response."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if text is None:
        return None
    if is_bool_dtype(column.dtype):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    if is_numeric_dtype(column.dtype):
        return _plain(text)
    found = column.dropna().unique()[:1000]  # text; or bool where some are missing
    same = (v for v in found if str(v) == text or (isinstance(v, bool) and str(v).lower() == text.lower()))
    return next(same, text)


def _draw(res, path, force):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    res.plot(ax=figure.subplots())
    with store.written_beside(path, force) as file:
        figure.savefig(file, format=_ending(path), dpi=150)


def _predict(args):
    from .tables import ending, open_table, write_table

    out = None if args.out == "-" else args.out
    if out is not None:
        ending(out)
        store.target(out, args.force)
    from ..formula import require_column
    from ..loading import load

    res = load(args.fit)
    wanted = {t.column: f"term {t.label!r}" for t in res.terms.parsed.terms}
    table = open_table(args.data, wanted)
    for name, where in wanted.items():
        require_column(table, name, where)
    found = res.predict_frame(table.read(list(wanted)))
    twice = [] if args.only else [c for c in found.columns if c in table.columns]
    if twice:
        raise ValueError(f"{args.data}: has a column {twice[0]!r} already: rename it, or give --only")
    write_table(out, table, found, args.only, args.force)


def _summary(args):
    from ..loading import load

    print(load(args.fit).summary())
