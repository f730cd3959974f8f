"""Answers to P1-fold-the-norms: norms become part of their convolutions."""

import copy
from collections import Counter

import torch
from torch import fx, nn
from torch.nn.utils import fusion

from fxbook.tasks.answering import breaks, right, wrong

FOLD = "P1_one_model#a-norm-is-part-of-its-convolution"
STAYS = "P1_one_model#where-a-norm-cannot-be-folded"


def layer_of(traced, node):
    return traced.get_submodule(node.target) if node.op == "call_module" else None


def foldable(traced, users=True, by_target=False, training=True):
    """The norms that can be folded, each with its input; arguments say what a wrong answer leaves out."""
    nodes = list(traced.graph.find_nodes(op="call_module"))
    times = Counter(node.target if by_target else layer_of(traced, node) for node in nodes)
    for node in nodes:
        norm = layer_of(traced, node)
        if not isinstance(norm, nn.BatchNorm2d):
            continue
        if (training and norm.training) or norm.running_mean is None:
            continue
        [value] = node.all_input_nodes
        conv = layer_of(traced, value)
        if not isinstance(conv, nn.Conv2d) or (users and len(value.users) > 1):
            continue
        if times[value.target if by_target else conv] > 1:
            continue
        yield node, value, norm, conv


def new_parameters(norm, conv, eps=True):
    """The weight and the bias of a convolution with its norm."""
    with torch.no_grad():
        scale = 1 / torch.sqrt(norm.running_var + (norm.eps if eps else 0))
        scale = scale if norm.weight is None else scale * norm.weight
        shift = -norm.running_mean * scale if norm.bias is None else norm.bias - norm.running_mean * scale
        if conv.bias is not None:
            shift = shift + conv.bias * scale
        return conv.weight * scale.view(-1, 1, 1, 1), shift


def assign(norm, conv, **left_out):
    weight, bias = new_parameters(norm, conv, **left_out)
    conv.weight, conv.bias = nn.Parameter(weight), nn.Parameter(bias)


def fold(traced, change=assign, unused=True, compile_it=True, **asked):
    for node, value, norm, conv in foldable(traced, **asked):
        change(norm, conv)
        node.replace_all_uses_with(value)
        traced.graph.erase_node(node)
    if unused:
        traced.delete_all_unused_submodules()
    if compile_it:
        traced.recompile()


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def uses_the_function_of_torch(traced):
    for place, (node, value, norm, conv) in enumerate(list(foldable(traced))):
        traced.add_submodule(f"fused_{place}", fusion.fuse_conv_bn_eval(conv, norm))
        value.target = f"fused_{place}"
        node.replace_all_uses_with(value)
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()


@right
def makes_a_convolution_of_its_own(traced):
    for node, value, norm, conv in list(foldable(traced)):
        made = nn.Conv2d(
            conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding, conv.dilation, conv.groups
        ).to(conv.weight.dtype)
        weight, bias = new_parameters(norm, conv)
        made.weight.data.copy_(weight)
        made.bias.data.copy_(bias)
        parent, _, name = value.target.rpartition(".")
        setattr(traced.get_submodule(parent), name, made)
        node.replace_all_uses_with(value)
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()


@right
def asks_the_norm_for_its_numbers(traced):
    """The norm of zeros is the summand; the norm of ones minus the summand is the factor."""

    def ask(norm, conv):
        width = conv.out_channels
        with torch.no_grad():
            zeros = torch.zeros(1, width, 1, 1, dtype=conv.weight.dtype)
            added = norm(zeros).flatten()
            scale = norm(zeros + 1).flatten() - added
            weight = conv.weight * scale.view(-1, 1, 1, 1)
            bias = added if conv.bias is None else added + conv.bias * scale
        conv.weight, conv.bias = nn.Parameter(weight), nn.Parameter(bias)

    fold(traced, ask)


class WithoutNorms(fx.Transformer):
    def __init__(self, traced, folded):
        super().__init__(traced)
        self.folded = folded

    def run_node(self, node):
        return self.env[self.folded[node]] if node in self.folded else super().run_node(node)


