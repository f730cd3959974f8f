"""Find which effects of a module a pass lost: rejecting inputs, calls without users, and hooks."""

from __future__ import annotations

import copy
import warnings
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import fx, nn

from fxbook.passes.calling import ordered
from fxbook.passes.functions import identity
from fxbook.passes.outcome import kept, outcome
from fxbook.passes.varying import VARIATIONS, varied

_LIBRARIES = ("torch", "operator", "_operator", "builtins", "math", "einops")
_CHECKS = ("_assert", "sym_constrain", "_check")


class Gone(NamedTuple):
    """A lost effect, as a sentence without its full stop; what to do about it; its node; and whether it is advice."""

    what: str
    cure: str
    node: str = ""
    advice: bool = False


def gone(before: fx.GraphModule, after: fx.GraphModule) -> list[Gone]:
    now = Counter((node.op, node.target) for node in after.graph.nodes)
    lost = [nodes[-1] for called, nodes in _done_for_its_effect(before).items() if now[called] < len(nodes)]
    found = [*(_told(node, before) for node in lost), *_hooks_gone(before, after), *_out_of_order(before, after)]
    return sorted(found, key=lambda one: one.advice)


def _done_for_its_effect(module: fx.GraphModule) -> dict[Any, list[fx.Node]]:
    """The calls made for their effect, grouped by what they call; identical checks count once."""
    found: dict[Any, dict[str, fx.Node]] = {}
    for node in module.graph.nodes:
        check = _is_check(node, module)
        if check or (not node.users and _is_somebodys(node)):
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


def _is_somebodys(node: fx.Node) -> bool:
    """Whether a node calls a user's own Python function, which may do more than compute."""
    operators = torch._ops.OpOverload | torch._ops.OpOverloadPacket | torch._ops.HigherOrderOperator
    home = getattr(node.target, "__module__", None) or ""
    return (
        node.op == "call_function"
        and not isinstance(node.target, operators)
        and home.split(".")[0] not in (*_LIBRARIES, "")
    )


def _told(node: fx.Node, module: fx.GraphModule) -> Gone:
    if node.op == "call_module":
        what = (
            f"the guards `{node.name}` of the exported module are gone: it accepts inputs that it was not exported for"
        )
        return Gone(what, "keep unused nodes for which `node.is_impure()` is true", node.name, advice=True)
    if _is_check(node, module):
        return Gone(
            f"the check `{node.name}` is gone: inputs that the module refused now give a result",
            "keep unused nodes for which `node.is_impure()` is true",
            node.name,
        )
    name = getattr(node.target, "__name__", node.target)
    return Gone(
        f"`{node.name}` is gone, a call to `{name}` whose result nothing used: it was called for its effect",
        f"declare the effect with torch.fx.node.has_side_effect({name})",
        node.name,
    )


def _out_of_order(before: fx.GraphModule, after: fx.GraphModule) -> Iterator[Gone]:
    """Calls whose result nothing uses and whose order has changed."""
    was, now = ([node for node in one.graph.nodes if not node.users and _is_somebodys(node)] for one in (before, after))
    both = Counter(node.target for node in was) & Counter(node.target for node in now)
    if both.total() < len(was):
        return
    for old, new in zip(was, (node for node in now if node.target in both), strict=False):
        if old.target is not new.target:
            what = f"`{new.name}` runs where `{old.name}` ran, and nothing uses their results: only their effects count"
            yield Gone(what, "do not reorder such calls", new.name)
            return


# ---- what a run leaves behind ----------------------------------------------------------------------------------------

_CONTAINERS = (list, tuple, dict, set, deque)
_MANY = 1000


def left_otherwise(before: fx.GraphModule, after: fx.GraphModule, inputs: Sequence[Any]) -> Iterator[Gone]:
    """Attributes that modules no longer change when they run, and warnings that only the new module gives."""
    was, now = _left(before, inputs), _left(after, inputs)
    for kind, name in was.noted - now.noted:
        what = f"a module of class `{kind}` no longer changes its attribute `{name}` when the module runs"
        yield Gone(what, "keep calls to modules that record something")
    for category, said in now.warned.keys() - was.warned.keys():
        yield Gone(f"a run now gives a {category}: {said}", "call something that does not warn", advice=True)


