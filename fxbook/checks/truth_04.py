"""What is true of a traced module, found out by trying: which line of its code fails, and what a pickle makes of it."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
from typing import Any

from torch import fx

from fxbook.graph.record import record


def is_stale(traced: fx.GraphModule) -> bool:
    """Whether the text that was compiled is another than its graph gives now."""
    return record(traced).stale


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


def survives_a_pickle(traced: fx.GraphModule) -> bool:
    """Whether what comes out of a pickle calls the same targets in the same order as the graph."""
    held = fx.GraphModule(traced, copy.deepcopy(traced.graph))
    try:
        loaded = pickle.loads(pickle.dumps(held))
    except Exception:
        return False
    return [(node.op, node.target) for node in loaded.graph.nodes] == [
        (node.op, node.target) for node in traced.graph.nodes
    ]
