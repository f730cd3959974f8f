"""Answers to 08-must-be-alive: which values must be alive while a node computes."""

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

CALLS = ("call_function", "call_method", "call_module")


def by_step(graph, must, steps=CALLS):
    return {
        step.name: {value.name for value in graph.nodes if must(value, step)}
        for step in graph.nodes
        if step.op in steps
    }


@right
def looks_at_the_users_of_each_value(graph):
    return by_step(graph, lambda value, step: value < step and any(user >= step for user in value.users))


@right
def intersects_earlier_values_with_later_inputs(graph):
    order = list(graph.nodes)
    found = {}
    for place, step in enumerate(order):
        if step.op in CALLS:
            later = {read for other in order[place:] for read in other.all_input_nodes}
            found[step.name] = [value.name for value in set(order[:place]) & later]
    return found


@right
def follows_what_an_interpreter_deletes(graph):
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
    """Each table has a row per node and a column per value; one marks earlier values, the other values used later."""
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


@breaks("that this node", case="the gated mix")
@wrong("needed_values", says="While node `sigmoid` computes, `gate` must be alive, but is not in the answer")
def counts_only_what_later_nodes_use(graph):
    return by_step(graph, lambda value, step: value < step and any(user > step for user in value.users))


@breaks("the earlier values", case="the gated mix")
@wrong("needed_values", says="The answer for node `mul` contains `gate`, but `gate` need not be alive")
def counts_everything_made_so_far(graph):
    return by_step(graph, lambda value, step: value < step)


@breaks("Do not count the node's own result.", case="the gated mix")
@wrong("needed_values", says="The answer for node `sigmoid` contains `sigmoid` itself: a node's own result does not")
def counts_the_nodes_own_result(graph):
    return by_step(graph, lambda value, step: value <= step and any(user >= step for user in value.users))


@breaks("or a later node uses.", case="a residual, and an input that is returned")
@wrong("needed_values", says="while node `relu` computes, `kept` must be alive, but is not in the answer")
def forgets_that_output_uses(graph):
    return by_step(
        graph, lambda value, step: value < step and any(user >= step and user.op != "output" for user in value.users)
    )


@breaks("or a later node uses.", case="values without users")
@wrong("needed_values", says="the answer for node `exp` contains `mask`, but `mask` need not be alive")
def keeps_values_without_users(graph):
    return by_step(
        graph, lambda value, step: value < step and (not value.users or any(user >= step for user in value.users))
    )


@breaks("other nodes may have been moved.", case="a graph whose nodes were moved")
@wrong("needed_values", says="(a graph whose nodes were moved): while node `mul_1` computes, `third` must be alive")
def takes_the_last_entry_of_users(graph):
    return by_step(graph, lambda value, step: value < step and bool(value.users) and list(value.users)[-1] >= step)


@breaks("`call_method`", case="the attention of the chapter")
@wrong("needed_values", says="Node `transpose` computes, but is not a key of the answer")
def knows_functions_only(graph):
    return by_step(
        graph, lambda value, step: value < step and any(user >= step for user in value.users), ["call_function"]
    )


@breaks("`call_module`", case="the attention of the chapter")
@wrong("needed_values", says="Node `out` computes, but is not a key of the answer")
def leaves_out_layers(graph):
    return by_step(
        graph,
        lambda value, step: value < step and any(user >= step for user in value.users),
        ["call_function", "call_method"],
    )


@breaks("A weight that a `get_attr` node fetches counts like any other value.", case="a graph that fetches a weight")
@wrong("needed_values", says="(a graph that fetches a weight): while node `mul` computes, `scale` must be alive")
def leaves_out_weights(graph):
    return by_step(
        graph, lambda value, step: value < step and value.op != "get_attr" and any(user >= step for user in value.users)
    )


@breaks("`call_function`", case="the gated mix")
@wrong("needed_values", says="`gate` is a key of the answer, but is not a node that computes")
def answers_for_every_node(graph):
    return by_step(
        graph,
        lambda value, step: value < step and any(user >= step for user in value.users),
        (*CALLS, "placeholder", "output"),
    )


@wrong("graph_left_alone", says="has changed the graph that it was given: node `square`")
def removes_nodes_without_users(graph):
    found = looks_at_the_users_of_each_value(graph)
    graph.eliminate_dead_code()
    return found


@breaks("names of the values", case="a slice up to a value, and a weight fetched late")
@wrong("needed_values", says="the answer for node `relu` contains `input`, but `input` is not a node of the graph")
def names_inputs_by_their_parameters(graph):
    called = {node.name: node.target for node in graph.nodes if node.op == "placeholder"}
    found = looks_at_the_users_of_each_value(graph)
    return {step: {called.get(name, name) for name in names} for step, names in found.items()}
