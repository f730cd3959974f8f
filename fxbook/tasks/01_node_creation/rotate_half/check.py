"""Rotate half of the columns."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import JSON, NodeRecord
from fxbook.rules.explained import has_output, lints
from fxbook.rules.families import MUL, NEG, SUB, family
from fxbook.rules.predicates import no_dead_nodes, placeholders, same_result
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import nothing_detached

CAT = family("cat", "concat", "concatenate")
STACK = family("stack", "hstack", "vstack", "dstack", "column_stack", "row_stack")
TURNS = NEG | MUL | SUB
VIEWS = family("getitem", "narrow", "chunk", "split", "tensor_split", "hsplit", "dsplit", "unbind", "select", "view")


@rule("when_it_breaks/01_node_creation#too-many-arguments-for-an-operator")
def brackets_take_two(case: CaseView) -> Found:
    """``[]`` takes only one index: arguments after it vanish from the code."""
    for node in case.nodes:
        count = len(node.positional)
        if node.target == "operator.getitem" and count > 2:
            yield node, f"has {count} arguments: the code for `[]` uses two and drops the rest"


@rule
def pieces_in_a_list(case: CaseView) -> Found:
    """``cat`` gets its pieces in one list."""
    for node in case.nodes:
        first = node.positional[0] if node.positional else None
        if node in CAT and isinstance(first, dict) and "node" in first:
            yield node, "gets its pieces as separate arguments: it takes one list"


@rule
def in_last_dimension(case: CaseView) -> Found:
    """Slices and ``cat`` work on the last of the three dimensions of ``x``."""
    for node in case.nodes:
        parts = _index(node)
        is_whole = any(part.get("constant") == "ellipsis" for part in parts)
        if any("slice" in part for part in parts) and not is_whole and len(parts) < 3:
            yield node, f"slices dimension {len(parts) - 1} of `x`, which has 3 dimensions: the last should be sliced"
        by_position = node.positional[1] if len(node.positional) > 1 else 0
        dim = dict(node.kwargs.get("dict", ())).get("dim", by_position)
        if node in CAT and isinstance(dim, int) and dim not in (-1, 2):
            yield node, f"joins along dimension {dim} instead of the last"
        if node in STACK:
            yield node, "stacks its pieces: the halves should be joined along the last dimension"


@rule
def two_halves(case: CaseView) -> Found:
    """Slices take the first half of the columns and the second half."""
    taken = []
    for node in case.nodes:
        slices = [part["slice"] for part in _index(node) if "slice" in part]
        if not slices:
            continue
        columns = range(4)[slice(*slices[-1])] if all(end is None or type(end) is int for end in slices[-1]) else None
        if columns not in (range(2), range(2, 4), range(4)):
            yield node, "takes columns that are not one of the halves, `:2` and `2:`"
        taken.append(columns)
    if any(node in VIEWS and node.target != "operator.getitem" for node in case.nodes):
        return
    for name, half in (("first", range(2)), ("second", range(2, 4))):
        if taken and half not in taken:
            yield None, f"No node takes the {name} half of the columns."


@rule
def negated_half_first(case: CaseView) -> Found:
    """The second half is negated, and comes first."""
    if not any(node in TURNS for node in case.nodes):
        yield None, "No node negates a half."
    for node in case.nodes:
        if node in TURNS and any(case.nodes[index] in CAT for index in node.inputs):
            yield node, "negates both halves: only the second half should be negated"
    for node in case.nodes:
        if not node.inputs:
            continue
        first = case.nodes[node.inputs[0]]
        slices = [part["slice"] for part in _index(first) if "slice" in part]
        if node in TURNS and slices and slices[-1][0] in (None, 0) and slices[-1][1] is not None:
            yield node, "negates the first half of the columns: the second half should be negated"
        if node in CAT and first not in TURNS:
            yield node, f"joins `{first.name}` first: the negated half should come first"


@rule("01_node_creation#four-spellings-of-add")
def input_stays(case: CaseView) -> Found:
    """No node works in place on the input or on a slice of it, which shares its memory."""
    for node in case.nodes:
        if "in place" not in node.notes or node.written is None:
            continue
        written = case.nodes[node.written]
        while written in VIEWS and written.inputs:
            written = case.nodes[written.inputs[0]]
        if written.op == "placeholder":
            yield node, f"works in place: it changes the tensor passed as `{written.name}`"


def _index(node: NodeRecord) -> list[dict[str, JSON]]:
    """The parts of the index in a call to ``[]`` that are recorded as dicts, such as slices."""
    if node.target != "operator.getitem" or len(node.positional) != 2:
        return []
    index = node.positional[1]
    parts = index["tuple"] if isinstance(index, dict) and "tuple" in index else [index]
    return [part for part in parts if isinstance(part, dict)]


CHECK = Check(
    (
        lints,
        placeholders("x"),
        same_result.or_because(
            has_output, brackets_take_two, pieces_in_a_list, in_last_dimension, two_halves, negated_half_first
        ),
        nothing_detached,
        input_stays,
        no_dead_nodes,
    )
)
