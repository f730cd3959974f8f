"""The report of a check: one line if it passed; else the task, the violated property, its node and what to read."""

from __future__ import annotations

import contextlib
import dataclasses
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fxbook.catalogue import About, headings, place
from fxbook.checking import printed
from fxbook.checking.judge import Verdict
from fxbook.checking.symptom import entry_of
from fxbook.graph.record import GraphRecord, NodeRecord

if TYPE_CHECKING:
    from fxbook.checking.failed import FailedCase

_ROWS, _MOST_CALL, _END_OF_CALL = 12, 120, 40
_NAMED = re.compile(r"\b[Nn]odes? `([^`]+)`")
_STYLE = """
.fx-report{border-left:4px solid #d55e00;padding:.3em 0 .3em .9em;margin:.4em 0;color:inherit;background:transparent}
.fx-report.fx-passed{border-left-color:#0072b2}
.fx-report p{margin:.35em 0}.fx-report a{color:inherit;text-decoration:underline}
.fx-report pre{margin:.35em 0;padding:0;white-space:pre-wrap;background:transparent;color:inherit;border:0}
.fx-report .fx-meant .fx-shape{stroke-width:3}.fx-report .fx-meant .fx-word{font-weight:700}
"""


@dataclasses.dataclass(frozen=True)
class Report:
    """What :func:`fxbook.check` returns; displays itself at the end of a cell.

    ``passed`` says whether every public check holds; ``violated`` names the property that does not hold; ``case`` is
    the case in which it fails, or ``None`` if the fault belongs to no case.
    """

    about: About
    verdict: Verdict
    note: str = ""
    case: FailedCase | None = None

    @property
    def passed(self) -> bool:
        return self.verdict.passed

    @property
    def violated(self) -> str:
        return self.verdict.violation.rule if self.verdict.violation else ""

    @property
    def message(self) -> str:
        return self.verdict.violation.message if self.verdict.violation else ""

    @property
    def node(self) -> NodeRecord | None:
        graph, violation = self.verdict.graph, self.verdict.violation
        if graph is None or violation is None or violation.node is None:
            return None
        return graph.nodes[violation.node]

    @property
    def read(self) -> str:
        """``"chapter#anchor"`` to read, or ``""``."""
        see = self.verdict.violation.see if self.verdict.violation else None
        return see or entry_of(self.message, self.about.chapter) or self.about.read

    def __repr__(self) -> str:
        if self.passed:
            return "\n".join([self._heading(), *self._afterwards()])
        lines = [self._heading(), *self._said()]
        if self._shown is not None:
            lines += [f"{self._shown.title}:", *_table(self._shown)]
        if self.read:
            lines.append(f"Read: {place(self.read)} (chapters/{_file(self.read)})")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<p><strong>{html.escape(self._heading())}</strong></p>"]
        if self.passed:
            parts += [f"<p>{_code(line)}</p>" for line in self._afterwards()]
        else:
            parts += [f"<p>{_code(line)}</p>" for line in self._said()]
            parts += [_drawing(self._shown)] if self._shown is not None else []
            if self.read:
                parts.append(f"<p>Read: {_linked(self.read)}</p>")
        kind = "fx-passed" if self.passed else "fx-failed"
        label = html.escape(f"Report on {self.about.title}", quote=True)
        inside = "".join(parts)
        return f'<style>{_STYLE}</style><div class="fx-report {kind}" role="group" aria-label="{label}">{inside}</div>'

    @property
    def _shown(self) -> _Shown | None:
        """The answer's own graph; the given graph if there is no other, or if only that one has the named node."""
        verdict, violation, named = self.verdict, self.verdict.violation, self._named
        if verdict.graph is not None and (named is None or verdict.graph.named(named.name)):
            return _Shown(verdict.graph, "Your graph", self.node, violation is not None and violation.broken)
        if verdict.given is None:
            return None
        of = f" ({self.case.name})" if self.case else ""
        return _Shown(verdict.given, f"The graph that your code was given{of}", named, broken=False)

    @property
    def _named(self) -> NodeRecord | None:
        """The node of the given graph that the violation is about, or that its message names."""
        given, violation = self.verdict.given, self.verdict.violation
        if given is None or violation is None:
            return None
        if violation.given is not None and violation.given < len(given):
            return given.nodes[violation.given]
        return next(filter(None, map(given.named, _NAMED.findall(violation.message))), None)

    def _heading(self) -> str:
        named = self.about.id if self.about.title == self.about.id else f"{self.about.id} ({self.about.title})"
        return f"{named}: {'solved.' if self.passed else 'not yet.'}"

    def _afterwards(self) -> list[str]:
        return [
            *([f"What if: {self.about.what_if}"] if self.about.what_if else []),
            *([self.note] if self.note else []),
        ]

    def _said(self) -> list[str]:
        lines = [self.message]
        if self.verdict.line:
            lines.append(f"In your code: `{self.verdict.line}`")
        if self.node is not None and f"`{self.node.name}`" not in self.message:
            lines.append(f"Node: `{self.node.name}`")
        if self.case is not None and self._shown is None and self.case.name not in self.message:
            lines.append(f"Case: {self.case.name}")
        lines += printed.told(self.verdict.printed)
        return lines + [line for line in (self.about.needs_newer_torch, self.note) if line]


