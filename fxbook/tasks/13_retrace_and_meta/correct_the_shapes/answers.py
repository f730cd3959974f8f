"""Answers to 13-correct-the-shapes: shapes in ``meta`` that an edit has made wrong."""

import copy
import operator

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.shape_prop import ShapeProp

from fxbook.tasks.answering import breaks, right, wrong

LLAMA = "a block of Llama, fewer tokens"


def calls(module):
    return [node for node in module.graph.nodes if node.op == "call_function"]


def recorded(module):
    return {node.name: tuple(node.meta["val"].shape) if "val" in node.meta else None for node in calls(module)}


def propagated(module, x):
    FakeTensorProp(module, FakeTensorMode(allow_non_fake_inputs=True)).propagate(x)
    return {node.name: tuple(node.meta["val"].shape) for node in calls(module)}


def corrected(module, x, differ=operator.ne):
    """The correct shape of each node whose recorded shape is different, as judged by ``differ``."""
    true = propagated(copy.deepcopy(module), x)
    return {name: true[name] for name, shape in recorded(module).items() if differ(shape, true[name])}


@right
def propagates_in_a_copy(module, x):
    return corrected(module, x)


@right
def runs_on_real_tensors(module, x):
    runner = fx.Interpreter(module, garbage_collect_values=False)
    runner.run(x)
    return {
        node.name: list(runner.env[node].shape)
        for node in calls(module)
        if "val" not in node.meta or node.meta["val"].shape != runner.env[node].shape
    }


@right
def propagates_real_shapes(module, x):
    before = recorded(module)
    ShapeProp(module).propagate(x)
    true = {node.name: node.meta["tensor_meta"].shape for node in calls(module)}
    return {name: shape for name, shape in true.items() if before[name] != shape}


@right
def runs_on_fake_tensors(module, x):
    found = {}

    class Faked(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            if n.op == "call_function" and (n.meta.get("val") is None or n.meta["val"].shape != value.shape):
                found[n.name] = value.shape
            return value

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        Faked(module).run(mode.from_tensor(x))
    return found


@breaks("Return {name: correct shape} of the nodes whose note is missing or wrong.", case=LLAMA)
@wrong("finds_wrong_shapes", says="has no shape in its notes, but is missing from the answer")
def compares_after_overwriting_the_notes(module, x):
    propagated(module, x)
    return corrected(module, x)


@breaks("Leave out the nodes whose recorded shape is correct.", case="a node that changes no shape")
@wrong("finds_wrong_shapes", says="is in the answer, but the shape in its notes is correct")
def includes_every_node_after_the_new_one(module, x):
    true = propagated(copy.deepcopy(module), x)
    names = list(recorded(module))
    return {name: true[name] for name in names[names.index(next(iter(corrected(module, x)))) :]}


@breaks("the key is the node's name, and the value is its correct shape,", case=LLAMA)
@wrong("finds_wrong_shapes", says="in the answer is wrong: ")
def adds_a_dimension(module, x):
    return {name: (*shape, 1) for name, shape in corrected(module, x).items()}


@breaks("each `call_function` node", case=LLAMA)
@wrong("finds_wrong_shapes", says="but it is not a `call_function` node")
def includes_the_output(module, x):
    return {**corrected(module, x), "output": tuple(module(x).shape)}


@breaks("Return a dict with an entry", case=LLAMA)
@wrong("finds_wrong_shapes", says="The answer is not a dict with node names as keys")
def returns_the_names(module, x):
    return list(corrected(module, x))


CONVERT = "07_placeholder#assertionerror-please-convert-all-tensors-to-faketensors-first-or-instantiate-faketensormode-with-allow_non_fake_inputs"  # noqa: E501


@wrong("ends well", says="Please convert all Tensors to FakeTensors first", read=CONVERT)
def forgets_to_allow_weights(module, x):
    FakeTensorProp(module).propagate(x)
    return recorded(module)


@breaks("is wrong for the input `x`", case="batch size and length swapped")
@wrong("finds_wrong_shapes", says="(batch size and length swapped): ")
def compares_the_sorted_sizes(module, x):
    return corrected(module, x, lambda shape, true: sorted(shape or ()) != sorted(true))


@breaks("is wrong for the input `x`", case="fewer features")
@wrong("finds_wrong_shapes", says="(fewer features): node `")
def compares_the_first_two_sizes(module, x):
    return corrected(module, x, lambda shape, true: shape is None or shape[:2] != true[:2])


@breaks("is wrong for the input `x`", case="a block of ViT, a smaller batch")
@wrong("finds_wrong_shapes", says="has a wrong shape in its notes, but is missing from the answer: ")
def ignores_the_batch_size(module, x):
    return corrected(module, x, lambda shape, true: shape is None or shape[1:] != true[1:])


@breaks("each `call_function` node", case="a node at the end")
@wrong("finds_wrong_shapes", says="(a node at the end): node `neg_default` has no shape in its notes, but is missing")
def leaves_out_nodes_without_users(module, x):
    used = {node.name for node in module.graph.nodes if node.users}
    return {name: shape for name, shape in corrected(module, x).items() if name in used}


@breaks("each `call_function` node", case="fewer features")
@wrong("finds_wrong_shapes", says="(fewer features): node `getitem` has no shape in its notes, but is missing")
def looks_only_at_operators_of_torch(module, x):
    operators = {node.name for node in calls(module) if isinstance(node.target, torch._ops.OpOverload)}
    return {name: shape for name, shape in corrected(module, x).items() if name in operators}


@wrong("finds_wrong_shapes", says="is in the answer, but the shape in its notes is correct")
def compares_the_strides_too(module, x):
    noted = {node: node.meta.get("val") for node in calls(module)}
    true = propagated(module, x)
    return {
        node.name: true[node.name]
        for node, value in noted.items()
        if value is None or (value.shape, value.stride()) != (true[node.name], node.meta["val"].stride())
    }
