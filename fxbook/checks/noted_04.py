"""What is noted of an answer to an exercise of chapter 04, as plain data, where it is used: in the learner's half."""

from __future__ import annotations

import collections
import copy
from collections.abc import Callable
from typing import Any

from torch import Tensor, fx, nn

from fxbook.checks.edits_04 import Edit, breaks_order, names_nothing, relus, stops_half_way, writes_no_python
from fxbook.graph.naming import target_name
from fxbook.graph.record import record

JSON = Any


def calls_of(traced: fx.GraphModule) -> list[str]:
    """The graph as text, one line for each node, notes included."""
    notes = [sorted(str(key) for key in node.meta if key != "fxbook_origin") for node in traced.graph.nodes]
    return [f"{node.name} = {node.call} {kept}" for node, kept in zip(record(traced), notes, strict=True)]


def said_of(answer: Callable[[fx.GraphModule], Any], traced: fx.GraphModule) -> JSON:
    """What the answer says of a module, and what it leaves of it."""
    inside = {path: module for path, module in traced.named_modules() if isinstance(module, fx.GraphModule)}
    before = {path: module.code for path, module in inside.items()}
    said = answer(traced)
    return {
        "said": said,
        "owned": traced.graph.owning_module is traced,
        "compiled": [path for path, module in inside.items() if module.code != before[path]],
    }


def brought_up_to_date(answer: Callable[[nn.Module], Any], model: nn.Module) -> JSON:
    """What is stale in the model after the answer has seen it, and whose graph is another."""
    inside = {path: module for path, module in model.named_modules() if isinstance(module, fx.GraphModule)}
    before = {path: calls_of(module) for path, module in inside.items()}
    answer(model)
    return {
        "stale": [path for path, module in inside.items() if record(module).stale],
        "changed": [path for path, module in inside.items() if calls_of(module) != before[path]],
    }


def counted(answer: Callable[[fx.GraphModule], Any], traced: fx.GraphModule, x: Tensor) -> JSON:
    """How often the answer compiles the module, and what it leaves."""
    count = 0
    needed = bool(relus(traced.graph))
    others = _other_calls(traced.graph)
    compile_it = traced.recompile

    def counting() -> Any:
        nonlocal count
        count += 1
        return compile_it()

    # On the object, where assigning traced.graph meets it too.
    traced.__dict__["recompile"] = counting
    answer(traced)
    del traced.__dict__["recompile"]
    seen = record(traced)
    left = [node.name for node in relus(traced.graph)]
    gone = list((others - _other_calls(traced.graph)).elements())
    return {
        "compiles": count,
        "needed": needed,
        "stale": seen.stale,
        "lint": seen.lint,
        "left": left,
        "gone": gone,
        "result": None if seen.lint or left or gone else traced.forward(x),
    }


def _other_calls(graph: fx.Graph) -> collections.Counter[str]:
    """The calls that the pass is not to touch, as a reader would name them."""
    mine = relus(graph)
    called = [node for node in graph.nodes if node.op.startswith("call") and node not in mine]
    return collections.Counter(f"{node.op} of {target_name(node)}" for node in called)


_WANTED = {
    stops_half_way: "ValueError",
    breaks_order: "a refusal",
    names_nothing: "a refusal",
    writes_no_python: "a refusal",
}


def tried(answer: Callable[..., Any], traced: fx.GraphModule, edit: Edit) -> JSON:
    """What is left of a module after ``with answer(traced) as graph: edit(graph)``."""
    asked = _asked(traced, edit)
    stale_before = record(traced).stale
    given, raised = None, None
    manager = answer(traced)
    if not hasattr(type(manager), "__enter__"):
        return {"manager": type(manager).__name__}
    try:
        with manager as graph:
            given = type(graph).__name__
            edit(graph if isinstance(graph, fx.Graph) else traced.graph)
    except Exception as error:
        if given is None:
            raise
        raised = type(error).__name__
    now = record(traced)
    return {
        "as": given,
        "edit": "recompile" if edit is writes_no_python else "lint",
        "raised": raised,
        "wanted": _WANTED.get(edit),
        "nodes": calls_of(traced),
        "asked": asked,
        "lint": now.lint,
        "stale": now.stale,
        "stale_before": stale_before,
        "owned": traced.graph.owning_module is traced,
    }


def _asked(traced: fx.GraphModule, edit: Edit) -> list[str]:
    """The graph that is to be there afterwards; a copy of the module is edited to find out."""
    if edit in _WANTED:
        return calls_of(traced)
    twin = fx.GraphModule(traced, copy.deepcopy(traced.graph))
    edit(twin.graph)
    return calls_of(twin)
