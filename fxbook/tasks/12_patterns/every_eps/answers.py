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
    """Whether a reciprocal root is that of a norm, by its inputs."""
    total = rsqrt.args[0]
    mean = total.args[0]
    if total.target is not operator.add or mean.target != "mean" or mean.args[1:] != (-1,):
        return False
    power = mean.args[0]
    if power.target != "pow" or power.args[1] != 2 or power.args[0].args[1:] != (torch.float32,):
        return False
    return any(user.target == "to" for product in rsqrt.users for user in product.users)


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def reads_what_the_parameters_bind(graph):
    return [match.placeholder_nodes[2] for match in SubgraphMatcher(pattern()).match(graph)]


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
    """By hand: the numbers are as they stand in the additions."""
    roots = graph.find_nodes(op="call_function", target=torch.rsqrt)
    return [root.args[0].args[1] for root in roots if is_norm(root)]


@right
def goes_down_from_the_square(graph):
    found = []
    for power in graph.find_nodes(op="call_method", target="pow"):
        if power.args[1] != 2:
            continue
        for mean in power.users:
            if mean.target == "mean" and mean.args[1] == -1:
                found += [root.args[0].args[1] for total in mean.users for root in total.users if is_norm(root)]
    return found


@right
def returns_a_tensor(graph):
    found = [match.placeholder_nodes[2] for match in SubgraphMatcher(pattern()).match(graph)]
    return torch.tensor(found, dtype=torch.float64)


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("with the `eps` of every RMSNorm in the graph", case="two norms of Llama")
@wrong("every_eps_in_order", says="answer has 0 numbers, and the graph has 2 RMSNorms")
def writes_one_number_into_the_pattern(graph):
    def with_number(x, weight, dtype):
        return rms_norm(x, weight, 1e-6, dtype)

    return [1e-6 for match in SubgraphMatcher(fx.symbolic_trace(with_number).graph).match(graph)]


@breaks("with any dtype in its second `.to`.", case="two norms of Llama")
@wrong("every_eps_in_order", says="answer has 0 numbers, and the graph has 2 RMSNorms")
def writes_the_dtype_into_the_pattern(graph):
    def with_dtype(x, weight, eps):
        return rms_norm(x, weight, eps, torch.float32)

    return [match.placeholder_nodes[2] for match in SubgraphMatcher(fx.symbolic_trace(with_dtype).graph).match(graph)]


@breaks("An RMSNorm is written as in `rms_norm`", case="norms beside steps that share parts with one")
@wrong("every_eps_in_order", says="11 numbers, and the graph has 4 RMSNorms: number 1 is 0.25, that of `add`")
def takes_every_reciprocal_root(graph):
    return [root.args[0].args[1] for root in graph.find_nodes(op="call_function", target=torch.rsqrt)]


@breaks("is written as in `rms_norm`", case="no norm at all")
@wrong("every_eps_in_order", says="answer has 1 number, and the graph has 0 RMSNorms")
def asks_for_a_square_alone(graph):
    roots = graph.find_nodes(op="call_function", target=torch.rsqrt)
    return [root.args[0].args[1] for root in roots if is_norm(root) or root.args[0].args[0].target == "pow"]


@breaks("is written as in `rms_norm`", case="norms beside steps that share parts with one")
@wrong("every_eps_in_order", says="answer has 5 numbers, and the graph has 4 RMSNorms")
def takes_a_sum_for_a_mean(graph):
    roots = graph.find_nodes(op="call_function", target=torch.rsqrt)
    norms = []
    for total in (root.args[0] for root in roots):
        mean = total.args[0]
        if total.target is operator.add and mean.args[1:] == (-1,):
            norms += [total] if mean.args[0].target == "pow" and mean.args[0].args[1] == 2 else []
    return [total.args[1] for total in norms]


@breaks("of every RMSNorm in the graph", case="norms beside steps that share parts with one")
@wrong("every_eps_in_order", says="and the graph has 4 RMSNorms")
def names_each_number_once(graph):
    return list(dict.fromkeys(reads_what_the_parameters_bind(graph)))


