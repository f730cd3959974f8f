"""Answers to 08-must-be-alive: which values must be alive while a node computes."""

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

CALLS = ("call_function", "call_method", "call_module")


def told(graph, must, steps=CALLS):
    return {
        step.name: {value.name for value in graph.nodes if must(value, step)}
        for step in graph.nodes
        if step.op in steps
    }


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def asks_each_value_for_its_users(graph):
    return told(graph, lambda value, step: value < step and any(user >= step for user in value.users))


@right
def intersects_above_and_below(graph):
    order = list(graph.nodes)
    found = {}
    for place, step in enumerate(order):
        if step.op in CALLS:
            found[step] = list(set(order[:place]) & {read for later in order[place:] for read in later.all_input_nodes})
    return found


@right
def takes_away_what_an_interpreter_deletes(graph):
    table = fx.Interpreter(nn.Module(), graph=graph).user_to_last_uses
    alive, found = set(), {}
    for node in graph.nodes:
        if node.op in CALLS:
            found[node.name] = {value.name for value in alive}
        alive -= set(table.get(node, ()))
        alive |= {node} if node.users else set()
    return found


@right
def multiplies_two_tables(graph):
    """Row: a node; column: a value. One table has what was made before, one what is used from there on."""
    order = list(graph.nodes)
    reads = torch.tensor([[value in node.all_input_nodes for value in order] for node in order])
    later = reads.flip(0).cumsum(0).flip(0) > 0
    made = torch.ones(len(order), len(order)).tril(-1) > 0
    table = (later & made).tolist()
    return {
        node.name: {value.name for value, needed in zip(order, row, strict=True) if needed}
        for node, row in zip(order, table, strict=True)
        if node.op in CALLS
    }


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("that this node", case="the gated mix")
@wrong("tells_needed", says="While node `sigmoid` computes, `gate` must be alive: the answer lacks it")
def counts_only_what_later_nodes_use(graph):
    return told(graph, lambda value, step: value < step and any(user > step for user in value.users))


@breaks("the earlier values", case="the gated mix")
@wrong("tells_needed", says="Node `gate` is in the answer for `mul`, but it need not be alive")
def counts_everything_made_so_far(graph):
    return told(graph, lambda value, step: value < step)


@breaks("Do not count the node's own result.", case="the gated mix")
@wrong("tells_needed", says="`sigmoid` is in the answer for itself: its own result does not count")
def counts_the_own_result(graph):
    return told(graph, lambda value, step: value <= step and any(user >= step for user in value.users))


@breaks("or a later node uses.", case="a residual, and an input that is returned")
@wrong("tells_needed", says="while node `relu` computes, `kept` must be alive: the answer lacks it")
def forgets_that_output_uses(graph):
    return told(
        graph,
        lambda value, step: value < step and any(user >= step and user.op != "output" for user in value.users),
    )


@breaks("or a later node uses.", case="values without users")
@wrong("tells_needed", says="node `mask` is in the answer for `exp`, but it need not be alive")
def keeps_what_has_no_users(graph):
    return told(
        graph,
        lambda value, step: value < step and (not value.users or any(user >= step for user in value.users)),
    )


@breaks("other nodes may have been moved.", case="a graph whose nodes were moved")
@wrong("tells_needed", says="(a graph whose nodes were moved): while node `mul_1` computes, `third` must be alive")
def takes_the_last_of_users(graph):
    return told(graph, lambda value, step: value < step and bool(value.users) and list(value.users)[-1] >= step)


@breaks("`call_method`", case="the attention of the chapter")
@wrong("tells_needed", says="Node `transpose` computes, but is missing from the answer")
def knows_functions_only(graph):
    return told(
        graph, lambda value, step: value < step and any(user >= step for user in value.users), ["call_function"]
    )


@breaks("`call_module`", case="the attention of the chapter")
@wrong("tells_needed", says="Node `out` computes, but is missing from the answer")
def leaves_out_layers(graph):
    return told(
        graph,
        lambda value, step: value < step and any(user >= step for user in value.users),
        ["call_function", "call_method"],
    )


@breaks("Count a weight that a `get_attr` node fetches like any other value.", case="a graph that fetches a weight")
@wrong("tells_needed", says="(a graph that fetches a weight): while node `mul` computes, `scale` must be alive")
def leaves_out_weights(graph):
    return told(
        graph,
        lambda value, step: value < step and value.op != "get_attr" and any(user >= step for user in value.users),
    )


@breaks("`call_function`", case="the gated mix")
@wrong("tells_needed", says="`gate` is in the answer, but computes nothing")
def answers_for_every_node(graph):
    return told(
        graph,
        lambda value, step: value < step and any(user >= step for user in value.users),
        (*CALLS, "placeholder", "output"),
    )


@wrong("graph_left_alone", says="has been changed: node `square` is not as it was")
def removes_what_has_no_users(graph):
    found = asks_each_value_for_its_users(graph)
    graph.eliminate_dead_code()
    return found


LATE = "(a slice up to a value, and a weight that is fetched late)"


@breaks("names of the values", case="a slice up to a value, and a weight that is fetched late")
@wrong("tells_needed", says=f"{LATE}: node `input` is in the answer for `relu`, but it is not a node of the graph")
def names_inputs_by_their_parameters(graph):
    called = {node.name: node.target for node in graph.nodes if node.op == "placeholder"}
    found = asks_each_value_for_its_users(graph)
    return {step: {called.get(name, name) for name in names} for step, names in found.items()}