@right
def assigns_the_graph_of_a_transformer(traced):
    folded = {}
    for node, value, norm, conv in foldable(traced):
        assign(norm, conv)
        folded[node] = value
    traced.graph = WithoutNorms(traced, folded).transform().graph
    traced.delete_all_unused_submodules()
    traced.recompile()


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("becomes part of its convolution,", case="the network of the project")
@wrong("pairs_compute_the_same", node="stem", says="does not give what `stem` and `norm` gave together: ", read=FOLD)
def forgets_eps(traced):
    fold(traced, lambda norm, conv: assign(norm, conv, eps=False))


@breaks("Two convolutions may share one weight tensor.", case="layers, values and weights that are shared")
@wrong(
    "pairs_compute_the_same",
    node="tied2",
    says="no longer gives the same numbers, and has the weight tensor of `tied1`: ",
    read=STAYS,
)
def changes_the_weight_in_place(traced):
    def in_place(norm, conv):
        weight, bias = new_parameters(norm, conv)
        conv.weight.data.copy_(weight)
        conv.bias = nn.Parameter(bias)

    fold(traced, in_place)


@breaks("or under another name;", case="layers, values and weights that are shared")
@wrong("others_stay", says="call one convolution", read=STAYS)
def counts_the_calls_by_name(traced):
    fold(traced, by_target=True)


@breaks("and no other node uses that value;", case="layers, values and weights that are shared")
@wrong("others_stay", says="is gone, but cannot be folded: `relu` uses `read` too", read=STAYS)
def does_not_count_the_users(traced):
    fold(traced, users=False)


@breaks(
    "and is not in training mode.", "Every other node stays as it is.", case="groups, other settings, norms that stay"
)
@wrong("others_stay", says="is gone, but cannot be folded: it is in training mode", read=STAYS)
def does_not_ask_for_the_mode(traced):
    fold(traced, training=False)


@wrong("edited", says="it was traced or built again")
def traces_again(traced):
    fold(traced)
    return fx.symbolic_trace(traced)


@breaks("Edit a traced network in place:", case="the network of the project")
@wrong("given_edited", says="You edited a copy")
def folds_in_a_copy(traced):
    traced = copy.deepcopy(traced)
    fold(traced)
    return traced


@breaks("At the end, the network holds no layers without calls.", case="the network of the project")
@wrong(
    "no_leftovers",
    says="still holds the submodule `norm`",
    read="03_replacement#a-function-by-a-module-a-module-by-a-function",
)
def keeps_the_norms(traced):
    fold(traced, unused=False)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    fold(traced, compile_it=False)


@breaks("and its node is erased.", case="the network of the project")
@wrong(
    "nothing_dies",
    node="norm",
    says="is left, but no node uses its result",
    read="03_replacement#three-steps-in-this-order",
)
def leaves_the_nodes(traced):
    for node, value, norm, conv in list(foldable(traced)):
        assign(norm, conv)
        node.replace_all_uses_with(value)
        node.op, node.target = "call_function", torch.relu
    traced.delete_all_unused_submodules()
    traced.recompile()


@wrong("lints", node="relu", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def moves_the_convolution_behind_its_users(traced):
    for node, value, norm, conv in list(foldable(traced)):
        assign(norm, conv)
        node.replace_all_uses_with(value)
        list(value.users)[-1].append(value)
        traced.graph.erase_node(node)
    traced.recompile()


@breaks("The network may be in `float64`,", case="one pair in float32")
@wrong("same_output", node="_0", says="(one pair in float32): running the result raises RuntimeError")
def makes_a_weight_of_float64(traced):
    def in_float64(norm, conv):
        weight, bias = new_parameters(norm, conv)
        conv.weight, conv.bias = nn.Parameter(weight.double()), nn.Parameter(bias)

    fold(traced, in_float64)


@breaks("and may be called by several nodes.", case="groups, other settings, norms that stay")
@wrong("foldable_are_folded", node="both_1", says="can be folded into `sixth`, but is still called", read=FOLD)
def counts_the_calls_of_the_norm(traced):
    calls = Counter(layer_of(traced, node) for node in traced.graph.find_nodes(op="call_module"))
    for node, value, norm, conv in list(foldable(traced)):
        if calls[norm] == 1:
            assign(norm, conv)
            node.replace_all_uses_with(value)
            traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()
