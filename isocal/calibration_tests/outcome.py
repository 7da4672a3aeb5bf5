"""What every calibration test returns."""

from dataclasses import dataclass
from typing import ClassVar

from ..summary import Block, Summary


@dataclass(frozen=True, eq=False)
class Outcome:
    """A test's statistic, its p value, degrees of freedom (None where it has none), law under the null, and n.

    ``tests`` says in one sentence what is tested; ``n`` counts an integer weight as that many rows.
    """

    term: ClassVar[str]
    title: ClassVar[str]
    tests: ClassVar[str]

    statistic: float
    p_value: float
    df: float | None
    null: str
    n: float

    def facts(self):
        """{what: printed value} of this test alone, for the summary."""
        return {}

    def tables(self):
        """{title: {column: list}} that the summary prints below the head."""
        return {}

    def notes(self):
        """Sentences below the summary."""
        return ()

    def summary(self):
        """The test on one page, as text, HTML and LaTeX.

        Returns
        -------
        Summary
            ``print`` it, or take ``as_text() as_html() as_latex()``; two summaries compare with ``==``.
        """
        left = {"Test:": self.title, "Null law:": self.null, "Rows:": f"{self.n:,.6g}"}
        right = {"Statistic:": _statistic(self.statistic), "P value:": printed_p(self.p_value)}
        right |= {} if self.df is None else {"Deg. of freedom:": f"{self.df:g}"}
        for name, value in self.facts().items():
            side = left if len(left) < len(right) else right
            side[f"{name}:"] = value
        height = max(len(left), len(right))
        pairs = [list(side.items()) + [("", "")] * (height - len(side)) for side in (left, right)]
        rows = tuple((a[1], *b) for a, b in zip(*pairs, strict=True))
        blocks = [Block(f"{self.title} Test", None, tuple(a[0] for a in pairs[0]), rows)]
        blocks += [_block(title, columns) for title, columns in self.tables().items()]
        return Summary(tuple(blocks), (f"Tests: {self.tests}", *self.notes()))

    def __str__(self):
        return self.summary().as_text()


def printed_p(p):
    """A p value in four decimals, or in powers of ten below them."""
    return f"{p:.4f}" if p >= 0.0001 or p == 0 else f"{p:.2e}"


def _statistic(value):
    return f"{value:.3e}" if 0 < abs(value) < 0.01 else f"{value:.4f}"


def _block(title, columns):
    stubs, *rest = columns
    rows = tuple(zip(*([_text(v) for v in columns[name]] for name in rest), strict=True))
    return Block(title, (stubs, *rest), tuple(_text(v) for v in columns[stubs]), rows)


def _text(value):
    return f"{value:.4f}" if isinstance(value, float) else f"{value}"
