"""Honest answers to each exercise, and copies of them, disguised the way students do it."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator, Mapping

from classroom.collect.normalise import StudentCode
from fxbook.catalogue import catalogue
from fxbook.tasks import folder_of
from fxbook.tasks.answering import answers_to


def honest(exercise_id: str) -> list[str]:
    """The right answers to an exercise, without the helpers that their file shares."""
    right = {answer.name for answer in answers_to(exercise_id) if not answer.violated}
    tree = ast.parse((folder_of(exercise_id) / "answers.py").read_text(encoding="utf-8"))
    sources = []
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name in right:
            statement.name, statement.decorator_list = catalogue()[exercise_id].answer, []
            sources.append(ast.unparse(statement))
    return sources


def plain(exercise_id: str, source: str) -> str:
    return StudentCode([source], ()).texts(catalogue()[exercise_id].answer)[1]


def names_and_comments(source: str, _: random.Random) -> str:
    """Change names, lines and comments, and add a docstring."""
    tree = ast.parse(source)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in bound:
            node.id = f"my_{node.id}"
        elif isinstance(node, ast.arg):
            node.arg = f"my_{node.arg}"
        elif isinstance(node, ast.FunctionDef):
            node.body.insert(0, ast.Expr(ast.Constant("What I thought of.")))
    return "# All my own.\n\n" + ast.unparse(ast.fix_missing_locations(tree)).replace("\n", "  # so\n\n")


def order(source: str, draw: random.Random) -> str:
    """Shuffle the statements of each block, even if this breaks the program."""
    tree = ast.parse(source)
    for block in _blocks(tree):
        draw.shuffle(block)
    return ast.unparse(tree)


def more(source: str, draw: random.Random) -> str:
    """Add a statement without effect to each block."""
    tree = ast.parse(source)
    for block in _blocks(tree):
        block.insert(draw.randrange(len(block)), ast.parse("print('here')").body[0])
    return ast.unparse(ast.fix_missing_locations(tree))


def everything(source: str, draw: random.Random) -> str:
    """Apply all of these changes."""
    return names_and_comments(more(order(source, draw), draw), draw)


DISGUISES: Mapping[str, Callable[[str, random.Random], str]] = {
    disguise.__name__: disguise for disguise in (names_and_comments, order, more, everything)
}


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in [*ast.walk(tree)]:
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if node is not tree and isinstance(block, list) and len(block) > 1:
                yield block
