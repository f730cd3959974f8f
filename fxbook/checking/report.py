"""The report of a check: one line if it passed; else the task, what is violated, by which node, what to read."""

from __future__ import annotations

import contextlib
import dataclasses
import html
from collections.abc import Callable
from pathlib import Path

from fxbook.checking.judge import Verdict
from fxbook.checking.symptom import entry_of
from fxbook.graph.record import GraphRecord, NodeRecord
from fxbook.learning.exercises import About, place

_ROWS = 12
_STYLE = """
.fx-report{border-left:4px solid #d55e00;padding:.3em 0 .3em .9em;margin:.4em 0;color:inherit;background:transparent}
.fx-report.fx-passed{border-left-color:#0072b2}
.fx-report p{margin:.35em 0}.fx-report a{color:inherit;text-decoration:underline}
.fx-report pre{margin:.35em 0;padding:0;white-space:pre-wrap;background:transparent;color:inherit;border:0}
"""


@dataclasses.dataclass(frozen=True)
class Report:
    """What :func:`fxbook.check` found; displays by itself at the end of a cell.

    ``passed`` says whether every public check holds; ``violated`` names the property that does not.
    """

    about: About
    verdict: Verdict
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether the public checks passed."""
        return self.verdict.passed

    @property
    def violated(self) -> str:
        """The name of the violated property, ``""`` where none is."""
        return self.verdict.violation.rule if self.verdict.violation else ""

    @property
    def message(self) -> str:
        """What is violated, in one sentence; ``""`` where nothing is."""
        return self.verdict.violation.message if self.verdict.violation else ""

    @property
    def node(self) -> NodeRecord | None:
        """The node that violates it."""
        graph, violation = self.verdict.graph, self.verdict.violation
        if graph is None or violation is None or violation.node is None:
            return None
        return graph.nodes[violation.node]

    @property
    def read(self) -> str:
        """``"chapter#anchor"`` to read, ``""`` where none is known."""
        look = self.verdict.violation.look if self.verdict.violation else None
        return look or entry_of(self.message, self.about.chapter) or self.about.read

    def __repr__(self) -> str:
        if self.passed:
            return "\n".join([self._heading(), *self._afterwards()])
        lines = [self._heading(), *self._said()]
        if self.verdict.graph is not None:
            lines += ["Your graph:", *_table(self.verdict.graph, self.node)]
        if self.read:
            lines.append(f"Read: {place(self.read)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<p><strong>{html.escape(self._heading())}</strong></p>"]
        if self.passed:
            parts += [f"<p>{_code(line)}</p>" for line in self._afterwards()]
        else:
            parts += [f"<p>{_code(line)}</p>" for line in self._said()]
            parts += [_drawing(self.verdict.graph, self.node)] if self.verdict.graph is not None else []
            if self.read:
                parts.append(f"<p>Read: {_linked(self.read)}</p>")
        kind = "fx-passed" if self.passed else "fx-failed"
        label = html.escape(f"Report on {self.about.title}", quote=True)
        inside = "".join(parts)
        return f'<style>{_STYLE}</style><div class="fx-report {kind}" role="group" aria-label="{label}">{inside}</div>'

    def _heading(self) -> str:
        named = self.about.id if self.about.title == self.about.id else f"{self.about.id} ({self.about.title})"
        return f"{named}: {'public checks passed.' if self.passed else 'not yet.'}"

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
        if self.verdict.printed.strip():
            printed = self.verdict.printed.strip().splitlines()
            lines.append(f"It printed: {printed[0][:100]}" + (" …" if printed[1:] or len(printed[0]) > 100 else ""))
        return lines + ([self.note] if self.note else [])


def _table(graph: GraphRecord, broken: NodeRecord | None) -> list[str]:
    """The graph as rows of text, the broken node marked; of a long graph the part around it."""
    first = 0
    if len(graph) > _ROWS and broken is not None:
        first = max(0, min(broken.index - _ROWS // 2, len(graph) - _ROWS))
    shown = graph.nodes[first : first + _ROWS]
    width = max((len(node.name) for node in shown), default=0)
    opcodes = max((len(node.op) for node in shown), default=0)
    rows = [
        f"{'!' if broken is not None and node.index == broken.index else ' '} "
        f"{node.index:>3}  {node.name:<{width}}  {node.op:<{opcodes}}  {node.call}"
        for node in shown
    ]
    above, below = first, len(graph) - first - len(shown)
    return [*([f"  … {above} more above"] if above else []), *rows, *([f"  … {below} more below"] if below else [])]


def _drawing(graph: GraphRecord, broken: NodeRecord | None) -> str:
    """The graph drawn with the broken node marked; as text where it cannot be drawn."""
    draw = _drawer()
    if draw is not None:
        marks = {} if broken is None else {broken.index: "broken"}
        # A report without a picture is better than an error about a picture.
        with contextlib.suppress(Exception):
            return str(draw(graph, "Your graph", marks)._repr_html_())
    return f"<pre>{html.escape(chr(10).join(_table(graph, broken)))}</pre>"


def _drawer() -> Callable[..., object] | None:
    try:
        from fxbook.drawing import draw_record
    except ImportError:
        return None
    return draw_record


def _linked(read: str) -> str:
    """The place to read, as a link where the chapters lie beside the exercises, as they do in the book."""
    told = html.escape(place(read))
    chapter, _, anchor = read.partition("#")
    address = f"../chapters/{chapter}.ipynb"
    if not Path(address).is_file():
        return told
    target = html.escape(address + (f"#{anchor}" if anchor else ""))
    return f'<a href="{target}">{told}</a>'


def _code(line: str) -> str:
    """Escaped, with `…` as code."""
    pieces = html.escape(line).split("`")
    if len(pieces) % 2 == 0:
        return html.escape(line)
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))