class _Left(NamedTuple):
    """The attributes that a run changes, by class and name, with a count; and its warnings, by category and text."""

    noted: Counter[tuple[str, str]]
    warned: Counter[tuple[str, str]]


def _left(module: fx.GraphModule, inputs: Sequence[Any]) -> _Left:
    always, held = torch.is_warn_always_enabled(), _attributes(module)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        torch.set_warn_always(True)
        try:
            outcome(module, inputs)
        finally:
            torch.set_warn_always(always)
    changed = Counter(key[1:] for key, value in _attributes(module).items() if held.get(key) != value)
    return _Left(changed, Counter((one.category.__name__, str(one.message).split("\n")[0][:200]) for one in given))


def _attributes(module: fx.GraphModule) -> dict[tuple[int, str, str], str]:
    """The plain attributes of the called modules, except those that torch sets."""
    paths = {node.target for node in module.graph.nodes if node.op == "call_module"}
    called = {id(one): one for path in paths for one in module.get_submodule(path).modules()}
    return {
        (number, type(one).__name__, name): identity(list(value) if isinstance(value, set | deque) else value)
        for number, one in called.items()
        if not type(one).__module__.startswith("torch.") and not isinstance(one, fx.GraphModule)
        for name, value in vars(one).items()
        if isinstance(value, int | float | str) or (isinstance(value, _CONTAINERS) and len(value) <= _MANY)
    }


# ---- inputs that are rejected ----------------------------------------------------------------------------------------


def no_longer_refused(before: fx.GraphModule, after: fx.GraphModule, inputs: Sequence[Any]) -> Gone | None:
    """Whether inputs that a check used to reject now give a result; a few are derived from the valid inputs."""
    if not any(_may_refuse(node) for node in before.graph.nodes):
        return None
    for words, others in varied(inputs, VARIATIONS):
        check = _refused_by(before, others)
        if check is not None and outcome(after, others).error is None:
            kind = "check" if _is_assertion(check) else "call"
            return Gone(
                f"the {kind} `{check.name}` refused the inputs {words}, and the module now gives a result",
                "keep the inputs of a check",
                check.name,
                advice=kind == "call",
            )
    return None


def _may_refuse(node: fx.Node) -> bool:
    return _is_assertion(node) or _is_somebodys(node)


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
        return noting.now if hasattr(noting, "now") and _may_refuse(noting.now) else None
    return None


# ---- hooks -----------------------------------------------------------------------------------------------------------


def _hooks_gone(before: fx.GraphModule, after: fx.GraphModule) -> Iterator[Gone]:
    was, now = (_hooks(module) for module in (before, after))
    # A module that is called under another name keeps its hooks.
    if sum(now.values()) >= sum(was.values()):
        return
    path = next(path for path, count in was.items() if now.get(path, 0) < count)
    called = f"`{path}`" if path else "the module itself"
    yield Gone(
        f"a hook of {called} no longer runs",
        "call the module that has it, move it to what replaces the module, or leave modules with hooks alone",
    )


def _hooks(module: fx.GraphModule) -> dict[str, int]:
    counts = {"": _count(module)}
    for node in module.graph.nodes:
        if node.op == "call_module":
            for path, below in module.get_submodule(node.target).named_modules(prefix=node.target):
                counts[path] = counts.get(path, 0) + _count(below)
    return counts


def _count(module: nn.Module) -> int:
    """How many hooks a module has, not counting torch's own, such as the check on an exported module's inputs."""
    kinds = [held for name, held in vars(module).items() if name.endswith("_hooks") and isinstance(held, dict)]
    return sum(not _is_of_torch(hook) for held in kinds for hook in held.values())


def _is_of_torch(hook: Any) -> bool:
    # torch wraps the hooks that run on loading.
    hook = getattr(hook, "hook", hook)
    home = getattr(hook, "__module__", None) or type(hook).__module__
    return home.split(".")[0] == "torch"
