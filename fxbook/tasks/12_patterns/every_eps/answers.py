"""Answers to 12-every-eps: the numbers that the RMSNorms in a graph add."""

import copy
import operator

import torch
from torch import fx
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.fx.subgraph_rewriter import replace_pattern_with_filters

from fxbook.tasks.answering import breaks, right, wrong

WHOLE = "12_patterns#a-backend-sees-the-whole-model"


def rms_norm(x, weight, eps, dtype):
    wide = x.to(torch.float32)
    variance = wide.pow(2).mean(-1, keepdim=True)
    normed = wide * torch.rsqrt(variance + eps)
    return weight * normed.to(dtype)


def pattern():
    return fx.symbolic_trace(rms_norm).graph


def is_norm(rsqrt, same_input=True):
    """Whether an ``rsqrt`` belongs to an RMSNorm, judging by its inputs and users."""
    total = rsqrt.args[0]
    mean = total.args[0]
    if total.target is not operator.add or mean.target != "mean" or mean.args[1:] != (-1,):
        return False
    power = mean.args[0]
    if power.target != "pow" or power.args[1] != 2 or power.args[0].args[1:] != (torch.float32,):
        return False
    if mean.kwargs != {"keepdim": True}:
        return False
    products = [user for user in rsqrt.users if user.target is operator.mul and user.args[1] is rsqrt]
    products = [user for user in products if user.args[0] is power.args[0] or not same_input]
    casts = [user for product in products for user in product.users if user.target == "to"]
    return any(last.target is operator.mul and last.args[1] is cast for cast in casts for last in cast.users)


@right
def looks_up_the_name(graph):
    matches = SubgraphMatcher(pattern()).match(graph)
    return tuple(value for match in matches for key, value in match.nodes_map.items() if key.name == "eps")


@right
def replaces_in_a_copy(graph):
    draft = fx.GraphModule(graph.owning_module, copy.deepcopy(graph))
    matches = fx.replace_pattern(draft, rms_norm, lambda x, weight, eps, dtype: x)
    return [{key.name: value for key, value in match.nodes_map.items()}["eps"] for match in matches]


@right
def collects_in_a_filter(graph):
    found = []

    def note(match, original, pattern_graph):
        found.append(match.placeholder_nodes[2])
        return False

    replace_pattern_with_filters(graph.owning_module, rms_norm, rms_norm, [note])
    return found


@right
def begins_with_each_rsqrt(graph):
    """Uses no matcher."""
    roots = graph.find_nodes(op="call_function", target=torch.rsqrt)
    return [root.args[0].args[1] for root in roots if is_norm(root)]


@breaks("with the `eps` of every RMSNorm in the graph", case="two norms from Llama")
@wrong("every_eps_in_order", says="The list has length 0, and the number of RMSNorms in the graph is 2: item 0 is")
def has_a_number_in_the_pattern(graph):
    def with_number(x, weight, dtype):
        return rms_norm(x, weight, 1e-6, dtype)

    return [1e-6 for match in SubgraphMatcher(fx.symbolic_trace(with_number).graph).match(graph)]


@breaks("An RMSNorm is written as in `rms_norm`", case="norms and formulas that resemble one")
@wrong("every_eps_in_order", says="and the number of RMSNorms in the graph is 5: item 0 is 0.25, from node `add`")
def takes_every_rsqrt(graph):
    return [root.args[0].args[1] for root in graph.find_nodes(op="call_function", target=torch.rsqrt)]


@breaks("is written as in `rms_norm`", case="no norm at all")
@wrong("every_eps_in_order", says="the list has length 1, and the number of RMSNorms in the graph is 0")
def looks_for_a_power_alone(graph):
    roots = graph.find_nodes(op="call_function", target=torch.rsqrt)
    return [root.args[0].args[1] for root in roots if is_norm(root) or root.args[0].args[0].target == "pow"]


@breaks("An RMSNorm is written as in `rms_norm`", case="norms with another dtype, and similar formulas")
@wrong("every_eps_in_order", says="is 2.25, from node `add_2`, which does not belong to an RMSNorm")
def does_not_ask_which_value_is_squared(graph):
    roots = graph.find_nodes(op="call_function", target=torch.rsqrt)
    return [root.args[0].args[1] for root in roots if is_norm(root, same_input=False)]


@breaks("Return a list", case="two norms from Llama")
@wrong("every_eps_in_order", says="answer is not a list of numbers")
def returns_a_dict(graph):
    return {
        match.returning_nodes[0].name: match.placeholder_nodes[2] for match in SubgraphMatcher(pattern()).match(graph)
    }


@breaks("Leave the graph unchanged.", case="two norms from Llama")
@wrong("graph_left_alone", says="Your code has changed the graph that it was given", read=WHOLE)
def replaces_in_the_graph_itself(graph):
    matches = fx.replace_pattern(graph.owning_module, rms_norm, lambda x, weight, eps, dtype: weight * x * eps)
    return [{key.name: value for key, value in match.nodes_map.items()}["eps"] for match in matches]


def matches_of(function):
    return lambda graph: SubgraphMatcher(fx.symbolic_trace(function).graph).match(graph)


@breaks("in the order of the nodes.", case="norms and formulas that resemble one")
@wrong("every_eps_in_order", says="the numbers are right, but their order is not: item")
def sorts_the_numbers(graph):
    return sorted(looks_up_the_name(graph))


@breaks("with any dtype in its second `.to`.", case="norms with another dtype, and similar formulas")
@wrong("every_eps_in_order", says="(norms with another dtype, and similar formulas): the list has length 0")
def knows_two_dtypes(graph):
    def in_float32(x, weight, eps):
        return rms_norm(x, weight, eps, torch.float32)

    def of_its_input(x, weight, eps):
        return rms_norm(x, weight, eps, x.dtype)

    found = [*matches_of(in_float32)(graph), *matches_of(of_its_input)(graph)]
    return [match.placeholder_nodes[2] for match in sorted(found, key=lambda match: match.returning_nodes[0])]
