"""Rules for any graph, whatever the exercise: the shared rules, with links to the sections that explain each fault.

Rules for a single chapter are next to its exercises.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fxbook.graph.record import JSON, NodeRecord
from fxbook.rules import predicates
from fxbook.rules.returned import entry
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

# Parts of lint's messages, and where they are explained; the first that matches counts.
_LINT = {
    "not in this graph": "01_node_creation#does-not-belong-to-this-graph-but-was-used-as-an-argument",
    "does not belong to this Graph": "01_node_creation#does-not-belong-to-this-graph-but-was-used-as-an-argument",
    "nonexistent attribute": "when_it_breaks/01_node_creation#references-nonexistent-attribute",
    "has the same name as node": "when_it_breaks/01_node_creation#node-redefined-name",
    "unknown opcode": "when_it_breaks/01_node_creation#node-relu-had-unknown-opcode",
    "is expected": "00_first_graph#valueerror-node-relu-target--has-type--but-a-str-is-expected",
    "side table": "when_it_breaks/02_insertion_points#runtimeerror-node-hand-is-not-added-to-the-side-table",
}
_LET_THROUGH = "02_insertion_points#what-lint-lets-through"

recompiled = predicates.recompiled.at("00_first_graph#change-one-node")
no_dead_nodes = predicates.no_dead_nodes.at("02_insertion_points#a-new-node-needs-a-user")
has_output = predicates.has_node("output").at("when_it_breaks/01_node_creation#no-output-node")


@rule
def lints(case: CaseView) -> Found:
    """:func:`predicates.lints`, with a link to the section that explains the kind of fault.

    The graph also has only one output, with only one argument: a run ignores any others.
    """
    for node, sentence, *_ in predicates.lints.find(case):
        fault = node.faults[0] if node and node.faults else sentence
        place = next((place for part, place in _LINT.items() if part in fault), None)
        if node and reads_itself(case, node):
            place = "02_insertion_points#replace-uses-without-a-cycle"
        elif node and any("never runs: after the output" in case.nodes[index].notes for index in node.inputs):
            place = "02_insertion_points#a-node-made-without-an-anchor"
        elif fault.endswith("before it is defined"):
            place = "02_insertion_points#two-nodes-one-anchor"
        yield node, sentence, place or _LET_THROUGH
    for node in [node for node in case.nodes if node.op == "output"][1:]:
        second = "is a second `output`: a run ends at the first, and a graph should have only one"
        yield node, second, "when_it_breaks/02_insertion_points#silent-the-first-of-two-outputs-wins"
    for node in case.nodes:
        if node.op == "output" and len(node.positional) > 1:
            yield node, f"has {len(node.positional)} arguments: a run returns only the first", _LET_THROUGH


def reads_itself(case: CaseView, node: NodeRecord) -> bool:
    """Whether the node uses its own value, directly or through others. If so, no order of the list is valid."""
    met: set[int] = set()
    waiting = list(node.inputs)
    while waiting:
        index = waiting.pop()
        if index not in met:
            met.add(index)
            waiting += case.nodes[index].inputs
    return node.index in met


@rule
def given_edited(case: CaseView) -> Found:
    if case.same_object:
        return
    if case.changes:
        yield None, "The result is a different module, but the given one should be edited."
    yield None, "You edited a copy: the module that you were given is unchanged."


@rule
def graph_left_alone(case: CaseView) -> Found:
    """The answer, called by :func:`fxbook.cases.running.with_changes`, has not changed the graph that was passed."""
    match entry(case.value, "changed"):
        case [str(name), *_]:
            yield None, f"Your code has changed the graph that it was given: node `{name}` is not as it was."


@rule
def output_last(case: CaseView) -> Found:
    """No node follows ``output``, where it would never run."""
    output = next((node for node in case.nodes if node.op == "output"), None)
    if output is None:
        yield None, "The graph has no `output` node."
        return
    for node in case.nodes[output.index + 1 :]:
        yield node, "is after `output`: it never runs", "02_insertion_points#a-node-made-without-an-anchor"


@rule("01_node_creation#four-spellings-of-add")
def callers_input_stays(case: CaseView) -> Found:
    """No new node writes into an input of the model, which is the caller's tensor."""
    for node in case.new():
        if "in place" in node.notes and node.written is not None:
            written = case.nodes[node.written]
            if written.op == "placeholder":
                yield node, f"works in place: it changes the tensor passed as `{written.name}`"


