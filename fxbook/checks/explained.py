"""What any graph owes, whatever the exercise: each fault is told with its node and the section that explains it.

The properties that a chapter shares with the ones before it stand here; what one chapter asks stands in its own module.
"""

from __future__ import annotations

import dataclasses

import torch

from fxbook.checks.predicates import has_node, lints, look, no_dead_nodes, recompiled
from fxbook.checks.view import CaseView, Violation
from fxbook.graph.record import JSON, NodeRecord

# Faults of which lint speaks, by a part of what it says, and where they are explained; the first that fits counts.
_LINT = {
    "not in this graph": "01_node_creation#does-not-belong-to-this-graph-but-was-used-as-an-argument",
    "does not belong to this Graph": "01_node_creation#does-not-belong-to-this-graph-but-was-used-as-an-argument",
    "nonexistent attribute": "01_node_creation#references-nonexistent-attribute",
    "has the name of node": "01_node_creation#node-redefined-name",
    "unknown opcode": "01_node_creation#node-relu-had-unknown-opcode",
    "is expected": "00_first_graph#valueerror-node-relu-target--has-type--but-a-str-is-expected",
    "side table": "02_insertion_points#runtimeerror-node-hand-is-not-added-to-the-side-table",
}

compiled = look("00_first_graph#change-one-node", recompiled)
has_reader = look("02_insertion_points#a-new-node-needs-a-reader", no_dead_nodes)
has_output = look("01_node_creation#no-output-node", has_node("output"))


def well_formed(case: CaseView) -> Violation | None:
    """As :func:`lints`, explained where the chapters explain the kind of fault."""
    found = lints(case)
    if found is None:
        return None
    node = None if found.node is None else case.nodes[found.node]
    said = node.faults[0] if node and node.faults else found.message
    read = next((read for part, read in _LINT.items() if part in said), "02_insertion_points#what-lint-lets-through")
    if node and _reads_itself(case, node):
        read = "02_insertion_points#hand-over-the-readers"
    elif node and any("never runs: after the output" in case.nodes[index].notes for index in node.inputs):
        read = "02_insertion_points#a-node-made-without-an-anchor"
    elif said.endswith("before it is defined"):
        read = "02_insertion_points#two-nodes-one-anchor"
    return dataclasses.replace(found, look=read, rule="lints")


def _reads_itself(case: CaseView, node: NodeRecord) -> bool:
    """Whether the node reads its own value, through others or not: no order of the list is right then."""
    met: set[int] = set()
    waiting = list(node.inputs)
    while waiting:
        read = waiting.pop()
        if read not in met:
            met.add(read)
            waiting += case.nodes[read].inputs
    return node.index in met


def given_edited(case: CaseView) -> Violation | None:
    """The module given was edited, and is what the answer returned."""
    if case.same_object:
        return None
    if case.changes:
        return Violation("The result is another module than the one that was given, which was to be edited.")
    return Violation("You edited a copy: the module that you were given is what it was.")


# ---- what a node is made of ------------------------------------------------------------------------------------------


def args_are_tuples(case: CaseView) -> Violation | None:
    """The arguments of each node are a tuple: a list runs as code, and not in an Interpreter."""
    listed = next((node for node in case.nodes if isinstance(node.args, list)), None)
    if listed is None:
        return None
    message = f"The arguments of node `{listed.name}` are a list, where torch.fx keeps a tuple."
    return Violation(message, listed.index, "01_node_creation#a-list-assigned-to-nodeargs")


def methods_exist(case: CaseView) -> Violation | None:
    """Tensors have each method that is called."""
    for node in case.nodes:
        if node.op == "call_method" and "." not in node.target and not hasattr(torch.Tensor, node.target):
            message = f"Node `{node.name}` calls the method `{node.target}`, which tensors do not have."
            anchor = "attributeerror-tensor-object-has-no-attribute-gelu"
            return Violation(message, node.index, f"00_first_graph#{anchor}")
    return None


def tensor_free(case: CaseView) -> Violation | None:
    """No tensor stands among the arguments of a node, at any depth."""
    for node in case.nodes:
        if _holds_tensor(node.args) or _holds_tensor(node.kwargs):
            message = f"Node `{node.name}` has a tensor among its arguments: `{node.call}`."
            return Violation(message, node.index, "01_node_creation#a-tensor-is-not-an-argument")
    return None


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


def paths_exist(case: CaseView) -> Violation | None:
    """The module that the graph runs in holds something at each path."""
    for node in case.nodes:
        if node.op in ("get_attr", "call_module") and node.kind is None and _missing(case, node.target):
            does = "fetches" if node.op == "get_attr" else "calls"
            message = f"Node `{node.name}` {does} `{node.target}`: the module has nothing at that path."
            anchor = "referenced-target-head-but-that-target-was-not-provided-in-root"
            return Violation(message, node.index, f"01_node_creation#{anchor}")
    return None


def _missing(case: CaseView, path: str) -> bool:
    found: object = case.model
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is None


def reads_nodes(case: CaseView) -> Violation | None:
    """No name of a node stands where the node itself was meant."""
    names = {node.name for node in case.nodes}
    for node in case.nodes:
        args = node.args.get("tuple", []) if isinstance(node.args, dict) else node.args
        named = next((value for value in args if isinstance(value, str) and value in names), None)
        if named and node.op not in ("placeholder", "output"):
            message = f"Node `{node.name}` reads the text {named!r}, not the node of that name."
            return Violation(message, node.index, "01_node_creation#argument-input-position-1-must-be-tensor-not-str")
    return None
