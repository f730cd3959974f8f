"""What the exercises of chapter 13 ask of answers that are dicts."""

from __future__ import annotations

from fxbook.cases.values import Value
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView


def returned(case: CaseView) -> Value:
    """What an answer returned, also where ``call`` tells what it changed."""
    match case.value:
        case {"dict": [["returned", value], ["changed", _]]}:
            return value
    return case.value


@rule
def keys_are_names(case: CaseView) -> Found:
    """The keys of the dict are names, and not the nodes that have them."""
    match returned(case):
        case {"dict": list(pairs)}:
            for key, _ in pairs:
                if isinstance(key, dict) and "node" in key:
                    yield (
                        None,
                        f"A key of the answer is an object, the node `{key['node']}`: a name was asked, as text.",
                    )
