"""The page that tells what the finished passes did to models of `transformers`: printed from a record of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from press.book import Book

# Written by `python -m tests.architectures`, compared by `make prove ROOM=models`.
RECORD = Path("book/reference/architectures.yml")
# The name of a node or of a layer, in a reason.
_NAME = re.compile(r"\b[a-z]\w*(?:[._]\w+)+")
_PAGE = """\
# Passes on models that nobody here wrote

The finished passes of the chapters, on {count} architectures of `transformers` with small configurations and random
weights. Each pass ran on a graph of its own. The result was compared with what it has to equal: outputs and, where
the pass keeps them, gradients. None was wrong. A number counts nodes, before and after the pass. *left*: the pass has
changed nothing and logged why, as told below: it refused, or found nothing of the names it was given. An empty field:
it logged nothing. `make prove ROOM=models` runs all of this.

{passes}

| model | {heads} |
|---|{rule}
{rows}

## What was left alone, and why

| pass | reason | model |
|---|---|---|
{reasons}
"""


def page_text(book: Book) -> str:
    """The text of ``chapters/reference/architectures.md``."""
    record = yaml.safe_load((book.root / RECORD).read_text(encoding="utf-8"))
    passes: list[dict[str, str]] = record["passes"]
    architectures: dict[str, list[dict[str, Any]]] = record["architectures"]
    letters = [chr(ord("A") + place) for place in range(len(passes))]
    return _PAGE.format(
        count=len(architectures),
        passes="\n".join(
            f"- **{letter}** {run['does']}: `{run['name']}`, [chapter {run['chapter'][:2]}](../{run['chapter']}.ipynb)"
            for letter, run in zip(letters, passes, strict=True)
        ),
        heads=" | ".join(letters),
        rule="---|" * len(letters),
        rows="\n".join(
            f"| `{name}` | " + " | ".join(map(_cell, trials)) + " |" for name, trials in architectures.items()
        ),
        reasons="\n".join(_reasons(letters, architectures)),
    )


def _cell(trial: dict[str, Any]) -> str:
    if "nodes" not in trial:
        return "*left*" if "left" in trial else "no graph" if "no graph" in trial else ""
    before, after = trial["nodes"]
    return f"{before}" if before == after else f"{before} → {after}"


def _reasons(letters: list[str], architectures: dict[str, list[dict[str, Any]]]) -> list[str]:
    rows = []
    for place, letter in enumerate(letters):
        found: dict[str, list[str]] = {}
        for name, trials in architectures.items():
            trial = trials[place]
            for reason in [*trial.get("left", {}), *filter(None, [trial.get("no graph")])]:
                found.setdefault(reason, []).append(f"`{name}`")
        for reason, names in sorted(found.items()):
            told = _NAME.sub(lambda name: f"`{name[0]}`", reason)
            rows.append(f"| {letter} | {told} | {', '.join(names)} |")
    return rows