class _Shown(NamedTuple):
    graph: GraphRecord
    title: str
    node: NodeRecord | None
    broken: bool

    @property
    def mark(self) -> str:
        return "broken" if self.broken else "meant"


def _table(shown: _Shown) -> list[str]:
    graph, meant, first = shown.graph, shown.node, 0
    sign = "!" if shown.broken else "?"
    if len(graph) > _ROWS and meant is not None:
        first = max(0, min(meant.index - _ROWS // 2, len(graph) - _ROWS))
    nodes = graph.nodes[first : first + _ROWS]
    width = max((len(node.name) for node in nodes), default=0)
    opcodes = max((len(node.op) for node in nodes), default=0)
    rows = [
        f"{sign if meant is not None and node.index == meant.index else ' '} "
        f"{node.index:>3}  {node.name:<{width}}  {node.op:<{opcodes}}  {_cut(node.call)}"
        for node in nodes
    ]
    if not rows:
        return ["  (no node)"]
    above, below = first, len(graph) - first - len(nodes)
    return [*([f"  … {above} more above"] if above else []), *rows, *([f"  … {below} more below"] if below else [])]


def _cut(call: str) -> str:
    return call if len(call) <= _MOST_CALL else f"{call[: _MOST_CALL - _END_OF_CALL]} … {call[-_END_OF_CALL:]}"


def _drawing(shown: _Shown) -> str:
    draw = _drawer()
    if draw is not None:
        marks = {} if shown.node is None else {shown.node.index: shown.mark}
        # A report without a picture is better than an error about a picture.
        with contextlib.suppress(Exception):
            return str(draw(shown.graph, shown.title, marks)._repr_html_())
    return f"<pre>{html.escape(chr(10).join(_table(shown)))}</pre>"


def _drawer() -> Callable[..., object] | None:
    try:
        from fxbook.drawing import draw_record
    except ImportError:
        return None
    return draw_record


def _linked(read: str) -> str:
    """The place to read, as a link if the chapters are in a folder next to the exercises, as in the book."""
    told = html.escape(place(read))
    notebook = Path("../chapters", _file(read))
    if not notebook.is_file():
        return f"{told} (<code>chapters/{html.escape(_file(read))}</code>)"
    heading = dict(headings()).get(read, "").replace(" ", "-")
    # JupyterLab finds a section by its heading; it does not know the anchors of the pages.
    target = html.escape(notebook.as_posix() + (f"#heading={heading}" if heading else ""))
    return f'<a href="{target}">{told}</a>'


def _file(read: str) -> str:
    return f"{read.partition('#')[0]}.ipynb"


def _code(line: str) -> str:
    pieces = html.escape(line).split("`")
    if len(pieces) % 2 == 0:
        return html.escape(line)
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))
