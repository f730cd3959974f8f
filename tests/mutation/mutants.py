"""The mutants of a program: one operator at one place each."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import types
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from tests.mutation.operators import OPERATORS
from tests.mutation.programs import Program

_LONGEST = 150


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A mutated program.

    Args:
        program: the original.
        operator: the name of the mutation.
        index: the index of the changed statement.
        text: the new source of that statement.
    """

    program: Program
    operator: str
    index: int
    text: str

    def source(self) -> str:
        texts = list(self.program.texts)
        texts[self.index] = self.text
        return "\n".join(texts)

    def change(self) -> str:
        """The lines that differ, ``"before -> after"``, except those that only changed their indentation."""
        lines = list(difflib.ndiff(self.program.texts[self.index].splitlines(), self.text.splitlines()))
        gone, come = (Counter(line[2:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
        return f"{_short(gone - come)} -> {_short(come - gone)}"


def mutants_of(program: Program) -> Iterator[Mutant]:
    """Every mutant that differs from the program and from all previous mutants."""
    known = {index: {_bytecode(program.texts[index])} for index in program.own}
    for operator, index, text in _made(program):
        try:
            bytecode = _bytecode(text)
        except (SyntaxError, ValueError):  # A `return` outside a function, or a parameter that occurs twice.
            continue
        if bytecode in known[index]:
            continue
        known[index].add(bytecode)
        yield Mutant(program, operator, index, text)


def _made(program: Program) -> Iterator[tuple[str, int, str]]:
    """Apply each operator at each place of each statement; the statements are restored afterwards."""
    places = [(index, place) for index in program.own for place in _places(ast.parse(program.texts[index]))]
    for name, operators in OPERATORS.items():
        for index, place in places:
            for operator in operators:
                for instead in operator(place.node):
                    if (text := place.text_with(instead)) is not None:
                        yield name, index, text


@dataclasses.dataclass(frozen=True)
class _Place:
    """A node of a tree and its position: a field of its parent, with an index if the field is a list."""

    tree: ast.Module
    holder: ast.AST
    field: str
    index: int | None
    node: ast.AST

    def text_with(self, instead: ast.AST | list[ast.stmt]) -> str | None:
        """The source with this place replaced, or ``None`` if that is not a valid program."""
        before = getattr(self.holder, self.field)
        if self.index is None:
            after = instead
        else:
            these = instead if isinstance(instead, list) else [instead]
            after = before[: self.index] + these + before[self.index + 1 :]
            if not after and self.field == "body":
                after = [ast.Pass()]
        setattr(self.holder, self.field, after)
        try:
            return ast.unparse(self.tree)
        except (AttributeError, ValueError, TypeError):
            return None
        finally:
            setattr(self.holder, self.field, before)


def _places(tree: ast.Module) -> list[_Place]:
    """Every node of a tree, outer ones first."""

    def inside(holder: ast.AST) -> Iterator[_Place]:
        for field, value in ast.iter_fields(holder):
            if field in ("annotation", "returns"):
                continue
            for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(node, ast.AST):
                    yield _Place(tree, holder, field, index, node)
                    # Skip the inside of f-strings and default values of parameters.
                    if not isinstance(node, ast.JoinedStr | ast.arguments):
                        yield from inside(node)

    return list(inside(tree))


def _bytecode(source: str) -> Hashable:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return _compared(compile(source, "<an_answer>", "exec"))


def _compared(code: object) -> Hashable:
    """Everything in a code object that decides its behaviour, without its line numbers."""
    if not isinstance(code, types.CodeType):
        return type(code).__name__, repr(code)
    constants = tuple(map(_compared, code.co_consts))
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return code.co_name, code.co_code, code.co_exceptiontable, constants, names, code.co_argcount, code.co_flags


def _short(lines: Iterable[str]) -> str:
    text = " / ".join(lines) or "(nothing)"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
