"""Answers to 02-clamp-the-output."""

import copy

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

A_LIST = "when_it_breaks/01_node_creation#a-list-assigned-to-nodeargs"
IN_PLACE = "01_node_creation#four-spellings-of-add"
NEEDS_A_USER = "02_insertion_points#a-new-node-needs-a-user"


@right
def writes_two_steps_with_a_proxy(traced):
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        limited = fx.Proxy(output.args[0]).relu()
        limited = limited - torch.nn.functional.relu(limited - 6)
    output.args = (limited.node,)
    traced.recompile()


@right
class AssignsTheGraphOfATransformer:
    def __call__(self, traced):
        class Clamping(fx.Transformer):
            def output(self, target, args, kwargs):
                [result] = args
                return super().output(target, (result.clamp(min=0, max=6),), kwargs)

        traced.graph = Clamping(traced).transform().graph


@right
def copies_all_but_the_output(traced):
    """`graph_copy` returns the value that the copied graph would return."""
    graph = fx.Graph()
    result = graph.graph_copy(traced.graph, {})
    graph.output(graph.call_function(torch.clamp, (result,), {"min": 0.0, "max": 6.0}))
    traced.graph = graph
    return traced


@right
def limits_each_end_separately(traced):
    """Limits the result from below and then from above, each with a method call."""
    graph = traced.graph
    result = graph.output_node().args[0]
    with graph.inserting_after(result):
        above = graph.call_method("clamp_min", (result, 0))
    with graph.inserting_after(above):
        between = graph.call_method("clamp_max", (above, 6))
    graph.output_node().args = fx.node.map_arg(graph.output_node().args, lambda _: between)
    traced.recompile()


def _return_instead(traced, spell):
    """Let the output return the node that `spell` makes from the graph and the output's arguments."""
    graph, output = traced.graph, traced.graph.output_node()
    with graph.inserting_before(output):
        output.args = (spell(graph, *output.args),)
    traced.recompile()


@breaks("you change it by assigning a new tuple.", case="the block of the chapter")
@wrong("no_dead_nodes", node="clamp", says="is dead: no node uses its result", read=NEEDS_A_USER)
def leaves_the_clamp_without_a_user(traced):
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        traced.graph.call_function(torch.clamp, (output.args[0], 0, 6))
    traced.recompile()


@breaks("comes directly before it.", case="the block of the chapter")
@wrong("lints", node="output", says="uses clamp before it is defined")
def makes_the_clamp_without_an_anchor(traced):
    output = traced.graph.output_node()
    output.args = (traced.graph.call_function(torch.clamp, (output.args[0], 0, 6)),)
    traced.recompile()


@breaks("edit it in place.", case="the block of the chapter")
@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    output = traced.graph.output_node()
    with traced.graph.inserting_before(output):
        output.args = (traced.graph.call_function(torch.clamp, (output.args[0], 0, 6)),)


@breaks("`output.args` is a tuple of one element", case="the block of the chapter")
@wrong("args_are_tuples", node="output", says="are a list, where torch.fx keeps a tuple", read=A_LIST)
def assigns_a_list(traced):
    _return_instead(traced, lambda graph, result: graph.call_function(torch.clamp, (result, 0, 6)))
    traced.graph.output_node().args = [*traced.graph.output_node().args]
    traced.recompile()


@breaks("The first argument of `output` is what the model returns:", case="the block of the chapter")
@wrong(
    "result_clamped",
    node="clamp",
    says="clamps the tuple `output.args`, not the node in it",
    read="02_insertion_points#typeerror-node-object-is-not-subscriptable",
)
def clamps_the_tuple(traced):
    _return_instead(traced, lambda graph, *args: graph.call_function(torch.clamp, (args, 0, 6)))


@wrong(
    "writes_stay",
    says="writes in place and is gone, but should have stayed: `step_2.div_(50)`",
    read="03_replacement#what-removing-dead-code-deletes",
)
def removes_dead_code_at_the_end(traced):
    _return_instead(traced, lambda graph, result: graph.call_function(torch.clamp, (result, 0, 6)))
    traced.graph.eliminate_dead_code()
    traced.recompile()


@wrong("output_last", node="clamp", says="is after `output`: it never runs")
def adds_a_step_after_the_output(traced):
    [result] = traced.graph.output_node().args
    traced.graph.call_function(torch.clamp, (result, 0, 6))
    traced.recompile()


@breaks("edit it in place.", case="the block of the chapter")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    _return_instead(traced, lambda graph, result: graph.call_function(torch.clamp, (result, 0, 6)))
    return traced


@breaks("to the range from 0 to 6.", case="the block of the chapter")
@wrong("result_clamped", node="clamp", says="has only the limit 0.0: the range is from 0 to 6")
def sets_only_the_lower_limit(traced):
    _return_instead(traced, lambda graph, result: graph.call_function(torch.clamp, (result, 0)))


@breaks("must not change the tensor that the caller passes.", case="a model that returns its input")
@wrong("callers_input_stays", node="hardtanh", says="works in place: it changes the tensor passed as", read=IN_PLACE)
def clamps_in_place(traced):
    """If the model returns its input, this changes the caller's tensor."""
    _return_instead(
        traced, lambda graph, result: graph.call_function(torch.nn.functional.hardtanh, (result, 0.0, 6.0, True))
    )


@wrong(
    "inserts_at_the_end",
    says="The graph still inserts before `output`: the next new node lands there",
    read="02_insertion_points#an-anchor-holds-as-long-as-its-with",
)
def never_restores_the_anchor(traced):
    """Without `with`, the anchor stays set for the next edit."""
    output = traced.graph.output_node()
    traced.graph.inserting_before(output)
    output.args = (traced.graph.call_function(torch.clamp, (output.args[0], 0, 6)),)
    traced.recompile()


@breaks("its result clamped to the range", case="a model that asserts something about its result")
@wrong("same_result", node="output", says="it has dtype float32, not float64")
def returns_float32(traced):
    _return_instead(traced, lambda graph, result: fx.Proxy(result).clamp(0, 6).float().node)
