"""Summary: tables in statsmodels' look, rendered as text, HTML and LaTeX; two summaries compare with ==."""

from dataclasses import dataclass
from html import escape
from math import floor, log10

LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
         ">": r"\textgreater{}", "|": r"\textbar{}"} | {c: "\\" + c for c in "&%$#_{}"}  # fmt: skip


@dataclass(frozen=True)
class Block:
    """One table: title, headers (None for the two-column head, else that of the stubs first), stubs, rows of text."""

    title: str | None
    headers: tuple | None
    stubs: tuple
    rows: tuple


@dataclass(frozen=True)
class Summary:
    """What ``Results.summary()`` returns; ``print`` it, or take ``as_text()``, ``as_html()``, ``as_latex()``."""

    blocks: tuple
    notes: tuple = ()

    def as_text(self):
        """Plain text, all tables equally wide."""
        texts = [self._text(block, 0) for block in self.blocks]
        width = max(len(text.splitlines()[-1]) for text in texts)
        room = [width - len(text.splitlines()[-1]) for text in texts]
        texts = [self._text(block, more) for block, more in zip(self.blocks, room, strict=True)]
        parts = [text.rstrip("\n").rsplit("\n", 1)[0] for text in texts[:-1]] + [texts[-1].rstrip("\n")]
        return "\n".join(line.rstrip() for line in "\n".join([*parts, *self.notes]).splitlines())

    @staticmethod
    def _text(block, room):
        if block.headers is None and room:
            wide = max(len(r[0]) for r in block.rows) + room
            rows = [(a.ljust(wide), *rest) for a, *rest in block.rows]
            block = Block(block.title, None, block.stubs, tuple(rows))
        wide = max(len(s) for s in block.stubs) + (room if block.headers else 0)
        return str(_simple_table(block, str, [s.ljust(wide) for s in block.stubs]))

    def as_html(self):
        """HTML; every cell is escaped here."""
        tables = [_simple_table(b, escape, [escape(s) for s in b.stubs]).as_html() for b in self.blocks]
        return "\n".join([*tables, *(f"<p>{escape(note)}</p>" for note in self.notes)])

    def as_latex(self):
        """LaTeX tabulars; every cell is escaped here."""
        tables = [_simple_table(b, _latex, [_latex(s) for s in b.stubs]).as_latex_tabular() for b in self.blocks]
        return "\n".join([*tables, *map(_latex, self.notes)])

    def __str__(self):
        return self.as_text()

    def __repr__(self):
        return self.as_text()

    def _repr_html_(self):
        return self.as_html()


def _latex(text):
    return "".join(LATEX.get(c, c) for c in text)


def _simple_table(block, safe, stubs):
    """A statsmodels SimpleTable of already escaped cells."""
    from statsmodels.iolib.table import SimpleTable
    from statsmodels.iolib.tableformatting import fmt_2cols, fmt_params

    rows = [[safe(cell) for cell in row] for row in block.rows]
    title = None if block.title is None else safe(block.title)
    latex = {"replacements": {}}
    whole = [(stub, *row) for stub, row in zip(stubs, rows, strict=True)]
    whole += [block.headers] if block.headers else []
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    if block.headers is None:
        text = {**fmt_2cols, "data_fmts": ["%s"] * 3, "data_aligns": "lrr", "colwidths": widths}
        text |= {"stub_fmt": "%s", "colsep": "  "}
        return SimpleTable(rows, None, stubs, title, txt_fmt=text, ltx_fmt=latex)
    text = {**fmt_params, "data_fmts": ["%s"], "colwidths": widths, "colsep": "   "}
    first, *headers = [safe(h) for h in block.headers]
    table = SimpleTable(rows, headers, stubs, title, txt_fmt=text, ltx_fmt=latex)
    if first:
        table[0][0].data, table[0][0].datatype = first, "stub"
    return table


def power_above(residual):
    """The power of ten a residual lies below, at least 1e-12: round-off differs between machines, its size does not."""
    return f"1e-{min(max(floor(-log10(residual)), 0), 12):02d}" if residual > 0 else "1e-12"
