"""The only file that knows patsy: formula text and a data frame in, response and raw scores out.

A formula is parsed into a response column and terms; a term is a column, one of isocal's transforms of something, or
an expression that patsy evaluates. Functions may come from the caller, values only from the data.
"""

import ast
import builtins
import difflib
import sys
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import patsy
from patsy import EvalEnvironment, EvalFactor, ModelDesc, PatsyError

from . import frames
from .transforms import TRANSFORMS, bern


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
        return [
            t.column if t.column is not None and columns.count(t.column) == 1 else t.label for t in self.terms
        ]  # fmt: skip


@lru_cache(maxsize=256)
def parse(text):
    """Read a formula such as ``"y ~ ecdf(s1) + s2"``; raises FormulaError with the remedy."""
    if not isinstance(text, str):
        raise FormulaError(f"a formula is a string such as 'y ~ s1 + s2'; got {type(text).__name__}")
    try:
        desc = ModelDesc.from_formula(text)
    except PatsyError as error:
        raise FormulaError(f"formula {text!r} cannot be read: {str(error).splitlines()[0]}") from None
    response = _response(text, desc.lhs_termlist)
    terms = [_term(t) for t in desc.rhs_termlist if t.factors]
    if not terms:
        raise FormulaError(f"formula {text!r} has no scores on the right of ~: write e.g. '{response} ~ s1 + s2'")
    if response in (t.column for t in terms):
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
    inner = None if column is not None else ast.unparse(tree)
    if inner is not None and not any(isinstance(node, ast.Name) for node in ast.walk(tree)):
        raise FormulaError(f"term {code!r} holds no column")
    return Term(code, tuple(transforms), column, inner)


def _tree(code):
    return ast.parse(code.strip(), mode="eval").body


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
    known = [str(c) for c in frame.columns]
    near = difflib.get_close_matches(str(name), known, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"the columns are {', '.join(known[:12])}"
    quoted = [c for c in known if c.split(" ")[0] == name and c != name]
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
        """Values (n,); learns first where it has not. NaN in a column it uses gives NaN."""
        columns = self._columns(frame)
        data = {name: _values(frame, name) for name in columns}
        missing = np.zeros(len(frame), dtype=bool)
        for values in data.values():
            missing |= np.isnan(values) if values.dtype.kind == "f" else np.array([v is None or v != v for v in values])
        complete = {name: values[~missing] for name, values in data.items()}
        factor = EvalFactor(self.code)
        try:
            if not self.state:
                self._learn(factor, complete)
            found = np.asarray(factor.eval(self.state, complete))
        except FormulaError:
            raise
        except Exception as error:
            raise FormulaError(f"expression {self.code!r} cannot be evaluated: {error}") from error
        return self._checked(found, missing)

    def _learn(self, factor, data):
        state = {}
        passes = factor.memorize_passes_needed(state, EvalEnvironment([self.functions]))
        for which in range(passes):
            factor.memorize_chunk(state, which, data)
            factor.memorize_finish(state, which)
        self.state = state

    def _checked(self, found, missing):
        rows = int((~missing).sum())
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if found.shape != (rows,) or found.dtype.kind not in "fiub":
            raise FormulaError(
                f"expression {self.code!r} must give one number for each row; got shape {found.shape} of {found.dtype}"
            )
        if found.dtype.kind == "b" and not missing.any():
            return found
        out = np.full(len(missing), np.nan)
        out[~missing] = found
        return out

    def _columns(self, frame):
        tree = _tree(self.code)
        roots = {id(_root(n.func)) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        roots |= {id(_root(n)) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        columns = [n.args[0].value for n in ast.walk(tree) if _called(n) == "Q" and _column_of(n) is not None]
        for name in columns:
            require_column(frame, name, f"expression {self.code!r}")
        for node in (n for n in ast.walk(tree) if isinstance(n, ast.Name)):
            if node.id in frame.columns and node.id not in columns:
                columns.append(node.id)
            elif id(node) in roots:
                self._function(node.id, frame)
            elif node.id not in frame.columns:
                require_column(frame, node.id, f"expression {self.code!r}")
        return columns

    def _function(self, name, frame):
        if name in self.functions or name in patsy.builtins.builtins or hasattr(builtins, name):
            return
        if name in TRANSFORMS:
            raise FormulaError(f"expression {self.code!r}: {name}() must stand outermost, e.g. {name}(s1 + s2)")
        found = _from_caller(name)
        if found is None:
            require_column(frame, name, f"expression {self.code!r}: no such function in your code")
        self.functions[name] = found

    def __getstate__(self):
        state = {k: v for k, v in self.state.items() if k != "eval_env"}
        return {"code": self.code, "functions": self.functions, "state": state}

    def __setstate__(self, kept):
        self.__dict__.update(kept)
        if self.state:
            self.state["eval_env"] = EvalEnvironment([self.functions, patsy.builtins.builtins])


def _root(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _from_caller(name):
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "isocal":
        frame = frame.f_back
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            if name in space:
                return space[name]
        frame = frame.f_back
    return None


def _values(frame, name):
    try:
        return frames.numbers(frame, name)
    except ValueError:
        return np.array(frame[name].to_numpy(), dtype=object)


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
