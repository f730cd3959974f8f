"""The page on what the finished passes did to models from `transformers`, generated from a recorded run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from press.book import Book

# Written by `python -m tests.architectures`, compared by `make prove ROOM=models`.
RECORD = Path("book/reference/architectures.yml")
# The name of a node or layer in a reason.
_NAME = re.compile(r"\b[a-z]\w*(?:[._]\w+)+")
_PAGE = """\
# Passes on models that nobody here wrote

The finished passes of the chapters, on {count} architectures of `transformers` with small configurations and random
weights. Each pass ran on its own graph of each model. The result was compared with what it has to equal: outputs and,
where the pass keeps them, gradients. None was wrong. `make prove ROOM=models` runs all of this.

Each section lists the models that the pass changed, with their number of nodes before and after it. One number means
that the count stayed the same. A pass that leaves nodes alone logs the reason, and the section repeats it. In the
models that are not listed, there was nothing to do.

{passes}
"""


def page_text(book: Book) -> str:
    record = yaml.safe_load((book.root / RECORD).read_text(encoding="utf-8"))
    architectures: dict[str, list[dict[str, Any]]] = record["architectures"]
    parts = []
    for place, run in enumerate(record["passes"]):
        trials = {name: found[place] for name, found in architectures.items()}
        chapter = f"[chapter {run['chapter'][:2]}](../{run['chapter']}.ipynb)"
        # The name alone is not unique: two of the passes have the same one.
        parts.append(f"## `{run['name']}` {run['does']}\n\nFrom {chapter}.\n\n" + "\n".join(_rows(trials)))
    return _PAGE.format(count=len(architectures), passes="\n\n".join(parts))


def _rows(trials: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What a pass did, as list items: the models that it changed, then those that it left alone, by reason."""
    if changed := [
        f"`{name}`\N{NO-BREAK SPACE}{_nodes(*one['nodes'])}" for name, one in trials.items() if "nodes" in one
    ]:
        yield f"- Changed: {', '.join(changed)}."
    reasons: dict[str, list[str]] = {}
    for name, one in trials.items():
        for reason in one.get("left", {}):
            reasons.setdefault(f"Left nodes alone, because {_reason_text(reason)}", []).append(f"`{name}`")
        if one.get("no graph"):
            reasons.setdefault(f"No graph, because of a {_reason_text(one['no graph'])}", []).append(f"`{name}`")
    for reason, names in sorted(reasons.items()):
        yield f"- {reason}: {', '.join(names)}."


def _nodes(before: int, after: int) -> str:
    return f"{before}" if before == after else f"{before}\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}{after}"


def _reason_text(reason: str) -> str:
    return _NAME.sub(lambda name: f"`{name[0]}`", reason)
