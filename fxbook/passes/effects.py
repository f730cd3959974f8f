"""Find the effects of a module that a pass lost: rejected inputs, calls without users, and hooks."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import fx, nn

from fxbook.passes.calling import ordered
from fxbook.passes.outcome import kept, outcome
from fxbook.passes.varying import VARIATIONS, varied

_LIBRARIES = ("torch", "operator", "_operator", "builtins", "math", "einops")
_CHECKS = ("_assert", "sym_constrain", "_check")


class Gone(NamedTuple):
    """A lost effect, as a sentence without its full stop, what to do, the node that had it, and if it is advice."""

    what: str
    cure: str
    node: str = ""
    advice: bool = False


def gone(before: fx.GraphModule, after: fx.GraphModule) -> list[Gone]:
    now = Counter((node.op, node.target) for node in after.graph.nodes)
    lost = [nodes[-1] for called, nodes in _done_for_its_effect(before).items() if now[called] < len(nodes)]
    found = [*(_lost_call(node, before) for node in lost), *_hooks_gone(before, after)]
    return sorted(found, key=lambda one: one.advice)


def _done_for_its_effect(module: fx.GraphModule) -> dict[Any, list[fx.Node]]:
    """The calls that are made for their effect, by what they call; equal checks count once."""
    found: dict[Any, dict[str, fx.Node]] = {}
    for node in module.graph.nodes:
        check = _is_check(node, module)
        if check or (not node.users and _calls_user_code(node)):
            text = f"{node.args} {node.kwargs}" if check else node.name
            found.setdefault((node.op, node.target), {})[text] = node
    return {called: list(nodes.values()) for called, nodes in found.items()}


def _is_check(node: fx.Node, module: fx.GraphModule) -> bool:
    """Whether a node rejects inputs: an assertion, or the guards of an exported module."""
    if node.op == "call_module":
        return bool(getattr(module.get_submodule(node.target), "_is_impure", False))
    return _is_assertion(node)


def _is_assertion(node: fx.Node) -> bool:
    return node.op == "call_function" and getattr(node.target, "__name__", "").startswith(_CHECKS)


def _calls_user_code(node: fx.Node) -> bool:
    operators = torch._ops.OpOverload | torch._ops.OpOverloadPacket | torch._ops.HigherOrderOperator
    home = getattr(node.target, "__module__", None) or ""
    return (
        node.op == "call_function"
        and not isinstance(node.target, operators)
        and home.split(".")[0] not in (*_LIBRARIES, "")
    )


def _lost_call(node: fx.Node, module: fx.GraphModule) -> Gone:
    if node.op == "call_module":
        what = f"the guards `{node.name}` of the exported module are gone: it takes inputs that it was not exported for"
        return Gone(what, "keep unused nodes for which `node.is_impure()` is true", node.name, advice=True)
    if _is_check(node, module):
        return Gone(
            f"the check `{node.name}` is gone: inputs that the module refused now give a result",
            "keep unused nodes for which `node.is_impure()` is true",
            node.name,
        )
    name = getattr(node.target, "__name__", node.target)
    return Gone(
        f"`{node.name}` is gone, a call of `{name}` whose result nothing used: it was called for its effect",
        f"declare the effect with torch.fx.node.has_side_effect({name})",
        node.name,
    )


def no_longer_refused(before: fx.GraphModule, after: fx.GraphModule, inputs: Sequence[Any]) -> Gone | None:
    """Whether inputs that a check rejected now give a result; a few are derived from the valid ones."""
    if not any(_is_assertion(node) for node in before.graph.nodes):
        return None
    for words, others in varied(inputs, VARIATIONS):
        check = _refused_by(before, others)
        if check is not None and outcome(after, others).error is None:
            return Gone(
                f"the check `{check.name}` refused the inputs {words}, and the module now gives a result",
                "keep the inputs of a check",
                check.name,
            )
    return None


def _refused_by(module: fx.GraphModule, inputs: Sequence[Any]) -> fx.Node | None:
    class Noting(fx.Interpreter):
        now: fx.Node

        def run_node(self, n: fx.Node) -> Any:
            self.now = n
            return super().run_node(n)

    noting = Noting(module)
    try:
        with kept(module), torch.no_grad():
            noting.run(*ordered(module, copy.deepcopy(inputs)))
    except Exception:
        return noting.now if hasattr(noting, "now") and _is_assertion(noting.now) else None
    return None


def _hooks_gone(before: fx.GraphModule, after: fx.GraphModule) -> Iterator[Gone]:
    was, now = (_hooks(module) for module in (before, after))
    # A module that is called under another name keeps its hooks.
    if sum(now.values()) >= sum(was.values()):
        return
    path = next(path for path, count in was.items() if now.get(path, 0) < count)
    called = f"`{path}`" if path else "the module itself"
    yield Gone(
        f"a hook of {called} no longer runs",
        "call the module that has it, move the hook to what replaces it, or leave modules with hooks alone",
    )


def _hooks(module: fx.GraphModule) -> dict[str, int]:
    counts = {"": _count(module)}
    for node in module.graph.nodes:
        if node.op == "call_module":
            for path, below in module.get_submodule(node.target).named_modules(prefix=node.target):
                counts[path] = counts.get(path, 0) + _count(below)
    return counts


def _count(module: nn.Module) -> int:
    """The hooks of a module, without torch's own, such as the check of the inputs of an exported module."""
    kinds = [held for name, held in vars(module).items() if name.endswith("_hooks") and isinstance(held, dict)]
    return sum(not _is_of_torch(hook) for held in kinds for hook in held.values())


def _is_of_torch(hook: Any) -> bool:
    home = getattr(hook, "__module__", None) or type(hook).__module__
    return home.split(".")[0] == "torch"
