"""A sheet is read in any shape; if it cannot be read, a sentence says why."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import jupytext
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from classroom.assignment import of_chapters
from classroom.collect.reading import ParsedSheet, read_sheet, stubs
from classroom.grade.records import Submission
from classroom.tests import students as class_
from fxbook.learning import sheets

ASSIGNMENT = of_chapters(["02"])
[CHAPTER] = ASSIGNMENT.chapters
EXERCISE = "02-put-in-order"
ANSWER = "put_in_order"
STUB = stubs(CHAPTER)[EXERCISE]
DEFINED = "def put_in_order(traced):\n    return helper(traced)"


def read(name: str, data: bytes) -> ParsedSheet:
    return read_sheet(Submission("a", "A", {CHAPTER: data}, {CHAPTER: name}), ASSIGNMENT, CHAPTER)


def of(*cells: str) -> sheets.Sheet:
    return sheets.parse("x.ipynb", class_.from_cells(cells))


@pytest.mark.parametrize("shape", class_.SHAPES)
def test_answer_is_found_in_every_shape_of_a_sheet(shape: str) -> None:
    notebook = class_.notebook(CHAPTER, {EXERCISE: class_.solution(EXERCISE)})
    suffix, data = class_.SHAPES[shape](notebook)
    if suffix == ".zip":
        suffix, data = class_.untouched(notebook)
    reading = read(CHAPTER + suffix, data)
    assert reading.sheet is not None, reading.problem
    names: dict[str, object] = {}
    cells = [cell for _, cell in reading.sheet.only_for(ANSWER).needed_for(ANSWER)]
    exec("\n".join(cells), names)
    assert callable(names[ANSWER])
    assert reading.defined_in[ANSWER][-1] in reading.required_cells[ANSWER]


def test_stub_never_counts_beside_an_answer() -> None:
    stub, other = stubs(CHAPTER)[EXERCISE], f"def {ANSWER}(traced):\n    return 2"
    spaced = stub.replace("(", "( ", 1) + "  # not mine"
    for cells, home in (
        ([other, stub], 1),
        ([other, spaced, stub], 1),
        ([stub, other], 2),
        ([other, stub, other], 3),
        ([stub, stub], 2),
        ([other, stub + "\nx = 1"], 2),
    ):
        assert read("x.ipynb", class_.from_cells(cells)).defined_in[ANSWER][-1] == home, cells


def test_untouched_answers_are_recognised() -> None:
    stub = stubs(CHAPTER)[EXERCISE]
    for cells, untouched in (
        ([stub], True),
        ([stub.replace("(", "( ", 1), "x = 1", stub], True),
        ([stub + "\nx = 1"], False),
        ([stub, f"def {ANSWER}(traced):\n    return 2"], False),
        (["x = 1"], False),
    ):
        assert (ANSWER in read("x.ipynb", class_.from_cells(cells)).untouched) == untouched, cells


OTHER = "def {}(traced):\n    return 2"
CHECK = f'check("{EXERCISE}", {{}})'


@pytest.mark.parametrize(
    "cells",
    [
        [OTHER.format("mine"), CHECK.format("mine")],
        [OTHER.format("mine"), STUB, CHECK.format("mine")],
        [STUB, OTHER.format("mine"), CHECK.format("mine")],
        [CHECK.format("mine"), "class mine: ..."],
        ["mine = lambda traced: traced", CHECK.format("mine")],
        [OTHER.format("mine"), OTHER.format("older"), CHECK.format("older"), CHECK.format("mine")],
        [OTHER.format("mine"), f'report = check(exercise_id="{EXERCISE}", answer=mine)\nassert report.passed'],
        [OTHER.format("mine"), f"import fxbook\nprint(fxbook.check('{EXERCISE}', mine))"],
        ["def mine(traced:\n    return 2", CHECK.format("mine")],
    ],
)
def test_renamed_answer_is_found_through_its_check(cells: list[str]) -> None:
    reading = read("x.ipynb", class_.from_cells(cells))
    assert reading.renamed_to == {ANSWER: "mine"} and ANSWER not in reading.untouched and not reading.called
    home = reading.defined_in[ANSWER][-1]
    assert "mine" in reading.sheet.cells[home - 1] and home in reading.required_cells[ANSWER]


@pytest.mark.parametrize(
    ("cells", "called"),
    [
        ([OTHER.format(ANSWER), OTHER.format("mine"), CHECK.format("mine")], ""),
        ([OTHER.format("mine"), STUB, CHECK.format("mine"), CHECK.format(ANSWER)], ""),
        ([OTHER.format("mine"), CHECK.format("lambda traced: 1")], "lambda traced: 1"),
        (["import tools", CHECK.format("tools.mine")], "tools.mine"),
        ([OTHER.format("mine"), CHECK.format("mine(1)")], "mine(1)"),
        ([CHECK.format("mine")], "mine"),
        # An answer to another exercise does not count: the student copied a check without changing it.
        ([class_.solution("02-chain-behind-a-node").source, CHECK.format("insert_chain")], "insert_chain"),
        ([OTHER.format("mine"), 'check("02-halve-the-skip", mine)'], ""),
        ([OTHER.format("mine"), f'name = "{EXERCISE}"\ncheck(name, mine)'], ""),
        ([CHECK.format("(" * 80 + ")" * 80)], "()"),
        ([CHECK.format("mine" * 100)], "mine" * 29 + "min…"),
    ],
)
def test_renamed_answer_is_not_guessed(cells: list[str], called: str) -> None:
    reading = read("x.ipynb", class_.from_cells(cells))
    assert ANSWER not in reading.renamed_to and reading.called.get(ANSWER, "") == called


def test_unused_functions_are_reported() -> None:
    helper, used = "def helper(x): return 1", f"def {ANSWER}(traced): return helper(traced)"
    assert read("x.ipynb", class_.from_cells([STUB, OTHER.format("mine"), CHECK.format(ANSWER)])).unused_functions == [
        "mine"
    ]
    assert read("x.ipynb", class_.from_cells([helper, used])).unused_functions == []
    solved = class_.notebook(CHAPTER, {about.id: class_.solution(about.id) for about in ASSIGNMENT.exercises})
    for notebook in (solved, class_.notebook(CHAPTER, {})):
        reading = read("x.ipynb", class_.as_bytes(notebook))
        assert reading.unused_functions == [] and reading.renamed_to == {} and reading.called == {}
        assert reading.worked == (notebook is solved)


def test_unreadable_files_get_a_reason_for_the_teacher() -> None:
    for data, reason in (
        (b"", "it is empty"),
        (class_.damaged(class_.notebook(CHAPTER, {}))[1], "it ends too early"),
        (b"<!DOCTYPE html>", "it is a web page"),
        (b"%PDF-1.7", "it is a PDF"),
        (b"PK\3\4", "it is a zip or an Office document"),
        (b"\x80\x04K\x01.", "it is not text"),
        (b"{}\n<<<<<<< HEAD\n{}", "conflict markers"),
        (b"Dear teacher,", "it is text, but not a notebook"),
    ):
        reading = read("x.ipynb", data)
        assert reading.reason.startswith(f"x.ipynb cannot be read: {reason}") or reason in reading.reason
        assert reading.reason.endswith("Ask for the file again.") and "Error" not in reading.reason + reading.problem


def deep_lists() -> bytes:
    return b'{"nbformat": 4, "cells": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}"


def deep_metadata() -> bytes:
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    return b'{"nbformat": 4, "nbformat_minor": 5, "metadata": %s, "cells": []}' % deep


def many_objects() -> bytes:
    return b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [' + b"{}," * 3_000_000 + b"{}]}"


def a_bomb_of_yaml() -> bytes:
    lines = ["# ---", "# a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"# {chr(b)}: &{chr(b)} [{', '.join(['*' + chr(b - 1)] * 9)}]" for b in range(98, 110)]
    return "\n".join([*lines, "# jupyter: *m", "# ---", "", "# %%", "x = 1"]).encode()


def slow_text() -> bytes:
    return class_.from_cells(
        ["(" * 50_000, "x = " + "-" * 100_000 + "1", "#" + " " * 200_000 + "!", "a" * 500_000 + "?"]
    )


def wrong_types() -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [[], 7, None]}).encode()


@pytest.mark.parametrize(
    "make",
    [deep_lists, deep_metadata, many_objects, a_bomb_of_yaml, slow_text, wrong_types, lambda: b"\x80\x04K\x01.",
     lambda: b"", lambda: b"\xff\xfe\x00", lambda: b"{}", lambda: b'{"nbformat": 99}', lambda: bytes(1 << 20)],
)  # fmt: skip
@pytest.mark.parametrize("suffix", ["ipynb", "py"])
def test_no_file_crashes_or_blocks_the_reader(make, suffix: str) -> None:
    reading = read(f"x.{suffix}", make())
    assert bool(reading.problem) == (reading.sheet is None)
    assert len(reading.problem) < 1000


# ---- which cells an answer needs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["import torch", "def helper(x): ...", DEFINED], [1, 2, 3]),
        (["import torch", DEFINED, "def helper(x): ..."], [1, 3, 2]),
        ([DEFINED, "def helper(x): return later(x)", "later = 1"], [3, 2, 1]),
        ([DEFINED, "helper = 1", "helper = 2", "unrelated = 1"], [3, 1]),
        (["helper = 1", DEFINED, "helper = 2"], [1, 2]),
        (["def put_in_order(x): ...", "helper = 1", DEFINED], [1, 2, 3]),
        ([DEFINED, "def helper(x): return put_in_order(x)"], [2, 1]),
        (["class put_in_order(Base): ...", "class Base(nn.Module): ...", "from torch import nn"], [3, 2, 1]),
        (["def put_in_order(x):\n    helper = 1\n    return helper", "helper = 1 / 0"], [1]),
        (["def put_in_order(x):\n    return [helper for helper in x]", "helper = 1 / 0"], [1]),
        ([DEFINED, 'check("02-put-in-order", put_in_order)', "if True:\n    def helper(x): ..."], [3, 1]),
        (["x = 1", "y = 2"], [1, 2]),
    ],
)
def test_cells_run_in_order_of_need(cells: list[str], order: list[int]) -> None:
    assert [number for number, _ in of(*cells).needed_for(ANSWER)] == order


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["import torch", "while True: pass", "def helper(x): torch", DEFINED], [1, 3, 4]),
        (["from torch import *", "exit()", "helper = 1", DEFINED], [1, 3, 4]),
        (["helper = 0", "helper = 1", DEFINED, "helper = 2"], [2, 3]),
        (["helper = []", "helper += [1]", "exit()", DEFINED], [1, 2, 4]),
        ([DEFINED, "exit()", "helper = 2"], [1, 3]),
        ([DEFINED, "exit()"], [1]),
        (["exit()"], []),
    ],
)
def test_only_needed_cells_are_kept(cells: list[str], numbers: list[int]) -> None:
    sheet = of(*cells).only_for(ANSWER)
    assert [number for number, cell in enumerate(sheet.cells, 1) if cell] == numbers
    assert len(sheet.cells) == len(cells), "a report tells the number of a cell"


@pytest.mark.parametrize(
    ("cell", "becomes"),
    [
        ("%matplotlib inline\nx = 1", "# %matplotlib inline\nx = 1"),
        ("%%time\nx = 1", "# %%time\nx = 1"),
        ("%%bash\nx=1", "# %%bash\n# x=1"),
        ("\n%%writefile a.py\nx = 1", "# \n# %%writefile a.py\n# x = 1"),
        ("!pip install \\\n  torch\nx = 1", "# !pip install \\\n#   torch\nx = 1"),
        ("if 1:\n    %pip install a\nx = 1", "if 1:\n    pass  # %pip install a\nx = 1"),
        ("x = !ls", "# x = !ls"),
        ("torch?", "# torch?"),
        ('x = """\n!ls\n%y\n"""', 'x = """\n!ls\n%y\n"""'),
        ("x = (5\n% 3)", "x = (5\n% 3)"),
        ("get_ipython().system('ls')\nx = 1", "pass  # get_ipython().system('ls')\nx = 1"),
    ],
)
def test_magics_become_comments(cell: str, becomes: str) -> None:
    assert of(cell).cells == (becomes,)


# ---- the header of a script ------------------------------------------------------------------------------------------

FORMATS = ["marimo", "quarto", "pandoc", "spin", "sphinx", "rmarkdown", "markdown", "myst", "nomarker", "no such"]
_SETTINGS = (
    "text_representation: {extension: .py, format_name: @}",
    "text_representation: {extension: .md, format_name: @}",
    "formats: ipynb,py:@",
    "default_jupytext_formats: ipynb,@",
    "notebook_metadata_filter: all",
    "main_language: bash",
    "custom_cell_magics: '@'",
    'cell_markers: \'"""\'',
    "rst2md: true",
    "comment_magics: false",
    "root_level_metadata_as_raw_cell: false",
)
_STARTS = {"subprocess.Popen", "pty.spawn"}
_STARTS |= {f"os.{name}" for name in ("system", "exec", "posix_spawn", "spawn", "fork", "forkpty")}
_started: list[str] = []
_is_watched = False


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The processes that this one starts. The path holds, for each format, a program that leaves a file behind."""
    global _is_watched
    for name in (*FORMATS, "jupyter", "ipython", "bash"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/by-an-attack\necho 1.0.0\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    _started.clear()
    sys.addaudithook(_note)  # An audit hook cannot be removed.
    _is_watched = True
    yield _started
    _is_watched = False


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if _is_watched and event in _STARTS:
        _started.append(f"{event} {arguments}")


def headed(setting: str) -> bytes:
    """A script whose header contains a jupytext setting."""
    kernel = "kernelspec: {display_name: evil, language: bash, name: bash}"
    lines = ["---", "jupyter:", f"  {kernel}", "  jupytext:", f"    {setting}", "---"]
    return "\n".join([*(f"# {line}" for line in lines), "", "# %%", DEFINED, "", "# %%", "helper = 1", ""]).encode()


@pytest.mark.parametrize(
    "setting", [setting.replace("@", name) for setting, name in itertools.product(_SETTINGS, FORMATS)]
)
def test_script_header_starts_no_program(started: list[str], tmp_path: Path, setting: str) -> None:
    assert sheets.parse("x.py", headed(setting)).cells == (DEFINED, "helper = 1")
    assert started == [] and not (tmp_path / "by-an-attack").exists()


def test_started_programs_are_noticed(started: list[str]) -> None:
    with contextlib.suppress(Exception):
        jupytext.reads(headed(_SETTINGS[0].replace("@", "marimo")).decode(), fmt="py:percent")
    assert started


@pytest.mark.parametrize(
    "write",
    [
        lambda text: text,
        lambda text: "#!/usr/bin/env python\n# coding: utf-8\n" + text,
        lambda text: "\n\n" + text,
        lambda text: "\ufeff" + text,
        lambda text: text.replace("# ---\n", "", 1),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "# ---\n# title: mine\n# ---\n\n" + text,
    ],
)
@pytest.mark.parametrize("name", ["percent", "light", "hydrogen"])
def test_jupytext_scripts_are_read(write: Callable[[str], str], name: str) -> None:
    cells = [f"import torch\n\n{DEFINED}", "for x in ():\n\n    pass", "helper = 1"]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    text = jupytext.writes(notebook, fmt={"extension": ".py", "format_name": name})
    sheet = sheets.parse("x.py", write(text).encode())
    assert [cell for cell in sheet.cells if not all(line[:1] in "#" for line in cell.split("\n"))] == cells
