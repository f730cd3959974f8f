"""Name the node that fails."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from torch import fx

from fxbook.asking import Check
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView

_LINE = "04_recompile#find-the-line-that-failed"


def failing_node(traced: fx.GraphModule, *inputs: Any) -> str | None:
    """The name of the node whose line of the compiled code raises; ``None`` where no line does.

    The lines are run one by one, on these inputs.
    """
    program = next(part for part in ast.parse(traced.code).body if isinstance(part, ast.FunctionDef))
    bound = inspect.signature(traced.forward).bind(*inputs)
    bound.apply_defaults()
    names = {**type(traced).forward.__globals__, "self": traced, **bound.arguments}
    for statement in program.body:
        if isinstance(statement, ast.Return):
            break
        try:
            exec(compile(ast.Module([statement], []), "<a line>", "exec"), names)
        except Exception:
            on_the_line = [other for other in program.body if other.lineno == statement.lineno]
            return [name for other in on_the_line for name in _made(other)][-1]
    return None


def _made(statement: ast.stmt) -> list[str]:
    """The names that a statement gives to a value, rather than let go by setting them to ``None``."""
    match statement:
        case ast.Assign(targets=targets, value=value) if not (isinstance(value, ast.Constant) and value.value is None):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


@rule
def names_the_node(case: CaseView) -> Found:
    """The answer is the name of the node that fails, or ``None`` where none does."""
    asked, name = failing_node(*case.arguments), case.value
    if name == asked:
        return
    if isinstance(name, dict) and "node" in name:
        yield None, "It returns a node: its name was asked."
    if asked is None:
        yield None, "It names a node, and calling the module raises nothing: None was asked."
    if name is None:
        yield None, "It returns None, and calling the module raises."
    if not isinstance(name, str):
        yield None, "Your function returns neither the name of a node nor None."
    elif case.before.named(name):
        yield None, f"It names `{name}`, which does not fail.", _LINE
    else:
        yield None, f"It returns {name!r}, which is the name of no node.", _LINE


CHECK = Check((names_the_node,))
