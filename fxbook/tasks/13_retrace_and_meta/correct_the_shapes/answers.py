"""Answers to 13-correct-the-shapes: notes that an edit has made wrong."""

import copy

from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.shape_prop import ShapeProp

from fxbook.tasks.answering import breaks, right, wrong

LLAMA = "a block of Llama, fewer tokens"


def calls(module):
    return [node for node in module.graph.nodes if node.op == "call_function"]


def noted(module):
    return {node.name: tuple(node.meta["val"].shape) if "val" in node.meta else None for node in calls(module)}


def propagated(module, x):
    FakeTensorProp(module, FakeTensorMode(allow_non_fake_inputs=True)).propagate(x)
    return {node.name: tuple(node.meta["val"].shape) for node in calls(module)}


@right
def propagates_in_a_copy(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: shape for name, shape in true.items() if noted(module)[name] != shape}


@right
def runs_with_numbers(module, x):
    runner = fx.Interpreter(module, garbage_collect_values=False)
    runner.run(x)
    # The keys are the nodes themselves.
    return {
        node: list(runner.env[node].shape)
        for node in calls(module)
        if "val" not in node.meta or node.meta["val"].shape != runner.env[node].shape
    }


@right
def propagates_real_shapes(module, x):
    before = noted(module)
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
@wrong("finds_the_untrue", says="has no shape in its notes, but is missing from the answer")
def compares_after_it_wrote(module, x):
    true = propagated(module, x)
    return {name: shape for name, shape in noted(module).items() if shape != true[name]}


@breaks("Leave out the nodes whose recorded shape is correct.", case="a node that changes no shape")
@wrong("finds_the_untrue", says="(a node that changes no shape):")
def takes_all_after_the_new_node(module, x):
    true = propagated(copy.deepcopy(module), x)
    names = [node.name for node in calls(module)]
    first = next(place for place, node in enumerate(calls(module)) if "val" not in node.meta)
    return {name: true[name] for name in names[first:]}


@breaks("the node's name and its correct shape.", case=LLAMA)
@wrong("finds_the_untrue", says="in the answer is wrong: ")
def tells_the_shape_of_the_input(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: (*x.shape, 1) for name, shape in noted(module).items() if shape != true[name]}


@breaks("each `call_function` node", case=LLAMA)
@wrong("finds_the_untrue", says="but it is not a `call_function` node")
def has_the_output_too(module, x):
    return {**propagates_in_a_copy(module, x), "output": tuple(module(x).shape)}


@breaks("Return a dict with an entry", case=LLAMA)
@wrong("finds_the_untrue", says="The answer is not a dict with node names as keys")
def tells_the_names(module, x):
    return list(propagates_in_a_copy(module, x))


CONVERT = "07_placeholder#assertionerror-please-convert-all-tensors-to-faketensors-first-or-instantiate-faketensormode-with-allow_non_fake_inputs"  # noqa: E501


@wrong("ends well", says="Please convert all Tensors to FakeTensors first", read=CONVERT)
def forgets_to_allow_weights(module, x):
    FakeTensorProp(module).propagate(x)
    return noted(module)


@breaks("is wrong for the input `x`", case="another batch and length")
@wrong("finds_the_untrue", says="(another batch and length): ")
def compares_the_sorted_sizes(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: true[name] for name, shape in noted(module).items() if sorted(shape or ()) != sorted(true[name])}


@breaks("is wrong for the input `x`", case="fewer features")
@wrong("finds_the_untrue", says="(fewer features): node `")
def compares_two_sizes(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: true[name] for name, shape in noted(module).items() if shape is None or shape[:2] != true[name][:2]}


@breaks("Leave out the nodes whose recorded shape is correct.", case="a node that changes no shape")
@wrong("finds_the_untrue", says="is in the answer, but the shape in its notes is correct")
def compares_the_dtypes_too(module, x):
    before = {node: node.meta["val"].dtype if "val" in node.meta else None for node in calls(module)}
    found = propagates_in_a_copy(module, x)
    true = propagated(module, x)
    return found | {node.name: true[node.name] for node in before if before[node] != node.meta["val"].dtype}


@breaks("is wrong for the input `x`", case="a block of ViT, a smaller batch")
@wrong("finds_the_untrue", says="has a wrong shape in its notes, but is missing from the answer: ")
def leaves_the_batch_out(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: true[name] for name, shape in noted(module).items() if shape is None or shape[1:] != true[name][1:]}
