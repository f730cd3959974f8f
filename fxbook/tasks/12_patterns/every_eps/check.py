"""Check the list of the numbers that the RMSNorms in a graph add."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.explained import graph_left_alone
from fxbook.rules.returned import entry, number_of, numbers_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def sums(case: CaseView) -> list[tuple[NodeRecord, float, bool]]:
    """Each node that a root uses and that has a number as an argument, the number, and whether the node is in a norm.

    The models list their norms' numbers in order, and no node before a norm has that norm's number.
    """
    remaining, found = list(case.model.epsilons), []
    for node in case.before:
        if not any(case.before.nodes[user].target.endswith("sqrt") for user in node.users):
            continue
        numbers = [number for item in node.positional if (number := number_of(item)) is not None]
        if numbers:
            is_norm = remaining[:1] == numbers[-1:]
            found.append((node, numbers[-1], is_norm))
            remaining = remaining[1:] if is_norm else remaining
    return found


def first_wrong(case: CaseView, numbers: list[float]) -> tuple[NodeRecord | None, str]:
    """What is wrong with the first wrong number in an answer, and the node that has this number or should have it."""
    expected = [(node, number) for node, number, is_norm in sums(case) if is_norm]
    for place, number in enumerate(numbers):
        if place < len(expected) and number == expected[place][1]:
            continue
        for node, other, is_norm in sums(case):
            if not is_norm and number == other:
                return node, f"item {place} is {number:g}, from node `{node.name}`, which does not belong to an RMSNorm"
        if place < len(expected):
            return expected[place][0], f"item {place} is not the number that node `{expected[place][0].name}` adds"
        return None, f"item {place} is one too many"
    missing = expected[len(numbers)][0]
    return missing, f"item {len(numbers)} is missing, the number that node `{missing.name}` adds"


@rule("12_patterns#a-parameter-takes-a-node-or-a-number")
def every_eps_in_order(case: CaseView) -> Found:
    """The answer is the list of the numbers that the norms add, in order."""
    numbers, expected = numbers_of(entry(case.value, "returned")), case.model.epsilons
    if numbers is None:
        yield None, "The answer is not a list of numbers."
        return
    if numbers != expected:
        node, why = first_wrong(case, numbers)
        found = f"The list has length {len(numbers)}, and the number of RMSNorms in the graph is {len(expected)}"
        if sorted(numbers) == sorted(expected):
            found = "The numbers are right, but their order is not"
        yield node, f"{found}: {why}."


CHECK = Check((every_eps_in_order, graph_left_alone.at("12_patterns#a-backend-sees-the-whole-model")))
