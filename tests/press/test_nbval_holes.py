"""For each gap in nbval, the press rejects a bad notebook that nbval accepts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from press import ROOT
from press.printing.lint import lint
from press.stored import load

EXECUTED = sorted((ROOT / "chapters").rglob("*.ipynb")) + sorted((ROOT / "solutions").rglob("*.ipynb"))
UNEXECUTED = sorted((ROOT / "exercises").rglob("*.ipynb"))
# Every cell whose output nbval does not compare, with the reason. Additions need a reason.
HIDDEN_OUTPUTS = {
    "chapters/09_profiling.ipynb#c3e57a00": "times by node: the first run is slower",
    "chapters/09_profiling.ipynb#c11942a1": "a chart of times beside FLOPs",
    "chapters/09_profiling.ipynb#f57c9d88": "the noise floor, and the gain",
}


def code(
    source: str, count: int | None = 1, outputs: list[NotebookNode] | None = None, **metadata: object
) -> NotebookNode:
    cell = v4.new_code_cell(source, execution_count=count, outputs=outputs or [], metadata=metadata)
    cell.id = f"cell-{abs(hash(source)) % 10**6}"
    return cell


def result(count: int = 1, **data: str) -> NotebookNode:
    mime = {kind.replace("_", "/"): value for kind, value in data.items()}
    return v4.new_output("execute_result", data=mime, execution_count=count)


def timed(printed: str) -> NotebookNode:
    stream = v4.new_output("stream", name="stdout", text=printed)
    return code("assert 1 < 2", outputs=[stream], tags=["nbval-ignore-output"])


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
OTHER_PNG = PNG.replace("k+M9Q", "k+A9Q")
DISPLAY_PNG = f"from IPython.display import display; display({{'image/png': '{PNG}'}}, raw=True)"

# Notebooks that pass nbval although they are wrong: the cells, and the press's message.
HOLES = {
    "a cell that was never run, whatever it prints": (
        [code("print('wrong')", None)],
        "its execution count is None, not 1: nbval passes a cell that was never run",
    ),
    "a cell that expects an error and raises none": (
        [code("1 + 1", outputs=[result(text_plain="2")], tags=["raises-exception"])],
        "unknown cell tag 'raises-exception'",
    ),
    "a PNG that differs": (
        [code(DISPLAY_PNG, outputs=[v4.new_output("display_data", data={"image/png": OTHER_PNG})])],
        "nbval does not compare image/png: show an SVG",
    ),
    "an output hidden by a comment": (
        [code("# NBVAL_IGNORE_OUTPUT\n1 + 1", outputs=[result(text_plain="3")])],
        "a comment tells nbval what to compare",
    ),
    "a cell skipped by a comment": ([code("# NBVAL_SKIP\n1 / 0")], "a comment tells nbval what to compare"),
    "an output hidden by a tag, nothing asserted": (
        [code("1 + 1", outputs=[result(text_plain="3")], tags=["nbval-ignore-output"])],
        "its output is hidden from nbval, so it must assert the relation that it shows",
    ),
    "a cell skipped by a tag": ([code("1 / 0", tags=["nbval-skip"])], "unknown cell tag 'nbval-skip'"),
    "cells out of order": (
        [code("a = 1", 2), code("a", 1, [result(text_plain="1")])],
        "its execution count is 2, not 1",
    ),
}
# What a page must not show, whether nbval rejects or ignores it.
FAULTS = {
    "a stored error": (
        [code("1 / 0", outputs=[v4.new_output("error", ename="ZeroDivisionError", evalue="division by zero")])],
        "it raises ZeroDivisionError: assert the error in the cell",
    ),
    "stderr": ([code("1", outputs=[v4.new_output("stream", name="stderr", text="Warning")])], "it writes to stderr"),
    "address": ([code("1", outputs=[result(text_plain="<f at 0x7f0012345678>")])], "holds a memory address"),
    "script": ([code("1", outputs=[result(application_javascript="1")])], "does not work in a page"),
    "too large": ([code("1", outputs=[result(text_plain="x" * 300_000)])], "its output is larger than"),
    "a timing from a busy machine": (
        [timed("noise floor: 0.22 to 4.62")],
        "the machine was busy, its noise floor is 0.22 to 4.62: stop other programs on this machine, and generate the "
        "notebook again",
    ),
    "a timing without its noise floor": ([timed("1.31")], "no cell with a timing prints the noise floor"),
    "raw MyST": ([v4.new_markdown_cell("{ref}`a`")], "the MyST role 'ref' would show as raw text"),
}


def notebook_of(cells: list[NotebookNode]) -> NotebookNode:
    return v4.new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


@pytest.mark.parametrize("name", [*HOLES, *FAULTS])
def test_the_press_rejects(name: str) -> None:
    cells, message = {**HOLES, **FAULTS}[name]
    assert any(message in fault.message for fault in lint(notebook_of(cells), executed=True))


def test_a_timing_from_a_quiet_machine_is_accepted() -> None:
    assert lint(notebook_of([timed("noise floor: 0.97 to 1.04")]), executed=True) == []


@pytest.mark.room(name="cold")
def test_nbval_accepts_all_of_them(tmp_path: Path) -> None:
    """The gaps are real: without the press's rules, these notebooks would pass."""
    for number, (cells, _) in enumerate(HOLES.values()):
        nbformat.write(notebook_of(cells), tmp_path / f"hole_{number}.ipynb")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    # Warm kernels, because one of several cold ones once did not answer.
    options = ["-q", "-p", "no:cacheprovider", "-p", "press.printing.nbval_plugin", "--dist=loadfile"]
    command = [sys.executable, "-m", "pytest", "--nbval", *options]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    skipped = sum("SKIP" in str(cell).upper() for cells, _ in HOLES.values() for cell in cells)
    total = sum(len(cells) for cells, _ in HOLES.values())
    assert f"{total - skipped} passed, {skipped} skipped" in done.stdout


def test_copies_of_notebooks_are_not_collected(tmp_path: Path) -> None:
    for folder in ("_build/html/_sources", "chapters", "chapters/.ipynb_checkpoints", "exercises"):
        (tmp_path / folder).mkdir(parents=True)
        nbformat.write(notebook_of([code("1", outputs=[result(text_plain="1")])]), tmp_path / folder / "a.ipynb")
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), f"--nbval-sanitize-with={SANITIZE}"]
    command = [sys.executable, "-m", "pytest", *settings, "--collect-only", "-q", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    collected = [line for line in done.stdout.splitlines() if "::" in line]
    assert [line.split("::")[0] for line in collected] == ["chapters/a.ipynb"], done.stdout


SANITIZE = ROOT / "tests" / "nbval_sanitize.cfg"


@pytest.mark.parametrize("path", [*EXECUTED, *UNEXECUTED], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_notebook_passes(path: Path) -> None:
    notebook = load(path)
    assert notebook is not None
    assert lint(notebook, executed=path in EXECUTED) == []


def test_cells_that_hide_their_output_are_known() -> None:
    hidden = {
        f"{path.relative_to(ROOT).as_posix()}#{cell.id}"
        for path in EXECUTED
        for cell in nbformat.read(path, as_version=4).cells
        if "nbval-ignore-output" in cell.metadata.get("tags", [])
    }
    assert hidden == set(HIDDEN_OUTPUTS)
