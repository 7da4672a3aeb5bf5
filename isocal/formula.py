"""The only file that knows patsy: formula text and a data frame in, response and raw scores out.

A formula is parsed into a response column and terms; a term is a column, one of isocal's transforms of something, or
an expression that patsy evaluates. Functions may come from the caller, values only from the data.
"""

import ast
import builtins
import difflib
import importlib
import os
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType

import numpy as np
import patsy
import patsy.builtins
from patsy import EvalEnvironment, EvalFactor, ModelDesc, PatsyError

from . import frames
from .transforms import TRANSFORMS, bern

PATSY = {name: getattr(patsy.builtins, name) for name in patsy.builtins.__all__}  # center(), standardize(), I(), ...
PACKAGE = os.path.dirname(__file__) + os.sep


class FormulaError(ValueError):
    """A formula that cannot be read, with the remedy in its message."""


@dataclass(frozen=True)
class Term:
    """One score of a formula: its text, isocal transforms from the innermost outwards, and a column or expression."""

    label: str
    transforms: tuple
    column: str | None
    code: str | None = None


@dataclass(frozen=True)
class Parsed:
    """A formula without data: response column and terms."""

    text: str
    response: str
    terms: tuple

    @property
    def names(self):
        """Score names: the column where that is unique, else the term's text."""
        columns = [t.column for t in self.terms]
        alone = [t.column is not None and columns.count(t.column) == 1 for t in self.terms]
        return [str(t.column) if own else t.label for t, own in zip(self.terms, alone, strict=True)]


def parse(text):
    """Read a formula such as ``"y ~ ecdf(s1) + s2"``; raises FormulaError with the remedy."""
    if not isinstance(text, str):
        raise FormulaError(f"a formula is a string such as 'y ~ s1 + s2' and comes first; got {type(text).__name__}")
    return _parse(text)


@lru_cache(maxsize=256)
def _parse(text):
    try:
        desc = ModelDesc.from_formula(text)
    except PatsyError as error:
        hint = " (an odd column name is written Q('odd name'), without backticks)" if "`" in text else ""
        raise FormulaError(f"formula {text!r} cannot be read: {str(error).splitlines()[0]}{hint}") from None
    response = _response(text, desc.lhs_termlist)
    terms = [_term(t) for t in desc.rhs_termlist if t.factors]
    if not terms:
        raise FormulaError(f"formula {text!r} has no scores on the right of ~: write e.g. '{response} ~ s1 + s2'")
    if any(response == t.column or (t.code and response in _names(_tree(t.code))) for t in terms):
        raise FormulaError(f"formula {text!r}: the response {response!r} stands on both sides of ~")
    return Parsed(text, response, tuple(terms))


def _response(text, lhs):
    if len(lhs) != 1 or len(lhs[0].factors) != 1:
        raise FormulaError(f"formula {text!r} needs one response on the left of ~: write e.g. 'y ~ s1 + s2'")
    code = lhs[0].factors[0].code
    column = _column_of(_tree(code))
    if column is None:
        raise FormulaError(
            f"formula {text!r}: the response must be a column, got the expression {code!r}; make a column of it, "
            "or name the event: isocal.bernstein('y ~ s1', data, event='yes')"
        )
    return column


def _term(term):
    codes = [f.code for f in term.factors]
    if len(codes) > 1:
        raise FormulaError(
            f"term '{':'.join(codes)}' is an interaction: write '{' + '.join(codes)}', the fused surface contains "
            "every interaction that the order of the scores allows"
        )
    return _read_term(codes[0])


