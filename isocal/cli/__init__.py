"""The command line: ``isocal fit``, ``predict``, ``summary`` and ``check`` (or ``python -m isocal ...``).

Errors are one line on stderr with exit status 2. What a command does not need is not imported.
"""

import argparse
import os
import sys
import warnings

from .shared import check_outputs, draw, plain, read_columns, typed_event

FORMULA_HELP = 'e.g. "y ~ ecdf(s1) + s2"; terms are columns and ecdf(), unit(), expit(), logit_unit() of columns'
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
    commands = parser.add_subparsers(dest="command", required=True, metavar="{fit,predict,summary,check}")
    _fit_arguments(commands.add_parser("fit", help="fit a method to a table, print the summary", allow_abbrev=False))
    _predict_arguments(commands.add_parser("predict", help="probabilities for new rows", allow_abbrev=False))
    _check_arguments(commands.add_parser("check", help="is a column of probabilities calibrated?", allow_abbrev=False))
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


def _check_arguments(parser):
    add = parser.add_argument
    add("data", help=TABLES)
    add("formula", help='"y ~ p": the response and a column of probabilities, or expit() of one of log-odds')
    add("--event", help="value of the response that is forecast")
    add("--weights", metavar="COLUMN", help="column of case weights")
    add("--subset", metavar="EXPRESSION", help='rows to use, e.g. "age > 30"')
    add("--clip", type=float, metavar="C", help="move probabilities into [C, 1 - C] first")
    add("--seed", type=int, help="for the tests that draw")
    add("--plot", metavar="FILE", help="draw the calibration figure: .png, .pdf, .svg")
    add("--force", action="store_true", help="replace an existing picture")
    parser.set_defaults(run=_check)


def _predict_arguments(parser):
    add = parser.add_argument
    add("fit", help="a file that fit --save or Results.save wrote")
    add("data", help=f"rows to predict: {TABLES}")
    add("-o", "--out", default="-", metavar="FILE", help=f"{TABLES}; default: CSV on standard output")
    add("--only", action="store_true", help="write the predictions without the columns of the input")
    add("--force", action="store_true", help="replace an existing file")
    parser.set_defaults(run=_predict)


def _fit(args):
    check_outputs(args, (args.save, args.plot))
    from ..model import Model, check_options

    recipe_type, options = _method(args.method), _options(args)
    check_options(recipe_type, options)
    recipe = recipe_type(**options)
    frame, parsed = read_columns(args)
    event = typed_event(args.event, frame[parsed.response])
    res = Model(args.formula, frame, recipe, event, args.weights, args.subset).fit()
    text = str(res.summary())
    if args.save is not None:
        res.save(args.save, overwrite=args.force)
    if args.plot is not None:
        draw(lambda ax: res.plot(ax=ax), args.plot, args.force)
    print(text)


def _check(args):
    check_outputs(args, (args.plot,))
    from ..forecasts import check_calibration

    frame, parsed = read_columns(args)
    check = check_calibration(
        args.formula, frame, event=typed_event(args.event, frame[parsed.response]), weights=args.weights,
        subset=args.subset, rng=args.seed, clip=args.clip,
    )  # fmt: skip
    if args.plot is not None:
        draw(lambda ax: check.plot(ax), args.plot, args.force)
    print(check.summary())


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
        return {name.strip(): plain(value.strip()) for name, _, value in (part.partition("=") for part in parts)}
    found = tuple(plain(part) for part in parts)
    return found[0] if len(found) == 1 else found


def _predict(args):
    from .. import store
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
