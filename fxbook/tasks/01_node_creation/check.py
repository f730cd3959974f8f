"""What exercises of chapter 01 demand alike of nodes made by hand."""

from __future__ import annotations

from fxbook.asking.rule import Found, rule
from fxbook.asking.view import CaseView


@rule
def no_module_called(case: CaseView) -> Found:
    """No node calls a module."""
    for node in case.nodes:
        if node.op == "call_module":
            yield node, f"calls the module `{node.target}`"
