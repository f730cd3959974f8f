"""Each operator makes what its name says where an answer has the place for it, and nothing that is the same program."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.operators import OPERATORS
from tests.mutation.programs import Program

# Of each operator a program and a line that it makes of it.
EXAMPLES = {
    "isinstance for type, and back": ("return type(x) is int", "return isinstance(x, int)"),
    "== for startswith or in, and back": ("return x.startswith(y)", "return x == y"),
    "== for is, and back": ("return x is y", "return x == y"),
    "truth for a default": ("return x if x is not None else y", "return x or y"),
    "default dropped": ("return x.get(y, 0)", "return x[y]"),
    "last for first, and back": ("return x[0]", "return x[-1]"),
    "order dropped": ("return reversed(x)", "return x"),
    "any for all, and back": ("return any(x)", "return all(x)"),
    "tolerance": ("return torch.allclose(x, y, rtol=1e-6)", "return torch.allclose(x, y, rtol=0.01)"),
    "nesting not entered": ("return x.named_modules()", "return x.named_children()"),
    "training for eval, and back": ("return x.eval()", "return x.train()"),
    "copy not made": ("return copy.deepcopy(x)", "return copy.copy(x)"),
    "before for after, and back": ("x.inserting_before(y)", "x.inserting_after(y)"),
    "another field": ("return x.name", "return x.target"),
    "off by one": ("return x < y", "return x <= y"),
    "negated": ("return x in y", "return x not in y"),
    "another operation": ("return x + y", "return x - y"),
    "operands swapped": ("return x - y", "return y - x"),
    "condition dropped": ("return x and y", "return y"),
    "branch dropped": ("return x if x.ok else y", "return y"),
    "except widened": ("try:\n    x()\nexcept KeyError:\n    y()", "except Exception:"),
    "except narrowed": ("try:\n    x()\nexcept Exception:\n    y()", "except RuntimeError:"),
    "a mode or a hook left behind": ("with x:\n    y()", "x.__enter__()"),
    "break or return after the first": ("for each in x:\n    y(each)", "break"),
    "one of several inputs": ("return [each for each in x]", "return [each for each in [*x][:1]]"),
    "one of several left out": ("return {x, y, 3}", "return {x, 3}"),
    "key ignored": ("return x(a=y, b=2)", "return x(b=2)"),
    "argument dropped": ("return max(x, y)", "return max(x)"),
    "arguments swapped": ("return x(y, 2)", "return x(2, y)"),
    "override or decorator dropped": ("@x\ndef inner():\n    y()", "(nothing)"),
    "and for or, and back": ("return x or y", "return x and y"),
    "constant": ("return 3", "return 4"),
    "= for +=": ("x += y", "x = y"),
    "lint dropped": ("x.lint()\ny()", "(nothing)"),
    "recompile dropped": ("x.recompile()\ny()", "(nothing)"),
    "clean-up dropped": ("x.erase_node(y)\ny()", "(nothing)"),
    "loop goes on": ("for each in x:\n    if each:\n        continue\n    y()", "pass"),
    "nothing returned": ("return x", "return"),
    "raise dropped": ("raise x", "pass"),
    "statement dropped": ("x()\ny()", "(nothing)"),
}


def program(body: str) -> Program:
    source = f"def answer(x, y):\n{textwrap.indent(body, '    ')}"
    return Program("00-readers", "answer", (ast.unparse(ast.parse(source)),), (0,))


def made(body: str) -> list[Mutant]:
    return list(mutants_of(program(body)))


def test_every_operator_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(OPERATORS)


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_makes_what_its_name_says(operator: str) -> None:
    body, line = EXAMPLES[operator]
    changes = [mutant.change() for mutant in made(body) if mutant.operator == operator]
    assert any(change.endswith(f"-> {line}") for change in changes), changes


def test_recursion_and_a_return_that_slips_into_the_loop_are_made() -> None:
    loop = "found = []\nfor each in x:\n    found += answer(each, y)\nreturn found"
    changes = {(mutant.operator, mutant.change()) for mutant in made(loop)}
    assert ("nesting not entered", "found += answer(each, y) -> found += each") in changes
    texts = [mutant.text for mutant in made(loop) if mutant.operator == "break or return after the first"]
    assert any("        return found" in text for text in texts)


def test_what_is_the_same_program_is_not_made() -> None:
    assert made("pass") == []
    # An `if` of one statement: to drop the statement is to drop the `if`, made once.
    mutants = made("if x:\n    y()")
    assert len({mutant.text for mutant in mutants}) == len(mutants) > 1
    # No opcode is a part of another, a text is the same object, and nobody derives from `str`.
    for body in ("return x.op == 'output'", "return type(x) is str", "return x is torch.relu"):
        assert {mutant.operator for mutant in made(body)} <= {"negated", "nothing returned", "arguments swapped"}


def test_a_change_names_the_lines_that_differ() -> None:
    changes = {(mutant.operator, mutant.change()) for mutant in made("if x:\n    y(0)\nreturn y")}
    assert {("condition dropped", "if x: -> (nothing)"), ("constant", "y(0) -> y(1)")} <= changes
