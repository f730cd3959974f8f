"""Find the number that each RMSNorm in a graph adds."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.graph.record import NodeRecord
from fxbook.rules.returned import number_of, numbers_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import graph_left_alone, returned


def sums(case: CaseView) -> list[tuple[NodeRecord, float, bool]]:
    """Each input of an `rsqrt` that reads a number, with that number, and whether the node is the `add` of a norm.

    The models list the numbers of their norms in order, and no step before a norm has the number of that norm.
    """
    left, found = list(case.model.epsilons), []
    for node in case.before:
        if not any(case.before.nodes[user].target.endswith("rsqrt") for user in node.users):
            continue
        numbers = [number for item in node.positional if (number := number_of(item)) is not None]
        if numbers:
            is_norm = left[:1] == numbers[-1:]
            found.append((node, numbers[-1], is_norm))
            left = left[1:] if is_norm else left
    return found


def where_they_part(case: CaseView, numbers: list[float]) -> tuple[NodeRecord | None, str]:
    """The first wrong number in an answer, with the node that it comes from or should come from."""
    asked = [(node, number) for node, number, is_norm in sums(case) if is_norm]
    for place, number in enumerate(numbers):
        if place < len(asked) and number == asked[place][1]:
            continue
        for node, other, is_norm in sums(case):
            if not is_norm and number == other:
                return node, f"number {place + 1} is {number:g}, from `{node.name}`, which is in no RMSNorm"
        if place < len(asked):
            return asked[place][0], f"number {place + 1} is not the number that `{asked[place][0].name}` adds"
        return None, f"number {place + 1} is one too many"
    missing = asked[len(numbers)][0]
    return missing, f"number {len(numbers) + 1}, which `{missing.name}` adds, is missing"


@rule("12_patterns#a-parameter-takes-a-node-or-a-number")
def every_eps_in_order(case: CaseView) -> Found:
    """The answer is the list of the numbers, one for each norm, in order."""
    numbers, asked = numbers_of(returned(case)), case.model.epsilons
    if numbers is None:
        yield None, "The answer is not a list of numbers."
        return
    if len(numbers) != len(asked):
        found = "1 number" if len(numbers) == 1 else f"{len(numbers)} numbers"
        norms = "1 RMSNorm" if len(asked) == 1 else f"{len(asked)} RMSNorms"
        node, why = where_they_part(case, numbers)
        yield node, f"The answer has {found}, but the graph has {norms}: {why}."
    elif numbers != asked:
        node, why = where_they_part(case, numbers)
        yield node, f"The answer has as many numbers as the graph has RMSNorms, but {why}."


CHECK = Check((every_eps_in_order, graph_left_alone))
