"""Split a sheet into statements, find those that the student wrote, and normalise an answer for comparison.

The normalised text ignores names, layout, comments, docstrings and annotations: every name that the student chose
becomes ``_``, and names from libraries are written in full. Student code is parsed here only through
:mod:`classroom.collect.parsing`, in the sandbox. Other callers pass code from this project.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

from fxbook.grading import Sheet, parsed

# Sheets with more statements are not compared, since no homework is that long.
_MOST_STATEMENTS = 600
# How many characters of an answer are kept, as source and as normalised text.
_MOST_SOURCE, _MOST_PLAIN = 4000, 6000
_TOO_HARD = (RecursionError, MemoryError, ValueError)


@dataclasses.dataclass(frozen=True)
class _Statement:
    """A top-level statement of a cell, with its source lines and the comment above it."""

    tree: ast.stmt
    source: str
    code: str
    handed_out: bool


class StudentCode:
    """The statements of a sheet, and which of them the student wrote.

    Args:
        handed_out: the cells as they were handed out.
    """

    def __init__(self, cells: Sequence[str], handed_out: Sequence[str]) -> None:
        given = {statement.code for statement in _statements(handed_out, frozenset())}
        self._statements = list(_statements(cells, given))
        self._sheet = Sheet(Path(), tuple(statement.code for statement in self._statements))
        self._small = len(self._statements) <= _MOST_STATEMENTS

    @property
    def any(self) -> bool:
        return any(not statement.handed_out for statement in self._statements)

    def unused(self, names: frozenset[str]) -> list[str]:
        """The student's functions that are not needed for these names."""
        if not self._small:
            return []
        used = {at for name in names for at, code in enumerate(self._sheet.only_for(name).cells) if code}
        functions = [
            statement.tree.name
            for at, statement in enumerate(self._statements)
            if isinstance(statement.tree, ast.FunctionDef) and not statement.handed_out and at not in used
        ]
        return list(dict.fromkeys(functions))

    def texts(self, answer: str) -> tuple[str, str]:
        """The statements that an answer needs, as written and normalised, each cut to its limit.

        Both are ``""`` if the cell is not Python or the sheet has too many statements.
        """
        if not self._small:
            return "", ""
        cells = self._sheet.only_for(answer).cells
        needed = [statement for statement, code in zip(self._statements, cells, strict=True) if code]
        own = [
            statement
            for statement in needed
            if not statement.handed_out and not isinstance(statement.tree, ast.Import | ast.ImportFrom)
        ]
        imports = [
            statement.tree for statement in self._statements if isinstance(statement.tree, ast.Import | ast.ImportFrom)
        ]
        source = "\n\n".join(statement.source for statement in own)
        return source[:_MOST_SOURCE], _plain([statement.code for statement in own], imports)[:_MOST_PLAIN]


def plain_answer(cells: Sequence[str], handed_out: Sequence[str], answer: str) -> str:
    return StudentCode(cells, handed_out).texts(answer)[1]


def _statements(cells: Iterable[str], handed_out: Iterable[str]) -> Iterable[_Statement]:
    for cell in cells:
        tree = parsed(cell)
        lines, above = cell.splitlines(), 0
        for statement in tree[0].body if tree else ():
            end = statement.end_lineno or statement.lineno
            try:
                code = ast.unparse(statement)
            except _TOO_HARD:
                code = ""
            yield _Statement(statement, "\n".join(lines[above:end]).strip("\n"), code, code in handed_out)
            above = end


def _plain(code: Sequence[str], imports: Sequence[ast.stmt]) -> str:
    try:
        # Parse a copy, because renaming changes the tree.
        module = ast.parse("\n".join(code))
        renamed = _Renaming(module, imports).visit(module)
        return ast.unparse(ast.fix_missing_locations(renamed))
    except (SyntaxError, *_TOO_HARD):
        return ""


class _Renaming(ast.NodeTransformer):
    def __init__(self, module: ast.Module, imports: Sequence[ast.stmt]) -> None:
        self._own: set[str] = set()
        self._parameters: set[str] = set()
        self._attributes: set[str] = set()
        for node in ast.walk(module):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.ExceptHandler(name=str(name)):
                    self._own.add(name)
                case ast.arg(arg=name):
                    self._own.add(name)
                    self._parameters.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    self._own.add(name)
                case ast.ClassDef(name=name, body=body):
                    self._own.add(name)
                    self._attributes |= {method.name for method in body if isinstance(method, ast.FunctionDef)}
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                    self._attributes.add(name)
        self._attributes = {name for name in self._attributes if not name.startswith("__")}
        inside = [node for node in ast.walk(module) if isinstance(node, ast.Import | ast.ImportFrom)]
        self._libraries = dict(_libraries([*imports, *inside]))

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = "_" if node.id in self._own else self._libraries.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg, node.annotation = "_", None
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        self.generic_visit(node)
        node.arg = "_" if node.arg in self._parameters else node.arg
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        self.generic_visit(node)
        node.attr = "_" if node.attr in self._attributes else node.attr
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        self.generic_visit(node)
        node.name = node.name and "_"
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign | None:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value, lineno=node.lineno) if node.value else None

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        self.generic_visit(node)
        # A docstring, or another string without effect.
        return None if isinstance(node.value, ast.Constant) else node

    def _visit_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.name = node.name if node.name.startswith("__") else "_"
        node.body = node.body or [ast.Pass()]
        if not isinstance(node, ast.ClassDef):
            node.returns = None
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit_definition  # noqa: N815


def _libraries(imports: Iterable[ast.stmt]) -> Iterable[tuple[str, str]]:
    """Map imported names to full names: ``("fx", "torch.fx")``."""
    for statement in imports:
        match statement:
            case ast.Import(names=aliases):
                yield from ((alias.asname, alias.name) for alias in aliases if alias.asname)
            case ast.ImportFrom(module=str(module), names=aliases):
                yield from ((alias.asname or alias.name, f"{module}.{alias.name}") for alias in aliases)
