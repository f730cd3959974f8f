"""Answers to P1-fold-the-norms: norms become part of their convolutions."""

import copy
from collections import Counter

import torch
from torch import fx, nn
from torch.nn.utils import fusion

from fxbook.tasks.answering import breaks, right, wrong

STAYS = "P1_one_model#where-a-norm-cannot-be-folded"


def layer_of(traced, node):
    return traced.get_submodule(node.target) if node.op == "call_module" else None


def foldable(traced, users=True, by_target=False, training=True):
    """The norms that can be folded: for each, its node, the node before it, and both layers."""
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
    """The weight and the bias of a convolution with a norm folded into it."""
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


def erase(traced, node, value):
    node.replace_all_uses_with(value)
    traced.graph.erase_node(node)


def finish(traced):
    traced.delete_all_unused_submodules()
    traced.recompile()


def fold(traced, change=assign, finish=finish, only=lambda norm: True, **conditions):
    """The solution, with parameters for what another answer does differently."""
    for node, value, norm, conv in foldable(traced, **conditions):
        if only(norm):
            change(norm, conv)
            erase(traced, node, value)
    finish(traced)


@right
def uses_the_function_of_torch(traced):
    for place, (node, value, norm, conv) in enumerate(list(foldable(traced))):
        traced.add_submodule(f"fused_{place}", fusion.fuse_conv_bn_eval(conv, norm))
        value.target = f"fused_{place}"
        erase(traced, node, value)
    finish(traced)


@right
def makes_a_new_convolution(traced):
    for node, value, norm, conv in list(foldable(traced)):
        sizes = conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding, conv.dilation
        made = nn.Conv2d(*sizes, conv.groups, padding_mode=conv.padding_mode, dtype=conv.weight.dtype)
        weight, bias = new_parameters(norm, conv)
        made.weight.data.copy_(weight)
        made.bias.data.copy_(bias)
        parent, _, name = value.target.rpartition(".")
        setattr(traced.get_submodule(parent), name, made)
        erase(traced, node, value)
    finish(traced)


@right
def calls_the_norm_on_zeros_and_ones(traced):
    """What the norm returns for zeros is the summand; what it returns for ones is larger by the factor."""

    def change(norm, conv):
        width = conv.out_channels
        with torch.no_grad():
            zeros = torch.zeros(1, width, 1, 1, dtype=conv.weight.dtype)
            added = norm(zeros).flatten()
            scale = norm(zeros + 1).flatten() - added
            weight = conv.weight * scale.view(-1, 1, 1, 1)
            bias = added if conv.bias is None else added + conv.bias * scale
        conv.weight, conv.bias = nn.Parameter(weight), nn.Parameter(bias)

    fold(traced, change)


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
    finish(traced)


@breaks("becomes part of its convolution,", case="the network of the project")
@wrong("pairs_compute_the_same", node="stem", says="does not compute what `stem` and `norm` computed together: ")
def forgets_eps(traced):
    fold(traced, lambda norm, conv: assign(norm, conv, eps=False))


@breaks("Two convolutions may share their weight and their bias.", case="layers, values and weights that are shared")
@wrong(
    "pairs_compute_the_same",
    node="tied2",
    says="no longer computes the same numbers, and shares its weight and bias with `tied1`: ",
    read=STAYS,
)
def changes_the_weight_in_place(traced):
    def in_place(norm, conv):
        weight, bias = new_parameters(norm, conv)
        conv.weight.data.copy_(weight)
        conv.bias = nn.Parameter(bias)

    fold(traced, in_place)


@breaks("or under another name;", case="layers, values and weights that are shared")
@wrong("others_stay", says="call the same convolution", read=STAYS)
def counts_the_calls_by_name(traced):
    fold(traced, by_target=True)


@breaks("and no other node uses that value;", case="layers, values and weights that are shared")
@wrong("others_stay", says="is gone, but cannot be folded: `relu` uses `read` too", read=STAYS)
def ignores_other_users(traced):
    fold(traced, users=False)


@breaks(
    "and is not in training mode.",
    "Every other node stays as it is.",
    case="groups, other settings, and norms that stay",
)
@wrong("others_stay", says="is gone, but cannot be folded: it is in training mode", read=STAYS)
def ignores_the_mode(traced):
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


@breaks("At the end, every layer in the network is called by a node.", case="the network of the project")
@wrong(
    "no_leftovers",
    says="still holds the submodule `norm`",
    read="03_replacement#a-function-by-a-module-a-module-by-a-function",
)
def keeps_the_norms(traced):
    fold(traced, finish=fx.GraphModule.recompile)


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    fold(traced, finish=fx.GraphModule.delete_all_unused_submodules)


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
    finish(traced)


@wrong("lints", node="relu", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def moves_the_convolution_behind_its_users(traced):
    for node, value, norm, conv in list(foldable(traced)):
        assign(norm, conv)
        erase(traced, node, value)
        list(value.users)[-1].append(value)
    traced.recompile()


@breaks("The network may be in `float64`,", case="one pair in float32")
@wrong("same_output", node="_0", says="(one pair in float32): running the result raises RuntimeError")
def makes_all_weights_float64(traced):
    def in_float64(norm, conv):
        weight, bias = new_parameters(norm, conv)
        conv.weight, conv.bias = nn.Parameter(weight.double()), nn.Parameter(bias)

    fold(traced, in_float64)


@breaks("and may be called by several nodes.", case="groups, other settings, and norms that stay")
@wrong("foldable_are_folded", node="both_1", says="can be folded into `sixth`, but is still called")
def leaves_norms_with_several_calls(traced):
    calls = Counter(layer_of(traced, node) for node in traced.graph.find_nodes(op="call_module"))
    fold(traced, only=lambda norm: calls[norm] == 1)
