"""Answers to 14-which-norms-fold: the norms of an exported graph that meet all conditions."""

import operator

import torch

from fxbook.surgery.calls import given, kind_of
from fxbook.tasks.answering import breaks, right, wrong

aten = torch.ops.aten
LAYERS = (aten.conv1d.default, aten.conv2d.default, aten.linear.default)


def norms_of(module):
    return module.graph.find_nodes(op="call_function", target=aten.batch_norm.default)


def found(module, training=True, layers=LAYERS, users=True, dimensions=True, more=lambda norm: True):
    """The norms that can be folded, with parameters for what a wrong answer leaves out."""
    names = []
    for norm in norms_of(module):
        layer = norm.args[0]
        if training and norm.args[5]:
            continue
        if layer.target not in layers or (users and len(layer.users) > 1):
            continue
        if dimensions and layer.meta["val"].ndim != layer.args[1].meta["val"].ndim:
            continue
        if more(norm):
            names.append(norm.name)
    return names


@right
def begins_at_the_layers(module):
    names = set()
    for target in LAYERS:
        for layer in module.graph.find_nodes(op="call_function", target=target):
            users = list(layer.users)
            fits = layer.meta["val"].ndim == layer.args[1].meta["val"].ndim
            if fits and [user.target for user in users] == [aten.batch_norm.default] and not users[0].args[5]:
                names.add(users[0].name)
    return names


@right
def reads_by_name(module):
    def folds(norm):
        layer = given(norm)["input"]
        fits = str(layer.target) in map(str, LAYERS) and len(layer.users) == 1
        return fits and not given(norm)["training"] and layer.meta["val"].ndim == given(layer)["weight"].ndim

    return [node.name for node in module.graph.nodes if kind_of(node) == "batchnorm" and folds(node)]


@right
def filters_in_four_steps(module):
    left = {norm: norm.args[0] for norm in norms_of(module) if norm.args[5] is False}
    left = {norm: layer for norm, layer in left.items() if layer.target in LAYERS}
    left = {norm: layer for norm, layer in left.items() if set(layer.users) == {norm}}
    shapes = {norm: operator.attrgetter(layer.args[1].target)(module).shape for norm, layer in left.items()}
    return tuple(norm.name for norm, layer in left.items() if len(layer.meta["val"].shape) == len(shapes[norm]))


@right
def counts_the_uses(module):
    uses = {}
    for node in module.graph.nodes:
        for read in node.all_input_nodes:
            uses[read] = uses.get(read, 0) + 1
    names = found(module, users=False)
    return [norm.name for norm in norms_of(module) if norm.name in names and uses[norm.args[0]] == 1]


@breaks("its argument `training` is `False`;", case="a ResNet")
@wrong("finds_the_norms", says="cannot be folded: its argument `training` is True")
def ignores_training(module):
    return found(module, training=False)


@breaks("and no other node uses that result;", case="shared layers")
@wrong("finds_the_norms", says="cannot be folded: `batch_norm_")
def ignores_users_that_are_norms(module):
    def only_norms(norm):
        return all(user.target is aten.batch_norm.default for user in norm.args[0].users)

    return found(module, users=False, more=only_norms)


@breaks("and no other node uses that result;", case="shared layers")
@wrong("finds_the_norms", says="cannot be folded: `output` uses `conv2d_")
def counts_users_that_are_calls(module):
    def is_only_call(norm):
        return [user for user in norm.args[0].users if user.op == "call_function"] == [norm]

    return found(module, users=False, more=is_only_call)


@breaks(
    'that result, in `meta["val"]`, has as many dimensions as the weight of its call.',
    case="linear layers and 1-d convolutions",
)
@wrong("finds_the_norms", says="dimensions, but its weight has")
def ignores_the_dimensions(module):
    return found(module, dimensions=False)


@breaks(
    "its input is the result of `aten.conv1d.default`, `aten.conv2d.default` or `aten.linear.default`,",
    case="shared layers",
)
@wrong("finds_the_norms", says="calls none of the three operators")
def takes_other_convolutions_too(module):
    return found(module, layers=(*LAYERS, *(getattr(aten.conv2d, name) for name in aten.conv2d.overloads())))


@breaks("Several calls may use the same weight,", case="linear layers and 1-d convolutions")
@wrong("finds_the_norms", says="can be folded but is missing from the answer")
def leaves_out_shared_weights(module):
    return found(module, more=lambda norm: len(norm.args[0].args[1].users) == 1)


@breaks("or the statistics of the same norm:", case="shared layers")
@wrong("finds_the_norms", says="(shared layers): ")
def leaves_out_shared_statistics(module):
    return found(module, more=lambda norm: len(norm.args[3].users) == 1)


@breaks("of the names of the calls to `aten.batch_norm.default`", case="a ResNet")
@wrong("finds_the_norms", says="but does not call `aten.batch_norm.default`")
def names_the_layers(module):
    norms = {norm.name: norm.args[0].name for norm in norms_of(module)}
    return [norms[name] for name in found(module)]


@breaks("Return a list", case="a ResNet")
@wrong("finds_the_norms", says="The answer is not a list of node names")
def returns_a_dict(module):
    return dict.fromkeys(found(module), True)


@wrong("finds_the_norms", says="is in the answer more than once")
def lists_a_norm_once_for_each_input(module):
    names = found(module)
    return [user.name for node in module.graph.nodes for user in node.users if user.name in names]
