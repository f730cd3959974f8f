"""Find the node that fails inside."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from fxbook.cases import Check
from fxbook.cases.values import Value
from fxbook.rules.predicates import input_unchanged
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..cases import graph_modules
from ..check import left_alone, noted

_INTERPRETER = "04_recompile#find-the-line-that-failed"
_DOWN = "04_recompile#recompile-goes-down-to-children-not-to-everything-inside"


class _Keeping(fx.Interpreter):
    """Keeps a stack, shared by all interpreters, of the running nodes with their modules' paths, outermost first."""

    def __init__(self, module: fx.GraphModule, path: str, running: list[tuple[str, str]]) -> None:
        super().__init__(module)
        self.extra_traceback = False
        self.path, self.running = path, running

    def run_node(self, n: fx.Node) -> Any:
        self.running.append((self.path, n.name))
        result = super().run_node(n)
        self.running.pop()
        return result


def failing_node(model: fx.GraphModule, *inputs: Any) -> tuple[str, str] | None:
    """The path of the innermost traced module in which a node fails, and the name of that node; or ``None``.

    From now on, each traced module in ``model`` runs its graph, not its code.
    """
    running: list[tuple[str, str]] = []
    for path, part in graph_modules(model).items():
        part.forward = _Keeping(part, path, running).run
    try:
        model.forward(*inputs)
    except Exception:
        return running[-1]
    return None


def _pair(value: Value) -> tuple[str, str] | None:
    """The value as a path and a node name; ``None`` if it is something else."""
    match value:
        case [str(path), str(name)] | {"tuple": [str(path), str(name)]}:
            return path, name
    return None


@rule
def names_the_node(case: CaseView) -> Found:
    """The answer is the name of the module and the name of the node that fails, or ``None``."""
    said, asked = noted(case).get("said"), failing_node(*case.arguments)
    pair = _pair(said)
    if pair != asked and (pair or said is None) and (mode := _mode_of(case, pair)):
        yield None, f"Your function returns the answer for a run {mode}.", _INTERPRETER
    if asked is None and said is not None:
        yield None, "Your function names a node, but no node of any graph fails: return None.", _INTERPRETER
    if asked is None:
        return
    if said is None:
        yield None, "Your function returns None, but a node of one of the graphs fails.", _INTERPRETER
    elif pair is None:
        yield (
            None,
            "Your function returns neither None nor a pair of strings: the name of a module and the name of a node.",
        )
    elif pair != asked:
        yield None, _how(case, *pair, asked), _DOWN if _calls(case, *pair, asked) else _INTERPRETER


def _mode_of(case: CaseView, pair: tuple[str, str] | None) -> str:
    """The mode in which a run would give this pair, and what to do instead; ``""`` if no mode does."""
    model, *inputs = case.arguments
    if failing_node(model.eval(), *inputs) == pair:
        return "in eval mode: leave each module in its own mode"
    with torch.no_grad():
        if failing_node(*case.arguments) == pair:
            return "under torch.no_grad: leave gradients on"
    return ""


def _listed_as(model: fx.GraphModule, path: str) -> str:
    """The name under which ``named_modules()`` lists the module at a path; it lists a shared module only once."""
    everything = dict(model.named_modules(remove_duplicate=False))
    return next((name for name, part in model.named_modules() if part is everything.get(path)), path)


def _how(case: CaseView, path: str, name: str, asked: tuple[str, str]) -> str:
    """What is wrong with a pair."""
    inside = graph_modules(case.arguments[0])
    first = _listed_as(case.arguments[0], path)
    if first != path:
        return f"Your function returns {path!r}, but `named_modules()` lists this module only as {first!r}."
    if path not in inside:
        return f"Your function returns {path!r}, but no traced module in the model has this qualified name."
    where = f"of `{path}`" if path else "of the model itself"
    if all(node.name != name for node in inside[path].graph.nodes):
        return f"Your function returns {name!r}, but no node {where} has that name."
    if _calls(case, path, name, asked):
        return f"Your function names node `{name}` {where}, which only calls the module that fails."
    return f"Your function names node `{name}` {where}, which does not fail."


def _calls(case: CaseView, path: str, name: str, asked: tuple[str, str]) -> bool:
    """Whether a node calls the module that contains the failing node."""
    part = graph_modules(case.arguments[0]).get(path)
    node = next((node for node in part.graph.nodes if node.name == name), None) if part else None
    if node is None or node.op != "call_module":
        return False
    called = f"{path}.{node.target}" if path else str(node.target)
    return f"{asked[0]}.".startswith(f"{called}.")


CHECK = Check((input_unchanged, left_alone, names_the_node))