def _read_term(code):
    tree, transforms = _tree(code), []
    while _called(tree) in TRANSFORMS:
        if len(tree.args) != 1 or tree.keywords:
            raise FormulaError(f"term {code!r}: {_called(tree)}() takes one score and nothing else")
        transforms.insert(0, _called(tree))
        tree = tree.args[0]
    if any(_called(node) == "C" for node in ast.walk(tree)):
        raise FormulaError(
            f"term {code!r} is categorical: scores are numbers with an order; fit each group by itself (subset=), "
            "or give an ordered numeric code as a column"
        )
    column = _column_of(tree)
    if column is None and not _names(tree):
        raise FormulaError(f"term {code!r} holds no column")
    return Term(code, tuple(transforms), column, None if column is not None else ast.unparse(tree))


def _tree(code):
    try:
        return ast.parse(code.strip(), mode="eval").body
    except SyntaxError:
        remedy = "name each score, y ~ s1 + s2" if code.strip() == "." else "see the example 'y ~ s1 + s2'"
        if all(part.isalnum() for part in code.split()):
            remedy = f"a column of that name is written Q({code!r}), and two columns are joined by +"
        raise FormulaError(f"{code!r} is not an expression: {remedy}") from None


def _names(tree):
    """Column names that stand in an expression, also within Q(); functions count too."""
    quoted = [_column_of(n) for n in ast.walk(tree) if _called(n) == "Q"]
    if None in quoted:
        raise FormulaError(f"{ast.unparse(tree)!r}: Q() takes one column name in quotes, Q('odd name')")
    inside = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id != "Q"]
    return list(dict.fromkeys(quoted + inside))


def _called(node):
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None


def _column_of(node):
    if isinstance(node, ast.Name):
        return node.id
    if _called(node) == "Q" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
        return node.args[0].value
    return None


def require_column(frame, name, where):
    """Raise the error for a name that is not a column, with close matches."""
    if name in frame.columns:
        return
    known = list(frame.columns)
    plain = {str(c).lower(): c for c in reversed(known)}
    wanted = str(name).lower()
    alike = [wanted] if wanted in plain else difflib.get_close_matches(wanted, plain, n=3, cutoff=0.5)
    near = [plain[c] for c in alike]
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?"
        if near
        else f"the columns are {', '.join(map(str, known[:12]))}"
    )
    hint += ", ..." if len(known) > 12 and not near else ""
    quoted = [c for c in map(str, known) if c.split(" ")[0] == name and c != name]
    if quoted:
        hint += f" (a name such as {quoted[0]!r} is written Q({quoted[0]!r}))"
    raise FormulaError(f"{where}: {name!r} is not a column of data: {hint}")


