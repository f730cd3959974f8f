"""What a module does besides what it returns: it refuses inputs, calls functions for what they do, and runs hooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch import fx, nn

_OF_LIBRARIES = ("torch", "operator", "_operator", "builtins", "math", "einops")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def gone(before: fx.GraphModule, after: fx.GraphModule) -> Iterator[str]:
    """What is no longer done, in sentences without their stop."""
    now = Counter(map(_key, after.graph.nodes))
    for key, nodes in _done_for_its_effect(before).items():
        if now[key] < len(nodes):
            yield _told(nodes[-1], before)
    yield from _hooks_gone(before, after)


def _done_for_its_effect(module: fx.GraphModule) -> dict[Any, list[fx.Node]]:
    """The calls that nothing reads and that do something else, by what they call; equal checks count once."""
    found: dict[Any, dict[str, fx.Node]] = {}
    for node in module.graph.nodes:
        if checks(node, module) or (not node.users and _is_somebodys(node)):
            text = str((node.args, node.kwargs)) if checks(node, module) else node.name
            found.setdefault(_key(node), {})[text] = node
    return {key: list(nodes.values()) for key, nodes in found.items()}


def _key(node: fx.Node) -> Any:
    return node.op, node.target


def checks(node: fx.Node, module: fx.GraphModule) -> bool:
    """Whether a node refuses inputs: an assertion, or the guards of an exported module."""
    if node.op == "call_module":
        return bool(getattr(module.get_submodule(node.target), "_is_impure", False))
    name = getattr(node.target, "__name__", "") if node.op == "call_function" else ""
    return name.startswith(("_assert", "sym_constrain", "_check"))


def _is_somebodys(node: fx.Node) -> bool:
    """Whether it is a call of a Python function of no library that computes only."""
    home = getattr(node.target, "__module__", None) or ""
    return (
        node.op == "call_function"
        and not isinstance(node.target, torch._ops.OpOverload | torch._ops.OpOverloadPacket)
        and home.split(".")[0] not in _OF_LIBRARIES
    )


def _told(node: fx.Node, module: fx.GraphModule) -> str:
    if checks(node, module):
        return (
            f"the check `{node.name}` is gone: inputs that the module refused now give numbers; leave calls whose "
            "result nothing reads where `node.is_impure()`"
        )
    name = getattr(node.target, "__name__", node.target)
    return (
        f"`{node.name}` is gone, a call of `{name}` whose result nothing read: it was there for what it does; "
        f"tell torch.fx so with torch.fx.node.has_side_effect({name})"
    )


def _hooks_gone(before: fx.GraphModule, after: fx.GraphModule) -> Iterator[str]:
    was, now = (_hooks(module) for module in (before, after))
    # A module that is called under another name keeps its hooks.
    if sum(now.values()) >= sum(was.values()):
        return
    path = next(path for path, count in was.items() if now.get(path, 0) < count)
    called = f"`{path}`" if path else "the module itself"
    yield (
        f"a hook of {called} no longer runs: call the module that has it, move the hook to what replaces it, "
        "or leave modules with hooks alone"
    )


def _hooks(module: fx.GraphModule) -> dict[str, int]:
    """How many hooks run in a call, by path."""
    counts = {"": _count(module)}
    for node in module.graph.nodes:
        if node.op == "call_module":
            for path, below in module.get_submodule(node.target).named_modules(prefix=node.target):
                counts[path] = counts.get(path, 0) + _count(below)
    return counts


def _count(module: nn.Module) -> int:
    return sum(len(getattr(module, name)) for name in _HOOKS)
