"""Code patterns: ``type(A) is B`` finds such comparisons, and ``isinstance(A, B)`` replaces them.

A single capital letter stands for any expression, the same letter for equal expressions.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import Any

Parts = dict[str, ast.expr]


def matched(pattern: str, node: ast.AST) -> Parts | None:
    """The expressions for the letters of a pattern, or ``None`` if the node does not match."""
    parts: Parts = {}
    return parts if _same(_parsed(pattern), node, parts) else None


def filled(pattern: str, parts: Mapping[str, ast.expr]) -> ast.expr:
    # Parse again, because the cached tree must not change.
    return _Filling(parts).visit(ast.parse(pattern, mode="eval").body)


@functools.cache
def _parsed(pattern: str) -> ast.expr:
    return ast.parse(pattern, mode="eval").body


def _letter(node: Any) -> str | None:
    return node.id if isinstance(node, ast.Name) and len(node.id) == 1 and node.id.isupper() else None


def _same(pattern: Any, node: Any, parts: Parts) -> bool:
    letter = _letter(pattern)
    if letter is not None:
        if not isinstance(node, ast.expr) or isinstance(node, ast.Starred):
            return False
        known = parts.setdefault(letter, node)
        return known is node or ast.dump(known) == ast.dump(node)
    if isinstance(pattern, ast.AST):
        fields = (field for field in pattern._fields if field not in ("ctx", "kind"))
        return type(pattern) is type(node) and all(
            _same(getattr(pattern, field), getattr(node, field), parts) for field in fields
        )
    if isinstance(pattern, list):
        return len(pattern) == len(node) and all(_same(a, b, parts) for a, b in zip(pattern, node, strict=True))
    return type(pattern) is type(node) and pattern == node


class _Filling(ast.NodeTransformer):
    def __init__(self, parts: Mapping[str, ast.expr]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        letter = _letter(node)
        return node if letter is None else self._parts[letter]
