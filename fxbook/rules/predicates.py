"""The rules that many exercises share; see :mod:`fxbook.rules.rule` for what a rule is and yields.

A rule without settings is used by its name (``lints``), and one with settings is called (``calls(RELU, times=2)``). Its
message says what the learner's graph does and what was required, but never how to get there. Random numbers come after
a colon, so that the rest of the message is the same with any seed.
"""

from __future__ import annotations

import collections
import re

from fxbook.cases.values import difference, without_numbers
from fxbook.graph.record import NodeRecord
from fxbook.rules.families import Family
from fxbook.rules.rule import Found, configurable, rule
from fxbook.rules.view import CaseView

# ---- the graph is well formed ----------------------------------------------------------------------------------------


@rule
def lints(case: CaseView) -> Found:
    for node in case.nodes:
        if node.faults:
            yield node, f"The graph is broken: node `{node.name}` {node.faults[0]}."
    if case.graph and case.graph.lint:
        blamed = re.search(r"\bNode '?(\w+)", case.graph.lint)
        named = case.graph.named(blamed[1]) if blamed else None
        yield named, f"graph.lint() rejects the graph: {case.graph.lint.rstrip('.!')}."


_LEFT_INSERTING = "02_insertion_points#an-anchor-holds-as-long-as-its-with"


@rule(_LEFT_INSERTING)
def inserts_at_the_end(case: CaseView) -> Found:
    """The graph inserts new nodes at its end, as before: no insertion point is left behind."""
    if case.graph and case.graph.inserts:
        where = case.graph.inserts
        yield None, f"The graph still inserts {where}: the next new node lands there, not at the end."


_STALE = "The graph has changed, but the compiled code is stale: calling the module runs the old code."


@rule
def recompiled(case: CaseView) -> Found:
    if case.graph and case.stale:
        yield None, _STALE


@rule
def no_dead_nodes(case: CaseView) -> Found:
    """Every node has a user or an effect; inputs, and nodes that were dead in the given graph, may stay unused."""
    dead = [node for node in case.nodes if "dead" in node.notes]
    before = [node for node in case.trial.given or () if "dead" in node.notes]
    was = {node.index: given for node, given in case.kept()} if dead and before else {}
    for node in dead:
        # In a rebuilt graph, a new dead node may stand for an old one.
        if was[node.index] not in before if node.index in was else len(dead) > len(before):
            yield node, "is dead: no node uses its result"


@rule
def all_in_sight(case: CaseView) -> Found:
    """The graph shows everything that it computes: no function that it calls holds a module."""
    for node in case.nodes:
        if node.holds:
            yield node, f"calls a function that holds {node.holds}: the graph should show what the function computes"


@rule
def nothing_left(case: CaseView) -> Found:
    """The answer has no side effects: torch's modes, the inputs, hooks, training modes and weights are as before."""
    for what in case.left:
        see = _LEFT_INSERTING if " still inserts " in what else None
        yield None, f"Your code changes what should stay as it was: {what}.", see


@rule("07_placeholder#add-move-and-remove-inputs")
def defaults_kept(case: CaseView) -> Found:
    """The inputs that are still there have the defaults that they had, and those without one have none."""
    inputs = [node for node in case.nodes if node.op == "placeholder"]
    before = {node.target: node.args for node in case.trial.inputs} if inputs else {}
    for node in inputs:
        if node.args != before.get(node.target, node.args):
            has = f"has the default `{node.call.partition('=')[2]}`" if node.positional else "has lost its default"
            yield node, f"{has}: the inputs should be as they were"


_LAYER = re.compile(r"torch\.nn\.modules\.(?:\w+\.)*[A-Z]\w*")


@rule
def layers_applied(case: CaseView) -> Found:
    """No node calls a class of ``torch.nn``. The judge reports this instead of the errors that it causes."""
    for node in case.nodes:
        if node.op == "call_function" and _LAYER.fullmatch(node.target):
            kind = node.target.rpartition(".")[2]
            yield node, f"calls the class `{kind}`: that makes a layer, and does not apply it"


# ---- the graph computes what is expected -----------------------------------------------------------------------------


@rule
def runs(case: CaseView) -> Found:
    if case.run_error:
        blamed = next((node for node in case.nodes if f"`{node.name}`" in case.run_error), None)
        node = blamed if case.run_node is None else case.nodes[case.run_node]
        yield node, f"Running the result raises {case.run_error}"


@rule
def same_result(case: CaseView) -> Found:
    yield from runs.find(case)
    for draw, (output, expected) in enumerate(zip(case.outputs or [], case.expected, strict=True)):
        if differs := difference(output, expected):
            # Not recorded as a claim that was read: it says why the result is wrong, not whether the result is wrong.
            if case.graph and case.claims.stale:
                yield None, _STALE
            divergence = case.first_divergence(draw)
            if divergence:
                sentence = (
                    f"The result is not the one asked for: {without_numbers(differs)}. Node `{divergence.node.name}` "
                    f"is the first whose value is not what it should be: {divergence.differs}."
                )
                yield divergence.node, sentence
            yield _returning(case), f"The result is not the one asked for: {differs}."


