"""Answers to 12-fuse-gelu: a formula of eight nodes becomes one call."""

import copy
import math
import operator

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.fx.subgraph_rewriter import replace_pattern_with_filters

from fxbook.tasks.answering import breaks, right, wrong


def new_gelu(x):
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))


def fused(x):
    return nn.functional.gelu(x, approximate="tanh")


@right
def has_the_formula_in_steps(traced):
    """The order of the calls in a pattern does not matter; the order of their arguments does."""

    def in_steps(value):
        cubed = torch.pow(value, 3.0)
        tanh = torch.tanh(0.7978845608028654 * (value + 0.044715 * cubed))
        half = 0.5 * value
        return half * (1.0 + tanh)

    fx.replace_pattern(traced, in_steps, fused)
    return traced


@right
def takes_the_numbers_as_parameters(traced):
    def general(x, scale, cubic, power, half, one):
        return half * x * (one + torch.tanh(scale * (x + cubic * torch.pow(x, power))))

    def of_gpt2(match, graph, pattern):
        return match.placeholder_nodes[1:] == [math.sqrt(2.0 / math.pi), 0.044715, 3.0, 0.5, 1.0]

    found = replace_pattern_with_filters(
        traced, general, lambda x, scale, cubic, power, half, one: fused(x), match_filters=[of_gpt2]
    )
    traced.graph.lint()
    return PassResult(traced, bool(found))


@right
def builds_a_graph_for_each_match(traced):
    def one_call(match, graph, pattern):
        new = fx.Graph()
        x = new.placeholder("x")
        new.output(new.call_function(nn.functional.gelu, (x,), {"approximate": "tanh"}))
        return new

    replace_pattern_with_filters(traced, new_gelu, replacement_callback=one_call)


def formula_of(tanh):
    """The input and the last node of the formula around a tanh, or ``None`` if it is not a formula to fuse."""

    def read(node, target, number):
        """The node that a step uses, if the step calls this target with this number and has one user."""
        if isinstance(node, fx.Node) and node.target is target and len(node.users) == 1 and number in node.args:
            return next((one for one in node.args if isinstance(one, fx.Node)), None)
        return None

    inner = read(tanh.args[0], operator.mul, math.sqrt(2.0 / math.pi))
    if inner is None or inner.target is not operator.add or len(tanh.users) != 1 or len(inner.users) != 1:
        return None
    x, cubic = inner.args
    [total] = tanh.users
    if read(read(cubic, operator.mul, 0.044715), torch.pow, 3.0) is not x or read(total, operator.add, 1.0) is not tanh:
        return None
    [last] = total.users
    return (x, last) if read(last.args[0], operator.mul, 0.5) is x else None


@right
def begins_with_each_tanh(traced):
    for tanh in traced.graph.find_nodes(op="call_function", target=torch.tanh):
        found = formula_of(tanh)
        if found:
            x, last = found
            with traced.graph.inserting_before(last):
                new = traced.graph.call_function(nn.functional.gelu, (x,), {"approximate": "tanh"})
            last.replace_all_uses_with(new)
            traced.graph.erase_node(last)
    traced.graph.eliminate_dead_code()
    traced.graph.lint()
    traced.recompile()


@breaks("that is written as in `new_gelu`", case="a block of GPT-2")
@wrong("each_formula_fused", node="tanh", says="is still the tanh of a GELU")
def has_an_operator_in_the_pattern(traced):
    def with_operator(x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))

    fx.replace_pattern(traced, with_operator, fused)


@breaks("Replace every GELU", case="formulas in a row, and two that must stay")
@wrong("each_formula_fused", node="tanh_1", says="is still the tanh of a GELU")
def replaces_the_first_alone(traced):
    first = []

    def is_first(match, graph, pattern):
        first.append(match)
        return match is first[0]

    replace_pattern_with_filters(traced, new_gelu, fused, [is_first])


@breaks('with one call to `nn.functional.gelu` with `approximate="tanh"`.', case="a block of GPT-2")
@wrong("approximates", node="gelu", says="computes the exact GELU")
def leaves_out_the_approximation(traced):
    fx.replace_pattern(traced, new_gelu, lambda x: nn.functional.gelu(x))


