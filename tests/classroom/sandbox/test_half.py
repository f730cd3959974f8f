"""The half of the library that goes where submissions run has nothing to judge by, and no solution."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from classroom.sandbox import halves
from classroom.sandbox.slicing import Slices
from fxbook.learning.exercises import catalogue
from press import ROOT


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("half")
    for path, text in halves.files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


# What using an answer and expecting its result have in common.
_IN_BOTH = {("in_place_06", "behaviour"), ("chapter_05", "behaviour")}


def test_the_half_has_no_predicate_and_no_expected_result(half: Path) -> None:
    judging = set()
    for path in (ROOT / "fxbook" / "checks").glob("chapter_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        homes = {
            alias.asname or alias.name: (str(node.module).rpartition(".")[2], alias.name)
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg in ("properties", "expected"):
                names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
                judging |= {homes.get(name, (path.stem, name)) for name in names}
    left = {
        (path.stem, node.name)
        for path in (half / "fxbook" / "checks").glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert len(judging) > 150 and len(left) > 150
    assert judging & left <= _IN_BOTH


def test_the_half_has_no_solution(half: Path) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in half.rglob("*.py"))
    answers = [re.escape(about.answer) for about in catalogue().values()]
    assert not re.findall(rf"^(?:def|class) (?:{'|'.join(answers)})\b", text, re.MULTILINE)
    assert not any(
        (half / "fxbook" / name).exists() for name in ("watching", "checking/judge.py", "checks/predicates.py")
    )


def test_a_slice_has_what_a_name_needs_and_nothing_else() -> None:
    whole = {
        "p.a": "from __future__ import annotations\nfrom p.b import used, unused\nfrom p import c\nimport os\n"
        "def top(x: Gone = used()):\n    return helper(x) + c.part()\ndef helper(x):\n    return LIST[x]\n"
        "LIST = [1]\nLIST += [2]\ndef alone():\n    used = unused\n    return used\n",
        "p.b": "def used():\n    from p.c import late\n    return late\ndef unused():\n    pass\n",
        "p.c": "def part():\n    pass\ndef late():\n    pass\ndef rest():\n    pass\nregister = print\n"
        "register('here')\n",
    }
    slices = Slices({name: ast.parse(text) for name, text in whole.items()})
    slices.keep([("p.a", "top")])
    kept = slices.sources()
    assert {name: re.findall(r"^(?:def )?(\w+)(?=\(| \+?=)", text, re.MULTILINE) for name, text in kept.items()} == {
        "p.a": ["top", "helper", "LIST", "LIST"],
        "p.b": ["used"],
        "p.c": ["part", "late", "register", "register"],
    }
    assert "from p.b import used\n" in kept["p.a"] and "import os" in kept["p.a"]
