"""Answers to 12-every-eps: the number that each RMSNorm adds."""

import copy
import operator

import torch
from torch import fx
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.fx.subgraph_rewriter import replace_pattern_with_filters

from fxbook.tasks.answering import breaks, right, wrong


def rms_norm(x, weight, eps, dtype):
    wide = x.to(torch.float32)
    variance = wide.pow(2).mean(-1, keepdim=True)
    normed = wide * torch.rsqrt(variance + eps)
    return weight * normed.to(dtype)


def pattern():
    return fx.symbolic_trace(rms_norm).graph


def is_norm(rsqrt):
    """Whether a reciprocal root belongs to a norm, judging by its inputs."""
    total = rsqrt.args[0]
    mean = total.args[0]
    if total.target is not operator.add or mean.target != "mean" or mean.args[1:] != (-1,):
        return False
    power = mean.args[0]
    if power.target != "pow" or power.args[1] != 2 or power.args[0].args[1:] != (torch.float32,):
        return False
    casts = [user for product in rsqrt.users for user in product.users if user.target == "to"]
    return any(last.target is operator.mul and last.args[1] is cast for cast in casts for last in cast.users)


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def looks_the_name_up(graph):
    matches = SubgraphMatcher(pattern()).match(graph)
    return tuple(value for match in matches for key, value in match.nodes_map.items() if key.name == "eps")


@right
def replaces_in_a_copy(graph):
    draft = fx.GraphModule(graph.owning_module, copy.deepcopy(graph))
    matches = fx.replace_pattern(draft, rms_norm, lambda x, weight, eps, dtype: x)
    return [{key.name: value for key, value in match.nodes_map.items()}["eps"] for match in matches]


@right
def asks_a_filter_and_replaces_nothing(graph):
    found = []

    def note(match, original, pattern_graph):
        found.append(match.placeholder_nodes[2])
        return False

    replace_pattern_with_filters(graph.owning_module, rms_norm, rms_norm, [note])
    return found


@right
def goes_up_from_the_root(graph):
    """Without a matcher: the numbers are read from the additions."""
    roots = graph.find_nodes(op="call_function", target=torch.rsqrt)
    return [root.args[0].args[1] for root in roots if is_norm(root)]


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("with the `eps` of every RMSNorm in the graph", case="two norms from Llama")
@wrong("every_eps_in_order", says="answer has 0 numbers, but the graph has 2 RMSNorms")
def writes_one_number_into_the_pattern(graph):
    def with_number(x, weight, dtype):
        return rms_norm(x, weight, 1e-6, dtype)

    return [1e-6 for match in SubgraphMatcher(fx.symbolic_trace(with_number).graph).match(graph)]


@breaks("An RMSNorm is written as in `rms_norm`", case="norms beside steps that resemble part of a norm")
@wrong("every_eps_in_order", says="12 numbers, but the graph has 5 RMSNorms: number 1 is 0.25, from `add`")
def takes_every_reciprocal_root(graph):
    return [root.args[0].args[1] for root in graph.find_nodes(op="call_function", target=torch.rsqrt)]


@breaks("is written as in `rms_norm`", case="no norm at all")
@wrong("every_eps_in_order", says="answer has 1 number, but the graph has 0 RMSNorms")
def asks_for_a_square_alone(graph):
    roots = graph.find_nodes(op="call_function", target=torch.rsqrt)
    return [root.args[0].args[1] for root in roots if is_norm(root) or root.args[0].args[0].target == "pow"]


@breaks("Return a list", case="two norms from Llama")
@wrong("every_eps_in_order", says="answer is not a list of numbers")
def returns_a_dict(graph):
    return {
        match.returning_nodes[0].name: match.placeholder_nodes[2] for match in SubgraphMatcher(pattern()).match(graph)
    }


@breaks("Leave the graph unchanged.", case="two norms from Llama")
@wrong(
    "graph_left_alone",
    says="The graph that was passed has been changed",
    read="12_patterns#a-backend-sees-the-whole-model",
)
def replaces_in_the_graph_itself(graph):
    matches = fx.replace_pattern(graph.owning_module, rms_norm, lambda x, weight, eps, dtype: weight * x * eps)
    return [{key.name: value for key, value in match.nodes_map.items()}["eps"] for match in matches]


def matches_of(function):
    return lambda graph: SubgraphMatcher(fx.symbolic_trace(function).graph).match(graph)


@breaks("with any dtype in its second `.to`.", case="norms with another dtype beside look-alikes")
@wrong("every_eps_in_order", says="(norms with another dtype beside look-alikes): the answer has 0 numbers")
def knows_two_dtypes(graph):
    def in_float32(x, weight, eps):
        return rms_norm(x, weight, eps, torch.float32)

    def of_its_input(x, weight, eps):
        return rms_norm(x, weight, eps, x.dtype)

    found = [*matches_of(in_float32)(graph), *matches_of(of_its_input)(graph)]
    return [match.placeholder_nodes[2] for match in sorted(found, key=lambda match: match.returning_nodes[0])]
