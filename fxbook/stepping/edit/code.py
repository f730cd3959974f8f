"""The generated code as a panel: each line is linked to its node, and added and removed lines are marked."""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Collection, Mapping

from fxbook.drawing.lettering import clean
from fxbook.stepping.edit.snapshot import Snapshot

_ASSIGNMENT = re.compile(r"    (\w+)(?: : [^=]+)? = ")
_PARAMETER = re.compile(r"\b\w+\b(?=\s*[,:)=])")
_MOST_LINES = 90
_SIGNS = {" ": "", "+": "+", "-": "\N{MINUS SIGN}"}
_WORDS = {"+": "added", "-": "removed"}
_TAGS = {"+": "ins", "-": "del"}


def code_panel(
    snapshot: Snapshot,
    before: Snapshot | None,
    keys: Mapping[str, int],
    moved: Collection[int] = (),
    shown: Collection[int] | None = None,
) -> str:
    """The code as HTML, with marks on the lines that differ from those of ``before``.

    ``keys`` are given by name and include removed nodes, which stale code still has. The lines for ``moved`` nodes
    count as moved, not the lines around them. Only the lines of ``shown`` nodes appear; by default, all lines do.
    """
    outputs = [key for key, node in snapshot.nodes.items() if node.op == "output"]
    new = _lines(snapshot)
    marked = _compare(_lines(before) if before else new, new, keys, moved)
    rows, left_out = [], 0
    for sign, line in marked:
        key = _key(line, keys, outputs)
        wanted = shown is None or sign != " " or key in shown or not line.startswith("    ")
        if not wanted or len(rows) >= _MOST_LINES:
            left_out += 1
            continue
        rows += _gap(left_out)
        left_out = 0
        rows.append(_row(sign, line, key, keys))
    rows += _gap(left_out)
    stale = " fx-stale" if snapshot.record.stale else ""
    return f'<pre class="fx-code{stale}"><code>{"".join(rows)}</code></pre>'


def _lines(snapshot: Snapshot) -> list[str]:
    return [line for line in snapshot.code.strip().splitlines() if line.strip()]


def _compare(old: list[str], new: list[str], keys: Mapping[str, int], moved: Collection[int]) -> list[tuple[str, str]]:
    if old == new:
        return [(" ", line) for line in new]
    was, now = (
        [(line, when if _key(line, keys, []) in moved else 0) for line in lines] for when, lines in ((1, old), (2, new))
    )
    marked = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag == "equal":
            marked += [(" ", line) for line in new[c:d]]
        else:
            marked += [*(("-", line) for line in old[a:b]), *(("+", line) for line in new[c:d])]
    return marked


def _key(line: str, keys: Mapping[str, int], outputs: list[int]) -> int | None:
    if line.startswith("    return"):
        return outputs[0] if outputs else None
    match = _ASSIGNMENT.match(line)
    return keys.get(match[1]) if match else None


def _gap(count: int) -> list[str]:
    return [f'<span class="fx-row">    # … {count} more lines\n</span>'] if count else []


def _row(sign: str, line: str, key: int | None, keys: Mapping[str, int]) -> str:
    linked = f' data-fx-node="{key}"' if key is not None else ""
    text = html.escape(clean(line, 300))
    if line.startswith("def "):
        head, bracket, rest = text.partition("(")
        text = head + bracket + _PARAMETER.sub(lambda name: _parameter(name[0], keys), rest)
    word = f" fx-{_WORDS[sign]}" if sign in _WORDS else ""
    if sign in _TAGS:
        bare = text.lstrip()
        text = f"{text[: len(text) - len(bare)]}<{_TAGS[sign]}>{bare}</{_TAGS[sign]}>"
    gutter = f'<span class="fx-gutter">{_SIGNS[sign]}</span>'
    return f'<span class="fx-row{word}"{linked}>{gutter}{text}\n</span>'


def _parameter(name: str, keys: Mapping[str, int]) -> str:
    return f'<span data-fx-node="{keys[name]}">{name}</span>' if name in keys else name