@rule("03_replacement#what-removing-dead-code-deletes")
def writes_stay(case: CaseView) -> Found:
    """Every given node that writes in place is still there: what it changes is used, even if its result is not."""
    for node in case.gone():
        if "in place" in node.notes:
            yield node, f"writes in place and is gone, but should have stayed: `{node.call}`"


@rule
def own_weights_stay(case: CaseView) -> Found:
    """Each weight of the module keeps its name."""
    for node in case.new():
        if node.op == "get_attr" and node.target in case.weights:
            yield node, f"fetches `{node.target}`, a name that the module already uses"


@rule
def no_shared_buffer(case: CaseView) -> Found:
    """No two nodes fetch the same buffer as two different tensors."""
    fetching: dict[str, NodeRecord] = {}
    for node in case.nodes:
        if node.op == "get_attr" and node.target in fetching and node.target not in case.weights:
            first = fetching[node.target].name
            yield (
                node,
                f"Nodes `{first}` and `{node.name}` both fetch `{node.target}`: one tensor has replaced another.",
            )
        fetching[node.target] = node


@rule("when_it_breaks/01_node_creation#a-list-assigned-to-nodeargs")
def args_are_tuples(case: CaseView) -> Found:
    """The arguments of each node are a tuple: a list works in the compiled code, but not in an Interpreter."""
    for node in case.nodes:
        if isinstance(node.args, list):
            yield node, f"The arguments of node `{node.name}` are a list, where torch.fx keeps a tuple."


@rule("00_first_graph#attributeerror-tensor-object-has-no-attribute-gelu")
def methods_exist(case: CaseView) -> Found:
    """Each method that is called is a method of tensors."""
    for node in case.nodes:
        if node.op == "call_method" and "." not in node.target and not hasattr(torch.Tensor, node.target):
            yield node, f"calls the method `{node.target}`, which tensors do not have"


@rule("01_node_creation#a-tensor-is-not-an-argument")
def tensor_free(case: CaseView) -> Found:
    """No tensor is among the arguments of a node, at any depth."""
    for node in case.nodes:
        if _holds_tensor(node.args) or _holds_tensor(node.kwargs):
            yield node, f"has a tensor among its arguments: `{node.call}`"


def _holds_tensor(value: JSON) -> bool:
    match value:
        case {"constant": "Tensor" | "Parameter" | "Buffer"}:
            return True
        case dict():
            return any(map(_holds_tensor, value.values()))
        case list():
            return any(map(_holds_tensor, value))
        case _:
            return False


@rule("when_it_breaks/01_node_creation#referenced-target-head-but-that-target-was-not-provided-in-root")
def paths_exist(case: CaseView) -> Found:
    """The root module has an object at each path that a node names."""
    for node in case.nodes:
        if node.op in ("get_attr", "call_module") and node.kind is None and _missing(case, node.target):
            does = "fetches" if node.op == "get_attr" else "calls"
            yield node, f"{does} `{node.target}`: the module has nothing of that name"


def _missing(case: CaseView, path: str) -> bool:
    held: object = case.model
    for part in path.split("."):
        held = getattr(held, part, None)
    return held is None


@rule("when_it_breaks/01_node_creation#argument-input-position-1-must-be-tensor-not-str")
def reads_nodes(case: CaseView) -> Found:
    """No argument is a node's name where the node itself is meant."""
    names = {node.name for node in case.nodes}
    for node in case.nodes:
        named = next((value for value in node.positional if isinstance(value, str) and value in names), None)
        if named and node.op not in ("placeholder", "output"):
            yield node, f"has the string {named!r} as an argument, not the node of that name"


@rule("03_replacement#a-function-by-a-module-a-module-by-a-function")
def no_leftovers(case: CaseView) -> Found:
    """The result has no unused submodule; a container that is now empty may stay."""
    for path in unused_submodules(case):
        yield None, f"The result still holds the submodule `{path}`, which no node calls."


def unused_submodules(case: CaseView) -> Iterator[str]:
    """The paths of the result's submodules that no node uses under any name, without those of containers."""
    used = [node.target for node in case.nodes if node.op in ("call_module", "get_attr")]
    held = dict(case.model.named_modules(remove_duplicate=False))
    called = {id(held[target]) for target in used if target in held}
    for path in case.modules:
        if any(held[path].children() if path in held else ()):
            continue
        is_used = any(f"{target}.".startswith(f"{path}.") or path.startswith(f"{target}.") for target in used)
        if not is_used and id(held.get(path)) not in called:
            yield path