@dataclass
class Expression:
    """An expression that patsy evaluates on columns, with the state its transforms learned."""

    code: str
    functions: dict = field(default_factory=dict)
    state: dict = field(default_factory=dict)

    def evaluate(self, frame):
        """Values (n,); learns first where it has not. A missing value in a column it uses gives NaN."""
        found = {name: frames.anything(frame, name) for name in self._columns(frame)}
        missing = np.zeros(len(frame), dtype=bool)
        for _, gone in found.values():
            missing |= gone
        out = np.full(len(missing), np.nan)
        if missing.all() and not self.state:
            return out
        complete = {name: values[~missing] for name, (values, _) in found.items()}
        try:
            with np.errstate(divide="ignore", invalid="ignore"):  # log(0), log(-1): reported as infinite, missing
                if not self.state:
                    self.state = self._learn(complete)
                out[~missing] = self._numeric(np.asarray(EvalFactor(self.code).eval(self.state, complete)), missing)
        except FormulaError:
            raise
        except Exception as error:
            what = str(error).splitlines()[0].removeprefix("Error evaluating factor: ") if str(error) else error
            hint = ": join conditions with & and parentheses, (a > 1) & (b < 2)" if "truth value" in str(error) else ""
            raise FormulaError(f"expression {self.code!r} cannot be evaluated: {what}{hint}") from error
        return out

    def _learn(self, data):
        state, factor = {}, EvalFactor(self.code)
        passes = factor.memorize_passes_needed(state, EvalEnvironment([self.functions, PATSY]))
        for which in range(passes):
            factor.memorize_chunk(state, which, data)
            factor.memorize_finish(state, which)
        return state

    def _numeric(self, found, missing):
        rows = np.count_nonzero(~missing)
        if found.shape == (rows, 1):
            found = found[:, 0]
        if found.shape != (rows,) or found.dtype.kind not in "fiub":
            raise FormulaError(
                f"expression {self.code!r} must give one number for each row; got shape {found.shape} of {found.dtype}"
            )
        return found

    def _columns(self, frame):
        """Names of the columns it uses; looks the names of its functions up where that has not been done."""
        where, tree = f"expression {self.code!r}", _tree(self.code)
        nodes = list(ast.walk(tree))
        called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
        owners = {id(n.value) for n in nodes if isinstance(n, ast.Attribute)}
        columns = [_column_of(n) for n in nodes if _called(n) == "Q"]
        for node in (n for n in nodes if isinstance(n, ast.Name)):
            if id(node) in called:
                self._function(node.id, frame, callable)
            elif id(node) in owners and (node.id in self.functions or node.id not in frame.columns):
                self._function(node.id, frame, lambda found: isinstance(found, ModuleType | type))
            else:
                columns.append(node.id)
        for name in columns:
            require_column(frame, name, where)
        return dict.fromkeys(columns)

    def _function(self, name, frame, wanted):
        if name in self.functions:
            return
        if name in TRANSFORMS:
            raise FormulaError(f"expression {self.code!r}: {name}() must stand outermost, e.g. {name}(s1 + s2)")
        found = next((space[name] for space in _caller() if name in space and wanted(space[name])), None)
        if found is not None:
            self.functions[name] = found
        elif name not in PATSY and not hasattr(builtins, name):
            kind = "function" if wanted is callable else "module (values come from data only)"
            require_column(frame, name, f"expression {self.code!r}: your code has no such {kind}")

    def __getstate__(self):
        modules = {k: f.__name__ if isinstance(f, ModuleType) else None for k, f in self.functions.items()}
        functions = {k: (name, None if name else self.functions[k]) for k, name in modules.items()}
        learned = {k: (type(t), vars(t)) for k, t in self.state.get("transforms", {}).items()}
        return {"code": self.code, "functions": functions, "evaluated": self.state.get("eval_code"), "learned": learned}

    def __setstate__(self, kept):
        """patsy's stateful transforms refuse to be pickled: they come back from their types and what they learned."""
        self.code, self.state = kept["code"], {}
        self.functions = {k: importlib.import_module(m) if m else f for k, (m, f) in kept["functions"].items()}
        if kept["evaluated"] is None:
            return
        transforms = {k: kind.__new__(kind) for k, (kind, _) in kept["learned"].items()}
        for k, transform in transforms.items():
            vars(transform).update(kept["learned"][k][1])
        environment = EvalEnvironment([self.functions, PATSY])
        self.state = {"eval_code": kept["evaluated"], "transforms": transforms, "eval_env": environment}


def _caller():
    """Locals and globals of the code that called isocal."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return () if frame is None else (frame.f_locals, frame.f_globals)


def bernstein_design(s, K):
    """The Bernstein design through patsy: s (n, M) in [0, 1], K per score -> (n, p), C order, and column names."""
    M = s.shape[1]
    data = {f"u{m}": s[:, m] for m in range(M)} | {"bern": bern}
    code = "0 + " + ":".join(f"bern(u{m}, {k})" for m, k in enumerate(K))
    design = np.asarray(patsy.dmatrix(code, data, NA_action=patsy.NAAction(NA_types=[])))
    shape = [k + 1 for k in K]
    design = design.reshape(len(s), *shape[::-1]).transpose(0, *range(M, 0, -1))  # patsy: the first varies fastest
    names = [f"beta[{','.join(map(str, k))}]" for k in np.ndindex(*shape)]
    return design.reshape(len(s), -1), names