@rule
def same_output(case: CaseView) -> Found:
    """:func:`same_result`, for exercises where a right answer may change what the given nodes compute."""
    yield from runs.find(case)
    for output, expected in zip(case.outputs or [], case.expected, strict=True):
        if differs := difference(output, expected):
            yield _returning(case), f"The result is not the one asked for: {differs}."


def _returning(case: CaseView) -> NodeRecord | None:
    return next((node for node in case.nodes if node.op == "output"), None)


# ---- the model that was given ----------------------------------------------------------------------------------------


@rule
def input_unchanged(case: CaseView) -> Found:
    """The given model is unchanged: values, structure, code, mode, attributes."""
    for change in case.changes:
        yield None, f"The model that was given has been changed: {change}."


@rule
def shares_weights(case: CaseView) -> Found:
    """Parameters and buffers of the result are those of the given model, not copies."""
    for name, origin in case.shared.items():
        if origin is None and name in case.weights:
            reader = next((node for node in case.nodes if _holds(node, name)), None)
            yield (
                reader,
                f"`{name}` is not the object that the model holds: the result should use the model's own weights.",
            )


@rule
def edited(case: CaseView) -> Found:
    """The given graph was edited (or copied and edited), not traced again."""
    if case.nodes and not any(origin is not None for origin in case.origins):
        yield None, "No node of the given graph is left: it was traced or built again, not edited."


# ---- what the graph contains -----------------------------------------------------------------------------------------


@configurable
def calls(case: CaseView, family: Family, times: int | None = None) -> Found:
    """The operation occurs in the graph, in any spelling; exactly ``times`` times if given."""
    calling = [node for node in case.nodes if node in family]
    if times is None and not calling:
        yield None, f"No node calls {family.label}."
    if times is not None and len(calling) != times:
        extra = calling[times] if len(calling) > times else None
        yield extra, f"{_count(len(calling), 'call')} to {family.label}, not {times}."


@configurable
def none_left(case: CaseView, family: Family) -> Found:
    for node in case.nodes:
        if node in family:
            yield node, f"still calls {family.label}"


@configurable
def others_stay(case: CaseView, *named: Family) -> Found:
    """Operations that the exercise does not name occur as often as before, used or not, and there are no new ones."""
    graphs = (case.before, case.nodes)
    before, after = (collections.Counter(_does(node) for node in graph if _is_other(node, named)) for graph in graphs)
    present = case.now()
    for node in case.before:
        left = node.index in present and _does(present[node.index]) == _does(node)
        if after[_does(node)] < before[_does(node)] and not left and _is_other(node, named):
            yield node, f"is gone, but should have stayed: `{node.call}`"
    unchanged = {node.index for node, was in case.kept() if _does(node) == _does(was)}
    for node in sorted(case.nodes, key=lambda node: node.index in unchanged):
        if after[_does(node)] > before[_does(node)] and _is_other(node, named):
            yield node, f"is new, and the task does not ask for it: `{node.call}`"


def _is_other(node: NodeRecord, named: tuple[Family, ...]) -> bool:
    return node.op not in ("get_attr", "output") and not any(node in family for family in named)


def _does(node: NodeRecord) -> tuple[str, str]:
    return node.op, node.target


@configurable
def calls_before(case: CaseView, family: Family, anchor: Family) -> Found:
    """The first input of each node of ``anchor`` is a node of ``family``."""
    for node in case.nodes:
        if node in anchor and not (node.inputs and case.nodes[node.inputs[0]] in family):
            yield node, f"Node `{node.name}` ({anchor.label}) does not use {family.label}."


@configurable
def has_node(case: CaseView, op: str) -> Found:
    """A node with this opcode occurs. For exercises *about* an opcode; for an operation, use :func:`calls`."""
    if not any(node.op == op for node in case.nodes):
        yield None, f"The graph has no `{op}` node."


@configurable
def opcodes(case: CaseView, *allowed: str) -> Found:
    for node in case.nodes:
        if node.op not in allowed:
            yield node, f"is a `{node.op}`, which the task does not ask for"
    present = {node.op for node in case.nodes}
    for op in allowed:
        if op not in present:
            yield None, f"The graph has no `{op}` node."


@configurable
def placeholders(case: CaseView, *names: str) -> Found:
    """The inputs of the graph have these names, in this order."""
    inputs = [node for node in case.nodes if node.op == "placeholder"]
    for index, name in enumerate(names):
        if index >= len(inputs):
            yield None, f"The graph takes {_count(len(inputs), 'input')}: `{name}` is missing."
        elif inputs[index].target.lstrip("*") != name:
            yield inputs[index], f"Input {index + 1} is called `{inputs[index].target}`, not `{name}`."
    if len(inputs) > len(names):
        yield inputs[len(names)], f"Input `{inputs[len(names)].target}` is one too many."


def _holds(node: NodeRecord, weight: str) -> bool:
    if node.op == "get_attr":
        return node.target == weight
    return node.op == "call_module" and weight.rpartition(".")[0] == node.target


def _count(count: int, what: str) -> str:
    return f"{'no' if count == 0 else count} {what}{'' if count == 1 else 's'}"