@wrong("every_eps_in_order", says="and number 1 is not the one that `add` adds")
def sorts_the_numbers_downwards(graph):
    return sorted(reads_what_the_parameters_bind(graph), reverse=True)


@wrong("every_eps_in_order", says="answer is not a list of numbers")
def returns_the_matches(graph):
    return [str(match) for match in SubgraphMatcher(pattern()).match(graph)]


@breaks("Return a list", case="two norms of Llama")
@wrong("every_eps_in_order", says="answer is not a list of numbers")
def returns_a_dict(graph):
    return {
        match.returning_nodes[0].name: match.placeholder_nodes[2] for match in SubgraphMatcher(pattern()).match(graph)
    }


@breaks("Leave the graph as it is.", case="two norms of Llama")
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


@breaks("is written as in `rms_norm`", case="norms of another dtype beside what resembles one")
@wrong("every_eps_in_order", says="(norms of another dtype beside what resembles one): the answer has 3 numbers")
def takes_any_first_dtype(graph):
    def general(x, weight, eps, dtype, first):
        wide = x.to(first)
        return weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).to(dtype)

    return [match.placeholder_nodes[2] for match in matches_of(general)(graph)]


@breaks("is written as in `rms_norm`", case="norms of another dtype beside what resembles one")
@wrong("every_eps_in_order", says="(norms of another dtype beside what resembles one): the answer has 3 numbers")
def takes_any_dimension(graph):
    def general(x, weight, eps, dtype, dim):
        wide = x.to(torch.float32)
        return weight * (wide * torch.rsqrt(wide.pow(2).mean(dim, keepdim=True) + eps)).to(dtype)

    return [match.placeholder_nodes[2] for match in matches_of(general)(graph)]


@breaks("is written as in `rms_norm`", case="norms of another dtype beside what resembles one")
@wrong("every_eps_in_order", says="(norms of another dtype beside what resembles one): the answer has 3 numbers")
def takes_any_exponent(graph):
    def general(x, weight, eps, dtype, power):
        wide = x.to(torch.float32)
        return weight * (wide * torch.rsqrt(wide.pow(power).mean(-1, keepdim=True) + eps)).to(dtype)

    return [match.placeholder_nodes[2] for match in matches_of(general)(graph)]


@breaks("is written as in `rms_norm`", case="norms of another dtype beside what resembles one")
@wrong("every_eps_in_order", says="(norms of another dtype beside what resembles one): the answer has 3 numbers")
def takes_a_shorter_pattern(graph):
    """The norm up to its root: no parameter for the weight, none for the dtype."""

    def root(x, eps):
        wide = x.to(torch.float32)
        return wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)

    return [match.placeholder_nodes[1] for match in matches_of(root)(graph)]


@breaks("with any dtype in its second `.to`.", case="norms of another dtype beside what resembles one")
@wrong("every_eps_in_order", says="(norms of another dtype beside what resembles one): the answer has 0 numbers")
def knows_two_dtypes(graph):
    def in_float32(x, weight, eps):
        return rms_norm(x, weight, eps, torch.float32)

    def of_its_input(x, weight, eps):
        return rms_norm(x, weight, eps, x.dtype)

    found = [*matches_of(in_float32)(graph), *matches_of(of_its_input)(graph)]
    return [match.placeholder_nodes[2] for match in sorted(found, key=lambda match: match.returning_nodes[0])]


@breaks("with the `eps` of every RMSNorm", case="norms of another dtype beside what resembles one")
@wrong(
    "every_eps_in_order", says="1 number, and the graph has 2 RMSNorms: number 2, the one that `add_2` adds, is missing"
)
def takes_floats_alone(graph):
    return [eps for eps in reads_what_the_parameters_bind(graph) if isinstance(eps, float)]


@breaks("Leave the graph as it is.", case="two norms of Llama")
@wrong(
    "graph_left_alone",
    says="has been changed: node `exp`",
    read="12_patterns#a-backend-sees-the-whole-model",
)
def removes_what_nothing_uses(graph):
    graph.eliminate_dead_code()
    return reads_what_the_parameters_bind(graph)