@breaks(
    "If another node uses a value inside the formula, leave the formula unchanged.",
    case="formulas in a row, and two that must stay",
)
@wrong("others_stay", says="he formula that ends with `mul_16` must stay: another node uses its `tanh_4`")
def fuses_a_formula_whose_tanh_is_used(traced):
    for tanh in traced.graph.find_nodes(op="call_function", target=torch.tanh):
        scaled = tanh.args[0]
        if scaled.op == "placeholder" or scaled.args[1].args[1].args[0] != 0.044715:
            continue
        x = scaled.args[1].args[0]
        total = next(user for user in tanh.users if user.target is operator.add)
        [last] = total.users
        last.target, last.args, last.kwargs = nn.functional.gelu, (x,), {"approximate": "tanh"}
    traced.graph.eliminate_dead_code()
    traced.recompile()


class Everywhere(SubgraphMatcher):
    """Also matches formulas with an intermediate value that another node uses."""

    def _is_contained(self, nodes_map):
        return True


@breaks("If another node uses a value inside the formula", case="formulas with an intermediate value used elsewhere")
@wrong("others_stay", says="must stay: another node uses its `")
def looks_only_at_the_users_of_the_tanh(traced):
    for match in Everywhere(fx.symbolic_trace(new_gelu).graph).match(traced.graph):
        [last], [x] = match.returning_nodes, match.placeholder_nodes
        [tanh] = [node for node in match.nodes_map.values() if node.target is torch.tanh]
        if len(tanh.users) == 1:
            last.target, last.args, last.kwargs = nn.functional.gelu, (x,), {"approximate": "tanh"}
    traced.graph.eliminate_dead_code()
    traced.recompile()


@breaks("that is written as in `new_gelu`", case="formulas with other numbers, and a tanh of something else")
@wrong("others_stay", says="must stay: it is not part of a GELU that is written as in `new_gelu`")
def matches_other_numbers(traced):
    def general(x, scale, half, one):
        return half * x * (one + torch.tanh(scale * (x + 0.044715 * torch.pow(x, 3.0))))

    fx.replace_pattern(traced, general, lambda x, scale, half, one: fused(x))


@wrong("others_stay", node="gelu", says="it was a call to gelu before, not a formula")
def approximates_every_gelu(traced):
    fx.replace_pattern(traced, new_gelu, fused)
    for node in traced.graph.find_nodes(op="call_function", target=nn.functional.gelu):
        node.update_kwarg("approximate", "tanh")
    traced.recompile()


@wrong("same_result", node="view_2", says="it holds different numbers")
def keeps_the_factor_of_one_half(traced):
    """The call to GELU already contains this factor."""
    fx.replace_pattern(traced, new_gelu, lambda x: 0.5 * fused(x))


@wrong("no_dead_nodes", node="mul", says="no node uses its result", read="02_insertion_points#a-new-node-needs-a-user")
def leaves_the_old_nodes(traced):
    for match in SubgraphMatcher(fx.symbolic_trace(new_gelu).graph).match(traced.graph):
        [last], [x] = match.returning_nodes, match.placeholder_nodes
        last.target, last.args, last.kwargs = nn.functional.gelu, (x,), {"approximate": "tanh"}
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    for match in SubgraphMatcher(fx.symbolic_trace(new_gelu).graph).match(traced.graph):
        [last], [x] = match.returning_nodes, match.placeholder_nodes
        last.target, last.args = nn.functional.gelu, (x,)
        last.kwargs = {"approximate": "tanh"}
    traced.graph.eliminate_dead_code()


@breaks("Edit the module in place.", case="a block of GPT-2")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    draft = copy.deepcopy(traced)
    fx.replace_pattern(draft, new_gelu, fused)
    return draft


@wrong("edited", says="it was traced or built again")
def edits_a_new_trace(traced):
    again = fx.symbolic_trace(traced)
    fx.replace_pattern(again, new_gelu, fused)
    return again


@wrong("lints", node="gelu", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def makes_the_call_too_early(traced):
    for match in SubgraphMatcher(fx.symbolic_trace(new_gelu).graph).match(traced.graph):
        [last], [x] = match.returning_nodes, match.placeholder_nodes
        with traced.graph.inserting_before(x):
            new = traced.graph.call_function(nn.functional.gelu, (x,), {"approximate": "tanh"})
        last.replace_all_uses_with(new)
    traced.recompile()
