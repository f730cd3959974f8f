"""The record of faults in other packages matches the programs, which are short and documented."""

from __future__ import annotations

import ast

import yaml

from press import ROOT
from press.pages.wild import FAULTS, PARTS, RECORD
from tests.wild.programs import PROGRAMS, versions

_LONGEST = 40


def test_record_covers_these_programs_and_packages() -> None:
    recorded = yaml.safe_load((ROOT / RECORD).read_text(encoding="utf-8"))
    assert list(recorded["said"]) == PROGRAMS and all(recorded["said"].values())
    assert recorded["versions"] == versions()
    assert {program.partition("/")[0] for program in PROGRAMS} == set(versions())


def test_program_is_short_and_self_contained() -> None:
    for program in PROGRAMS:
        text = (ROOT / FAULTS / f"{program}.py").read_text(encoding="utf-8")
        docstring, tree = ast.get_docstring(ast.parse(text)), ast.parse(text)
        code = text[text.index('"""', 3) + 3 :]
        assert all(f"\n{part}: " in docstring for part in PARTS), program
        assert len(code.strip().splitlines()) < _LONGEST, program
        assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)), program
