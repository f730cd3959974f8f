"""Compare two modules: their graphs (nested ones included), submodules and stored tensors."""

from __future__ import annotations

import functools
import types
from typing import Any

from torch import fx, nn

from fxbook.passes.functions import identity
from fxbook.passes.outcome import same_bytes, tensors_of
from fxbook.passes.report import Changes


def changed(before: fx.GraphModule, after: fx.GraphModule, *, names: bool = False) -> str | None:
    """The first difference, as a clause, or ``None``; ``names`` says whether node names count."""
    was, now = graphs_of(before), graphs_of(after)
    for path in was:
        if path in now and (said := _graph_differs(was[path], now[path], names)):
            return f"{said} in the graph of `{path}`" if path else said
    old, new = _modules(before), _modules(after)
    if old != new:
        path = sorted(set(old.items()) ^ set(new.items()))[0][0]
        return f"the module `{path}` differs"
    if other := _stored_otherwise(before, after):
        return f"the weight `{other[0]}` differs"
    return None


def changes(before: fx.GraphModule, after: fx.GraphModule) -> Changes:
    """How many nodes (by name), modules and stored tensors differ."""
    was, now = graphs_of(before), graphs_of(after)
    added = removed = differ = count = 0
    for path in dict.fromkeys((*was, *now)):
        old = was[path].nodes if path in was else ()
        new = now[path].nodes if path in now else ()
        count += len(old)
        if path in was and path in now and not _graph_differs(was[path], now[path], False):
            continue
        here = {node.name: _call(node) for node in old}
        there = {node.name: _call(node) for node in new}
        added += len(there.keys() - here.keys())
        removed += len(here.keys() - there.keys())
        differ += sum(here[name] != there[name] for name in here.keys() & there.keys())
    old_modules, new_modules = _modules(before), _modules(after)
    stored = len({path for path, _ in set(old_modules.items()) ^ set(new_modules.items())})
    return Changes(added, removed, differ, stored + len(_stored_otherwise(before, after)), count)


def graphs_of(module: nn.Module) -> dict[str, fx.Graph]:
    """The graph of a module and the graphs nested in it, by path."""
    return {path: inner.graph for path, inner in module.named_modules() if isinstance(inner, fx.GraphModule)}


def _graph_differs(before: fx.Graph, after: fx.Graph, names: bool) -> str | None:
    old, new = list(before.nodes), list(after.nodes)
    was, now = _program(old), _program(new)
    if was == now:
        other = [b.name for a, b in zip(old, new, strict=True) if a.name != b.name] if names else []
        return f"the graph differs at `{other[0]}`" if other else None
    calls = {_call(node) for node in old}
    fresh = [node.name for node in new if _call(node) not in calls]
    kept = {_call(node) for node in new}
    gone = [node.name for node in old if _call(node) not in kept]
    return f"the graph differs at `{(fresh + gone)[0]}`" if fresh or gone else "the order of the graph differs"


def _program(nodes: list[fx.Node]) -> list[tuple[Any, ...]]:
    """Opcode, target and arguments of each node; a node among the arguments is represented by its position."""
    place = {node: f"%{at}" for at, node in enumerate(nodes)}

    def text(arguments: Any) -> str:
        def leaf(one: Any) -> Any:
            return place.get(one, "?") if isinstance(one, fx.Node) else _named(one)

        return repr(fx.node.map_aggregate(arguments, leaf))

    return [(node.op, _target(node), text(node.args), text(node.kwargs)) for node in nodes]


def _call(node: fx.Node) -> tuple[Any, ...]:
    args, kwargs = (repr(fx.node.map_aggregate(one, _named)) for one in (node.args, node.kwargs))
    return node.name, node.op, _target(node), args, kwargs


def _target(node: fx.Node) -> str:
    return node.target if isinstance(node.target, str) else identity(node.target)


def _named(argument: Any) -> Any:
    """The argument itself; for a function, its code instead, since its repr contains an address."""
    return identity(argument) if isinstance(argument, types.FunctionType | functools.partial) else argument


def _modules(module: nn.Module) -> dict[str, str]:
    return {path: f"{type(below).__name__}({below.extra_repr()})" for path, below in module.named_modules() if path}


def _stored_otherwise(before: nn.Module, after: nn.Module) -> list[str]:
    """The names of stored tensors that differ: missing, tied differently, or with a different value, kind or device."""
    held, holds = tensors_of(before), tensors_of(after)
    first, now_first = _first_names(held), _first_names(holds)
    return [
        name
        for name in dict.fromkeys((*held, *holds))
        if name not in held or name not in holds or not _same(held[name], holds[name]) or first[name] != now_first[name]
    ] or [name for name, other in zip(held, holds, strict=True) if name != other]


def _first_names(held: dict[str, Any]) -> dict[str, str]:
    """Maps every name of a tensor to the first of its names."""
    first: dict[int, str] = {}
    return {name: first.setdefault(id(one), name) for name, one in held.items()}


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, nn.Parameter) != isinstance(other, nn.Parameter):
        return False
    return one.shape == other.shape and one.dtype == other.dtype and same_bytes(one.detach(), other.detach())
