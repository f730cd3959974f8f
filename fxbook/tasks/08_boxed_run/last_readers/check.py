"""Find the last user of each node."""

from __future__ import annotations

from fxbook.cases import Check
from fxbook.rules.explained import graph_left_alone
from fxbook.rules.returned import entry, instead_of, name_of, table_of
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..check import last_user


@rule
def ends_at_last_user(case: CaseView) -> Found:
    """The answer maps the name of each node but ``output`` to the name of its last user."""
    table, graph = table_of(entry(case.value, "returned")), case.before
    if table is None:
        yield None, instead_of("a dict with node names as keys", entry(case.value, "returned"))
        return
    for node in graph:
        if node.op == "output":
            continue
        if node.name not in table:
            yield node, "is not a key of the answer"
            return
        answer = name_of(table[node.name])
        if answer == last_user(graph, node).name:
            continue
        if answer is None:
            yield None, instead_of(f"a name for `{node.name}`", table[node.name])
        if not node.users:
            yield None, f"No node uses `{node.name}`: its answer should be `{node.name}` itself, not `{answer}`."
        if answer == node.name:
            user = last_user(graph, node).name
            yield None, f"The answer for `{answer}` is `{answer}` itself, as if nothing used it, but `{user}` does."
        if answer in [graph.nodes[user].name for user in node.users]:
            yield (None, f"The answer for `{node.name}` is `{answer}`, but another user of it comes later in the list.")
        yield None, f"The answer for `{node.name}` is `{answer}`, which does not use `{node.name}`."
    for name in table:
        if name == "output":
            yield None, "`output` is a key of the answer, but should not be."
        if graph.named(name) is None:
            yield None, f"`{name}` is a key of the answer, but is not a node of the graph."


CHECK = Check((ends_at_last_user, graph_left_alone))
