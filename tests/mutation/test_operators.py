"""Mutants differ from the program and from each other, and their change names the lines that differ."""

from __future__ import annotations

import ast
import textwrap

from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.programs import Program


def program(body: str) -> Program:
    source = f"def answer(x, y):\n{textwrap.indent(body, '    ')}"
    return Program("00-readers", "answer", (ast.unparse(ast.parse(source)),), (0,))


def made(body: str) -> list[Mutant]:
    return list(mutants_of(program(body)))


def test_no_mutant_equals_another_or_the_program() -> None:
    assert made("pass") == []
    # Dropping the only statement of the `if` has the same effect as dropping the `if`, so there is one such mutant.
    mutants = made("if x:\n    y()")
    assert len({mutant.text for mutant in mutants}) == len(mutants) > 1
    # These mutations change nothing: no opcode is part of another, equal strings are the same object, and nobody
    # subclasses `str`.
    for body in ("return x.op == 'output'", "return type(x) is str", "return x is torch.relu"):
        assert {mutant.operator for mutant in made(body)} <= {"negated", "nothing returned", "arguments swapped"}


def test_a_change_names_the_lines_that_differ() -> None:
    changes = {(mutant.operator, mutant.change()) for mutant in made("if x:\n    y(0)\nreturn y")}
    assert {("condition dropped", "if x: -> (nothing)"), ("constant", "y(0) -> y(1)")} <= changes
