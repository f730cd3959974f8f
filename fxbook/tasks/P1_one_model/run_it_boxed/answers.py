"""Answers to P1-run-it-boxed: a run that frees every value as early as it can."""

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

BOX = "08_boxed_run#a-box-that-is-emptied"
GRADIENTS = "09_profiling#who-asks-for-gradients"
LEFT = "08_boxed_run#what-stays-after-the-run"
NONEXISTENT = (
    "08_boxed_run#runtimeerror-node-mix-referenced-nonexistent-value-query-run-graphlint-to-diagnose-such-issues"
)
kept = []


def inputs_from(traced, args_list):
    """Empty the list, and return the inputs that are used."""
    inputs = zip(traced.graph.find_nodes(op="placeholder"), args_list, strict=True)
    env = {node: value for node, value in inputs if node.users}
    args_list.clear()
    return env


def without_unused(traced, args_list):
    for place, node in enumerate(traced.graph.find_nodes(op="placeholder")):
        if not node.users:
            args_list[place] = None


@right
def boxes_what_is_used(traced, args_list):
    without_unused(traced, args_list)
    with torch.no_grad():
        return fx.Interpreter(traced).boxed_run(args_list)


@right
@torch.inference_mode()
def loops_over_the_nodes(traced, args_list):
    runner = fx.Interpreter(traced)
    last = {used: node for node in traced.graph.nodes for used in node.all_input_nodes}
    for node in traced.graph.find_nodes(op="placeholder"):
        if node in last:
            runner.env[node] = args_list.pop(0)
        else:
            args_list.pop(0)
    for node in traced.graph.nodes:
        if node.op == "output":
            return fx.node.map_arg(node.args[0], runner.env.__getitem__)
        if node.op != "placeholder":
            runner.env[node] = runner.run_node(node)
            for used in node.all_input_nodes:
                if last[used] is node:
                    del runner.env[used]
    return None


@right
def passes_an_initial_env(traced, args_list):
    unused = dict.fromkeys(traced.graph.find_nodes(op="placeholder"))
    with torch.no_grad():
        return fx.Interpreter(traced).run(initial_env=unused | inputs_from(traced, args_list))


@right
def counts_the_users_left(traced, args_list):
    runner = fx.Interpreter(traced)
    env = runner.env = inputs_from(traced, args_list)
    left = {node: set(node.users) for node in traced.graph.nodes}
    with torch.no_grad():
        for node in traced.graph.nodes:
            if node.op == "placeholder":
                continue
            env[node] = runner.run_node(node)
            for read in node.all_input_nodes:
                left[read].discard(node)
                if not left[read]:
                    env.pop(read, None)
    return env.pop(node)


@breaks("without gradients.", case="the network of the project")
@wrong("without_gradients", says="ran with gradients on", read=GRADIENTS)
def boxes_with_gradients(traced, args_list):
    without_unused(traced, args_list)
    return fx.Interpreter(traced).boxed_run(args_list)


@breaks("Keep no byte alive longer than needed.", case="the network of the project")
@wrong("no_more_than_needed", says="bytes are alive")
def calls_and_clears(traced, args_list):
    with torch.no_grad():
        result = traced(*args_list)
    args_list.clear()
    return result


@breaks("An input that no node uses is freed before the first node computes.", case="unused inputs")
@wrong("no_more_than_needed", says="Your answer works for the model you know, but not ")
def leaves_unused_inputs(traced, args_list):
    with torch.no_grad():
        return fx.Interpreter(traced).boxed_run(args_list)


@breaks(
    "While a node computes, only the values that this node or a later one uses are alive.",
    case="the network of the project",
)
@wrong("no_more_than_needed", says="are still needed: `images` is alive, although")
def keeps_every_value(traced, args_list):
    without_unused(traced, args_list)
    with torch.no_grad():
        return fx.Interpreter(traced, garbage_collect_values=False).boxed_run(args_list)


@wrong("ends well", says="referenced nonexistent value", read=NONEXISTENT)
@torch.no_grad()
def trusts_the_order_of_users(traced, args_list):
    runner = fx.Interpreter(traced)
    runner.env = inputs_from(traced, args_list)
    for node in traced.graph.nodes:
        if node.op != "placeholder":
            runner.env[node] = runner.run_node(node)
            for read in node.all_input_nodes:
                if [*read.users][-1] is node:
                    del runner.env[read]
    return runner.env[node]


@breaks("Afterwards the list is empty.", case="the network of the project")
@wrong("list_is_emptied", says="The list still holds 3 items", read=BOX)
def empties_a_copy(traced, args_list):
    own = list(args_list)
    without_unused(traced, own)
    with torch.no_grad():
        return fx.Interpreter(traced).boxed_run(own)


@breaks("Once the caller drops the result, no tensor from the run is still alive.", case="the network of the project")
@wrong("nothing_held", says="bytes are alive: something still holds them", read=LEFT)
def keeps_the_result(traced, args_list):
    kept.append(boxes_what_is_used(traced, args_list))
    return kept[-1]


@breaks("Run a network on a list of inputs and return its result.", case="the network of the project")
@wrong("result_is_right", says="The result is not that of the network: it is None")
def returns_nothing(traced, args_list):
    boxes_what_is_used(traced, args_list)


@breaks("Every node runs once,", case="the network of the project")
@wrong("result_is_right", says="each node must run once")
def runs_twice(traced, args_list):
    with torch.no_grad():
        traced(*args_list)
    return boxes_what_is_used(traced, args_list)


@breaks("in order,", case="an input that is used last, views")
@wrong("result_is_right", says="each node must run once, in order")
def computes_values_on_demand(traced, args_list):
    runner = fx.Interpreter(traced)
    runner.env = inputs_from(traced, args_list)
    left = {node: len(node.users) for node in traced.graph.nodes}

    def compute(node):
        for read in node.all_input_nodes:
            if read not in runner.env:
                runner.env[read] = compute(read)
        value = runner.run_node(node)
        for read in node.all_input_nodes:
            left[read] -= 1
            if not left[read]:
                del runner.env[read]
        return value

    [output] = traced.graph.find_nodes(op="output")
    with torch.no_grad():
        return compute(output)


@breaks("Leave `traced` unchanged.", case="unused inputs")
@wrong("input_unchanged", says="the model that was given has been changed: its graph was edited, at node")
def erases_the_unused_inputs(traced, args_list):
    inputs = traced.graph.find_nodes(op="placeholder")
    args_list[:] = [value for node, value in zip(inputs, args_list, strict=True) if node.users]
    for node in inputs:
        if not node.users:
            traced.graph.erase_node(node)
    with torch.no_grad():
        return fx.Interpreter(traced).boxed_run(args_list)


@breaks("This also holds for inputs.", case="the network of the project")
@wrong("no_more_than_needed", says="bytes are alive")
def keeps_the_inputs_to_the_end(traced, args_list):
    inputs = list(args_list)
    without_unused(traced, args_list)
    with torch.no_grad():
        result = fx.Interpreter(traced).boxed_run(args_list)
    inputs.clear()
    return result
