"""The properties that exercises are made of: each reads a :class:`CaseView`, returns a :class:`Violation` or ``None``.

A property without settings is used by its name (``lints``), one with settings is called (``calls(RELU, times=2)``).
To write one: a function ``(case, …settings) -> Violation | None`` under ``@configurable``. Its message is one sentence
that says what the learner's graph does and what was asked, and never how to get there. It holds no random number, since
reports are printed into notebooks and compared.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from fxbook.checks.families import Family
from fxbook.checks.values import difference, encode
from fxbook.checks.view import CaseView, Property, Violation, first_violation
from fxbook.graph.record import NodeRecord

Settings = ParamSpec("Settings")


def configurable(
    function: Callable[Concatenate[CaseView, Settings], Violation | None],
) -> Callable[Settings, Property]:
    """Turn ``function(case, …settings)`` into ``function(…settings)``, which gives the property."""

    @functools.wraps(function)
    def configure(*args: Settings.args, **kwargs: Settings.kwargs) -> Property:
        def holds(case: CaseView) -> Violation | None:
            return function(case, *args, **kwargs)

        holds.__name__ = function.__name__
        return holds

    return configure


# ---- the graph is well formed ----------------------------------------------------------------------------------------


def lints(case: CaseView) -> Violation | None:
    """``graph.lint()`` raises nothing."""
    faulty = next((node for node in case.nodes if node.faults), None)
    if faulty:
        return Violation(f"The graph is broken: node `{faulty.name}` {faulty.faults[0]}.", faulty.index)
    if case.graph and case.graph.lint:
        blamed = re.search(r"\bNode '?(\w+)", case.graph.lint)
        named = next((node.index for node in case.nodes if blamed and node.name == blamed[1]), None)
        return Violation(f"graph.lint() refuses the graph: {case.graph.lint.rstrip('.')}.", named)
    return None


def recompiled(case: CaseView) -> Violation | None:
    """The compiled code matches the graph."""
    if case.graph and case.graph.stale:
        return Violation("The graph is changed, but the compiled code is stale: calling the module runs the old code.")
    return None


def no_dead_nodes(case: CaseView) -> Violation | None:
    """Every node is read by another, or has an effect; inputs may stay unused."""
    dead = next((node for node in case.nodes if "dead" in node.notes), None)
    if dead:
        return Violation(f"Node `{dead.name}` is dead: nothing reads its result.", dead.index)
    return None


# ---- the graph computes what was asked -------------------------------------------------------------------------------


def runs(case: CaseView) -> Violation | None:
    """Running the result raises nothing."""
    if case.run_error:
        named = next((node.index for node in case.nodes if f"`{node.name}`" in case.run_error), None)
        node = named if case.run_node is None else case.run_node
        return Violation(f"Running the result raises {case.run_error}", node)
    return None


def same_result(case: CaseView) -> Violation | None:
    """On random inputs the result gives the outputs that were asked for (see ``Exercise.expected``)."""
    if broken := runs(case):
        return broken
    for found, expected in zip(case.outputs or [], case.expected, strict=True):
        if differs := difference(found, expected):
            output = next((node.index for node in case.nodes if node.op == "output"), None)
            return Violation(f"The result is not the one asked for: {differs}.", output)
    return None


@configurable
def same_result_or(case: CaseView, *diagnoses: Property) -> Violation | None:
    """As :func:`same_result`; where it fails, the first of ``diagnoses`` that finds something says why.

    This accepts every spelling that computes the right thing, and still names the mistake and its node.
    """
    wrong = same_result(case)
    if wrong is None:
        return None
    return first_violation(case, diagnoses) or dataclasses.replace(wrong, rule="same_result")


@configurable
def value_is(case: CaseView, expected: Callable[..., Any]) -> Violation | None:
    """A ``compute`` answer returns what ``expected`` returns, called with the same arguments (made anew)."""
    if differs := difference(case.value, encode(expected(*case.arguments))):
        return Violation(f"The answer is not the one asked for: {differs}.")
    return None


# ---- the model that was given ----------------------------------------------------------------------------------------


def input_unchanged(case: CaseView) -> Violation | None:
    """The model given is as before: values, structure, code, mode, attributes."""
    if case.changes:
        return Violation(f"The model that was given has been changed: {case.changes[0]}.")
    return None


def new_object(case: CaseView) -> Violation | None:
    """The result is not the very object that was given."""
    if case.same_object:
        return Violation("The result is the object that was given: a new one was asked for.")
    return None


def shares_weights(case: CaseView) -> Violation | None:
    """Parameters and buffers of the result are those of the model given, not copies."""
    copied = next((name for name, origin in case.shared.items() if origin is None and name in case.weights), None)
    if copied:
        reader = next((node for node in case.nodes if _holds(node, copied)), None)
        return Violation(
            f"`{copied}` is not the object that the model holds: its own weights were to be used.",
            reader.index if reader else None,
        )
    return None


def edited(case: CaseView) -> Violation | None:
    """The graph given was edited (or copied and edited), not traced anew."""
    if case.nodes and not any(origin is not None for origin in case.origins):
        return Violation("No node of the graph that was given is left: it was traced or built anew, an edit was asked.")
    return None


# ---- what stands in the graph ----------------------------------------------------------------------------------------


@configurable
def calls(case: CaseView, family: Family, times: int | None = None) -> Violation | None:
    """The operation stands in the graph, in any spelling; exactly ``times`` times if given."""
    found = [node for node in case.nodes if node in family]
    if times is None and not found:
        return Violation(f"No node calls {family.label}.")
    if times is not None and len(found) != times:
        extra = found[times].index if len(found) > times else None
        return Violation(f"{_count(len(found), 'node')} {family.label}: {times} {_be(times)} asked.", extra)
    return None


@configurable
def none_left(case: CaseView, family: Family) -> Violation | None:
    """The operation does not stand in the graph, in any spelling."""
    left = next((node for node in case.nodes if node in family), None)
    return Violation(f"Node `{left.name}` still calls {family.label}.", left.index) if left else None


@configurable
def calls_after(case: CaseView, family: Family, anchor: Family) -> Violation | None:
    """Each node of ``anchor`` is read by one of ``family`` and by nothing else: what follows reads the new node."""
    for node in case.nodes:
        if node not in anchor:
            continue
        readers = [case.nodes[user] for user in node.users]
        if not any(reader in family for reader in readers):
            return Violation(f"Node `{node.name}` ({anchor.label}) is not followed by {family.label}.", node.index)
        passed_by = next((reader for reader in readers if reader not in family), None)
        if passed_by:
            message = f"Node `{passed_by.name}` still reads `{node.name}`, past the {family.label} that follows it."
            return Violation(message, passed_by.index)
    return None


@configurable
def calls_before(case: CaseView, family: Family, anchor: Family) -> Violation | None:
    """Each node of ``anchor`` reads its first input from a node of ``family``."""
    for node in case.nodes:
        if node in anchor and not (node.inputs and case.nodes[node.inputs[0]] in family):
            return Violation(f"Node `{node.name}` ({anchor.label}) does not read {family.label}.", node.index)
    return None


@configurable
def has_node(
    case: CaseView, op: str, target: str | None = None, times: int | None = None, label: str | None = None
) -> Violation | None:
    """A node of this opcode, and of this readable target if given, stands in the graph; ``times`` times if given.

    For exercises *about* an opcode; where only the operation matters, use :func:`calls`. The message names the opcode
    and ``label``, or the target where no label is given.
    """
    found = [node for node in case.nodes if node.op == op and target in (None, node.target)]
    what = f"`{op}` node" + (f" for {label or target}" if label or target else "")
    if times is None and not found:
        near = next((node for node in case.nodes if target is not None and node.target == target), None)
        if near:
            return Violation(f"Node `{near.name}` is a `{near.op}`: a {what} was asked.", near.index)
        return Violation(f"The graph has no {what}.")
    if times is not None and len(found) != times:
        return Violation(
            f"The graph has {len(found)} of the {what}: {times} {_be(times)} asked.",
            found[times].index if len(found) > times else None,
        )
    return None


@configurable
def opcodes(case: CaseView, *allowed: str) -> Violation | None:
    """Exactly these opcodes occur."""
    extra = next((node for node in case.nodes if node.op not in allowed), None)
    if extra:
        return Violation(f"Node `{extra.name}` is a `{extra.op}`, which was not asked.", extra.index)
    present = {node.op for node in case.nodes}
    missing = next((op for op in allowed if op not in present), None)
    return Violation(f"The graph has no `{missing}` node.") if missing else None


@configurable
def placeholders(case: CaseView, *names: str) -> Violation | None:
    """The inputs of the graph have these names, in this order."""
    found = [node for node in case.nodes if node.op == "placeholder"]
    for index, name in enumerate(names):
        if index >= len(found):
            return Violation(f"The graph takes {_count(len(found), 'input')}: `{name}` is missing.")
        if found[index].target.lstrip("*") != name:
            message = f"Input {index + 1} is called `{found[index].target}`: `{name}` was asked."
            return Violation(message, found[index].index)
    if len(found) > len(names):
        return Violation(f"Input `{found[len(names)].target}` was not asked.", found[len(names)].index)
    return None


@configurable
def where(case: CaseView, condition: Callable[[CaseView], bool], *properties: Property) -> Violation | None:
    """The properties hold in the cases for which the condition does."""
    return first_violation(case, properties) if condition(case) else None


@configurable
def look(case: CaseView, read: str, *properties: Property) -> Violation | None:
    """The properties hold; a violation of them is explained at ``read``, ``"chapter#anchor"``."""
    found = first_violation(case, properties)
    return dataclasses.replace(found, look=read) if found else None


def _holds(node: NodeRecord, weight: str) -> bool:
    if node.op == "get_attr":
        return node.target == weight
    return node.op == "call_module" and weight.rpartition(".")[0] == node.target


def _count(count: int, what: str) -> str:
    return f"{'no' if count == 0 else count} {what}{'' if count == 1 else 's'}"


def _be(count: int) -> str:
    return "was" if count == 1 else "were"
