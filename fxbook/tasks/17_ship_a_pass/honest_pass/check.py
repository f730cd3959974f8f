"""Erase the calls to layers that do nothing, and report correctly whether any call was erased."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.cases.values import difference, encode
from fxbook.rules.returned import name_of, names_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.trial import Trial
from fxbook.rules.view import CaseView

from ..check import compiled_anew, observed
from .cases import idle_calls


def returned(case: CaseView, run: str, key: str) -> object:
    """A fact about what the pass returned in that run: ``"kind"``, ``"same"`` or ``"modified"``."""
    return (table_of(observed(case, run)) or {}).get(key)


@rule("when_it_breaks/17_ship_a_pass#typeerror-the-result-of-the-pass--should-be-type-passresult")
def returns_a_pass_result(case: CaseView) -> Found:
    """The pass returns a PassResult with the given module."""
    kind = returned(case, "first", "kind")
    if kind != "PassResult":
        yield None, f"The pass returns an object of class {kind}, not a `PassResult`."
    elif returned(case, "first", "same") is not True:
        yield None, "The pass returns a different module from the one it was given: edit the given module in place."


@rule("02_insertion_points#what-lint-lets-through")
def lints_after(case: CaseView) -> Found:
    """After the pass, ``lint`` accepts the graph."""
    message = name_of(observed(case, "lint"))
    if message is not None:
        yield None, f"After the pass, `graph.lint()` rejects the graph: {message}"


@rule
def none_left(case: CaseView) -> Found:
    """No node calls a layer that does nothing."""
    for name in sorted(names_of(observed(case, "left")) or ()):
        yield case.before.named(name), "still calls an `nn.Identity`"


@rule
def others_stay(case: CaseView) -> Found:
    """All other nodes are still there, and there are no new nodes."""
    module, _ = case.arguments
    gone = set(idle_calls(module))
    expected = [node.name for node in module.graph.nodes if node.name not in gone]
    found = names_of(observed(case, "nodes")) or set()
    for name in expected:
        if name not in found:
            node = case.before.named(name)
            unused = ", not other unused calls" if node is not None and not node.users else ""
            yield node, f"is missing: erase only calls to `nn.Identity`{unused}"
    for name in sorted(found & gone):
        yield None, f"Node `{name}` is still in the graph, although it no longer calls an `nn.Identity`: erase it."
    for name in sorted(found - set(expected) - gone):
        yield None, f"Node `{name}` is new: only erase nodes."


@rule
def layers_stay(case: CaseView) -> Found:
    """The module still has all its layers, and they are the same objects."""
    for name in sorted(names_of(observed(case, "deleted")) or ()):
        yield None, f"The layer `{name}` is missing from the module: erase only calls."
    for name in sorted(names_of(observed(case, "replaced")) or ()):
        yield None, f"The layer `{name}` is a different object from before: erase only calls."


@rule("13_retrace_and_meta#which-notes-survive")
def nothing_else_changed(case: CaseView) -> Found:
    """The other nodes still have their defaults, annotations and notes."""
    match observed(case, "other"):
        case [str(name), str(what)]:
            yield case.before.named(name), f"{what}: erase only calls to `nn.Identity`"


@rule
def computes_the_same(case: CaseView) -> Found:
    """The module returns what it returned before."""
    module, x = case.arguments
    differs = difference(observed(case, "outputs"), encode(module(x)), "the result")
    if differs:
        yield None, f"After the pass, {differs}."


@rule
def honest(case: CaseView) -> Found:
    """``modified`` says whether a call was erased."""
    module, _ = case.arguments
    changed = bool(idle_calls(module))
    modified = returned(case, "first", "modified")
    if not isinstance(modified, bool):
        yield None, "`modified` is not a bool."
    elif modified and not changed:
        yield None, "`modified` is true, but the graph had no call to an `nn.Identity`."
    elif changed and not modified:
        yield None, "`modified` is false, but calls to `nn.Identity` were erased."


@rule
def idempotent(case: CaseView) -> Found:
    """A second run reports that it changed nothing."""
    if returned(case, "second", "modified") is not False:
        yield None, "A second run finds nothing to erase, but does not return a `PassResult` with `modified=False`."


def on_error(trial: Trial, kind: str) -> str | None:
    """Explain an ``IndexError``: a call without positional arguments has no ``args[0]``."""
    module, _ = trial.fresh_arguments()
    idle = idle_calls(module)
    bare = [node.name for node in module.graph.nodes if node.name in idle and not node.args]
    if kind == "IndexError" and bare:
        return f"In this graph `{bare[0]}` has its input as a keyword argument, so its `args` are empty."
    return None


CHECK = Check(
    (
        returns_a_pass_result,
        lints_after,
        none_left,
        others_stay,
        layers_stay,
        compiled_anew,
        nothing_else_changed,
        computes_the_same,
        honest,
        idempotent,
    ),
    on_error=on_error,
)
