"""Tell the number that each RMSNorm of a graph adds."""

from __future__ import annotations

from fxbook.asking import Check
from fxbook.asking.returned import numbers_of
from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView

from ..check import graph_left_alone, returned


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
        yield None, f"The answer has {found}, and the graph has {norms}."
        return
    for place, (number, right) in enumerate(zip(numbers, asked, strict=True), 1):
        if number != right:
            yield None, f"Number {place} of the answer is not the `eps` of norm {place}: {number} instead of {right}."


CHECK = Check((every_eps_in_order, graph_left_alone))
