"""Four ways, 3: keep a module whole."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch import fx, nn

from fxbook.cases import Check
from fxbook.cases.exercise import inputs_of, model_of
from fxbook.cases.values import dict_items
from fxbook.graph.naming import module_kind
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import no_dead_nodes, recompiled
from fxbook.rules.predicates import all_in_sight, input_unchanged, same_result, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import nothing_fixed


def calls_whole(model: nn.Module, kind: type[nn.Module], *inputs: Any) -> tuple[dict[str, int], list[int]]:
    """How often a run calls modules of each class that must stay whole, and how many arguments each call passes.

    ``kind`` and its subclasses come first.

    Args:
        model: the model to run; the hooks that count stay on it.
        kind: the class to keep whole, besides the modules that tracing never enters.
        inputs: the inputs of the run.
    """
    of_kind, of_torch = Counter[str](), Counter[str]()
    within: list[nn.Module] = []
    passed: list[int] = []

    def enter(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not within:
            passed.append(len(args) + len(kwargs))
            (of_kind if isinstance(module, kind) else of_torch)[module_kind(module)] += 1
        within.append(module)

    def leave(*_: Any) -> None:
        within.pop()

    is_leaf = fx.Tracer().is_leaf_module
    for path, module in model.named_modules():
        if isinstance(module, kind) or is_leaf(module, path):
            module.register_forward_pre_hook(enter, with_kwargs=True)
            module.register_forward_hook(leave)
    model(*inputs)
    return {**of_kind, **of_torch}, passed


@rule
def kept_whole(case: CaseView) -> Found:
    """Each call to a module to keep, or to a torch layer, is one node with all arguments; no other module is called."""
    inputs = inputs_of(case.case, case.seed)[0]
    expected, passed = calls_whole(model_of(case.case, case.seed), case.model.kind, *inputs)
    calls = [node for node in case.nodes if node.op == "call_module"]
    # If a container was entered, calls to the torch layers inside it are not separate mistakes.
    for node in calls:
        is_layer = (node.kind or "").startswith("torch.") and node.kind != "torch.nn.Sequential"
        if node.kind not in expected and not is_layer:
            yield node, f"keeps a `{node.kind}` whole, which the task does not ask for"
    times = Counter(node.kind for node in calls)
    for kind, count in expected.items():
        if times[kind] != count:
            for node in calls:
                if node.kind == kind and _is_namesake(case, node.target):
                    yield node, f"keeps a `{kind}` whole, which shares only its name with the class passed as `kind`"
            found, often = ("once" if number == 1 else f"{number} times" for number in (times[kind], count))
            yield _inside(case, kind), f"`{kind}` is called {found}, not {often}: each call must be one node."
    for node in calls:
        if node.kind not in expected:
            yield node, f"keeps a `{node.kind}` whole, which the task does not ask for"
    for node, count in zip(calls, passed, strict=False):
        if (found := len(node.positional) + len(dict_items(node.kwargs))) < count:
            yield node, f"passes {found} of the {count} arguments that the model passes"


def _is_namesake(case: CaseView, path: str) -> bool:
    """Whether the model has a module at this path that is neither of the class to keep whole nor a leaf by default."""
    module = dict(case.model.named_modules()).get(path)
    kept = module is None or isinstance(module, case.model.kind)
    return not kept and not fx.Tracer().is_leaf_module(module, path)


def _inside(case: CaseView, kind: str) -> NodeRecord | None:
    """The first node that was recorded inside a module of this class."""
    kinds = {path: module_kind(module) for path, module in case.model.named_modules() if path}
    for node in case.nodes:
        parts = (node.target if node.op == "get_attr" else node.scope).split(".")
        around = (kinds.get(".".join(parts[:count])) for count in range(1, len(parts) + 1))
        if node.kind != kind and kind in around:
            return node
    return None


CHECK = Check(
    (recompiled, nothing_fixed, all_in_sight, kept_whole, same_result, no_dead_nodes, input_unchanged, shares_weights)
)
