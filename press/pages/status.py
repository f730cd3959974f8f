"""The status page: what the book consists of and what was proven of it, counted from the files; no number is typed."""

from __future__ import annotations

import ast
import collections
import json
import re
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from press import ROOT
from press.manuscript.claims import VERDICTS
from press.pages.fact_check import all_claims
from press.printing.derive import manuscripts
from press.printing.execution import load

_PAGE = """\
# Status

Counted from the files of the book whenever it is printed, and held by its tests. The foot of this page tells the day on
which it was built.

| package | version |
|---|---|
{versions}

| what the book shows | count |
|---|---|
| notebooks that are run and compared | {notebooks} |
| cells of code in them | {cells} |
| outputs that are compared, of {outputs} | {compared} |
| outputs that differ from run to run, whose cells assert what they show | {hidden} |
| error messages asserted by their cells | {errors} |
| claims of the fact check | {claims} |
| names listed on the official page of torch.fx that a cell uses | {names} |

| what the exercises do | count |
|---|---|
| exercises | {exercises} |
| right answers, besides the printed solution, that pass | {right} |
| wrong answers that are told their mistake | {wrong} |
"""
_VERSIONS = ("torch", "jupyter-book", "nbval", "matplotlib", "graphviz")


def page_text(root: Path = ROOT) -> str:
    """The text of ``chapters/reference/status.md``."""
    from press.pages.api.page import coverage  # Needs torch, which takes seconds to import.

    pins = dict(re.findall(r"^([\w-]+)==(\S+)", (root / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE))
    cells = [cell for notebook in _printed(root) for cell in notebook.cells if cell.cell_type == "code"]
    shown = [cell for cell in cells if cell.outputs]
    hidden = [cell for cell in shown if "nbval-ignore-output" in cell.metadata.get("tags", ())]
    verdicts = collections.Counter(claim.verdict for _, found in all_claims(root) for claim in found)
    right, wrong = _answers(root)
    return _PAGE.format(
        versions="\n".join(f"| {name} | {pins[name]} |" for name in _VERSIONS if name in pins),
        notebooks=sum(1 for _ in _printed(root)),
        cells=f"{len(cells):,}",
        outputs=f"{len(shown):,}",
        compared=f"{len(shown) - len(hidden):,}",
        hidden=len(hidden),
        errors=sum(cell.source.count("expect_error(") for cell in cells),
        claims=f"{verdicts.total()}: " + ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS),
        names=coverage(root),
        exercises=len(json.loads((root / "fxbook" / "exercises.json").read_text(encoding="utf-8"))),
        right=right,
        wrong=wrong,
    )


def _printed(root: Path) -> Iterator[NotebookNode]:
    """The notebooks that nbval runs: chapters, reference and solutions."""
    for path in manuscripts(root):
        inside = path.relative_to(root / "book").with_suffix(".ipynb")
        folder = {"chapters": ".", "exercises": "solutions"}.get(inside.parts[0], "chapters")
        if notebook := load(root / folder / (inside.name if folder == "solutions" else inside)):
            yield notebook


def _answers(root: Path) -> tuple[int, int]:
    """How many answers of the exercises are marked right and wrong, by their decorators or the calls of these."""
    counted: collections.Counter[str] = collections.Counter()
    for path in sorted((root / "fxbook" / "tasks").glob("*/*/answers.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                counted["right"] += any(getattr(mark, "id", "") == "right" for mark in node.decorator_list)
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("right", "wrong"):
                counted[node.func.id] += 1
    return counted["right"], counted["wrong"]
