"""Answers to 13-correct-the-shapes: notes that an edit has left behind."""

import copy

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.fx.passes.shape_prop import ShapeProp

from fxbook.tasks.answering import breaks, right, wrong


def calls(module):
    return [node for node in module.graph.nodes if node.op == "call_function"]


def noted(module):
    return {node.name: tuple(node.meta["val"].shape) if "val" in node.meta else None for node in calls(module)}


def propagated(module, x):
    FakeTensorProp(module, FakeTensorMode(allow_non_fake_inputs=True)).propagate(x)
    return {node.name: tuple(node.meta["val"].shape) for node in calls(module)}


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def propagates_in_a_copy(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: shape for name, shape in true.items() if noted(module)[name] != shape}


@right
def runs_with_numbers(module, x):
    runner = fx.Interpreter(module, garbage_collect_values=False)
    runner.run(x)
    return {
        node.name: list(runner.env[node].shape)
        for node in calls(module)
        if "val" not in node.meta or node.meta["val"].shape != runner.env[node].shape
    }


@right
def asks_shape_prop(module, x):
    ShapeProp(module).propagate(x)
    true = {node.name: node.meta["tensor_meta"].shape for node in calls(module)}
    return {node.name: true[node.name] for node in calls(module) if noted(module)[node.name] != tuple(true[node.name])}


@right
def compares_while_it_runs(module, x):
    found = {}

    class Comparing(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            value = super().call_function(target, args, kwargs)
            [node] = [n for n in calls(self.module) if n not in self.env and n.name not in seen][:1]
            seen.append(node.name)
            if noted(module)[node.name] != tuple(value.shape):
                found[node.name] = tuple(value.shape)
            return value

    seen = []
    Comparing(module).run(x)
    return found


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


@right
def replaces_the_method_that_sets_notes(module, x):
    before = noted(module)
    after = propagated(module, x)
    return dict(sorted(pair for pair in after.items() if pair not in before.items()))


@right
def retraces_and_follows_the_names(module, x):
    names = {}

    class Naming(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            names[n.name] = tuple(value.shape) if isinstance(value, torch.Tensor) else None
            return value

    make_fx(Naming(module).run)(x)
    return {name: names[name] for name, shape in noted(module).items() if names[name] != shape}


# ---- wrong -----------------------------------------------------------------------------------------------------------


@wrong("finds_the_untrue", says="that is not true for `x`, and is missing in the answer")
def tells_new_nodes_alone(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: true[name] for name, shape in noted(module).items() if shape is None}


@breaks(
    "Return {name: true shape} of the nodes whose note is missing or untrue.", case="a block of Llama, fewer tokens"
)
@wrong("finds_the_untrue", says="has no shape in its notes, and is missing in the answer")
def compares_after_it_wrote(module, x):
    true = propagated(module, x)
    return {name: shape for name, shape in noted(module).items() if shape != true[name]}


@wrong("finds_the_untrue", says="is in the answer, and the shape in its notes is true")
def tells_all(module, x):
    return propagated(module, x)


@breaks("Leave out the nodes whose note is true.", case="a node that changes no shape")
@wrong("finds_the_untrue", says="(a node that changes no shape):")
def takes_all_after_the_new_node(module, x):
    true = propagated(copy.deepcopy(module), x)
    names = [node.name for node in calls(module)]
    first = next(place for place, node in enumerate(calls(module)) if "val" not in node.meta)
    return {name: true[name] for name in names[first:]}


@breaks("is missing", case="a block of Llama, fewer tokens")
@wrong("finds_the_untrue", says="has no shape in its notes, and is missing in the answer")
def forgets_the_new_node(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: true[name] for name, shape in noted(module).items() if shape not in (None, true[name])}


@wrong("finds_the_untrue", says="in the answer is")
def tells_the_old_shape(module, x):
    true, before = propagated(copy.deepcopy(module), x), noted(module)
    return {name: before[name] or true[name] for name in true if before[name] != true[name]}


@breaks("its name, and its true shape.", case="a block of Llama, fewer tokens")
@wrong("finds_the_untrue", says="in the answer is not the one that it has in a run")
def tells_the_shape_of_the_input(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: (*x.shape, 1) for name, shape in noted(module).items() if shape != true[name]}


@breaks("each `call_function` node", case="a block of Llama, fewer tokens")
@wrong("finds_the_untrue", says="but it is no node that calls a function")
def has_the_output_too(module, x):
    return {**propagates_in_a_copy(module, x), "output": tuple(module(x).shape)}


@breaks("its name, and its true shape.", case="a block of Llama, fewer tokens")
@wrong("finds_the_untrue", says="is not a shape: a tuple or a list of sizes")
def tells_both_shapes(module, x):
    before = noted(module)
    return {name: (before[name], shape) for name, shape in propagates_in_a_copy(module, x).items()}


@breaks("Return a dict with", case="a block of Llama, fewer tokens")
@wrong("finds_the_untrue", says="The answer is not a dict with names of nodes as keys")
def tells_the_names(module, x):
    return list(propagates_in_a_copy(module, x))


CONVERT = "07_placeholder#assertionerror-please-convert-all-tensors-to-faketensors-first-or-instantiate-faketensormode-with-allow_non_fake_inputs"  # noqa: E501


@wrong("ends well", says="Please convert all Tensors to FakeTensors first", read=CONVERT)
def forgets_to_allow_weights(module, x):
    FakeTensorProp(module).propagate(x)
    return noted(module)


@wrong("finds_the_untrue", says="(another batch and length): ")
def begins_at_the_new_node(module, x):
    """What stands before it is as it was, for an input of the same shape."""
    true = propagated(copy.deepcopy(module), x)
    names = [node.name for node in calls(module)]
    first = next(place for place, node in enumerate(calls(module)) if "val" not in node.meta)
    return {name: true[name] for name in names[first:] if noted(module)[name] != true[name]}


@breaks("its name", case="a block of Llama, fewer tokens")
@wrong("keys_are_names", says="A key of the answer is an object, the node `")
def keys_are_the_nodes(module, x):
    found = propagates_in_a_copy(module, x)
    return {node: found[node.name] for node in calls(module) if node.name in found}


@breaks("is not true for the input `x`", case="another batch and length")
@wrong("finds_the_untrue", says="(another batch and length): ")
def propagates_the_input_of_the_notes(module, x):
    [noted_input] = module.graph.find_nodes(op="placeholder")
    return propagates_in_a_copy(module, torch.empty(noted_input.meta["val"].shape))


@breaks("is not true for the input `x`", case="another batch and length")
@wrong("finds_the_untrue", says="(another batch and length): ")
def compares_the_sorted_sizes(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: true[name] for name, shape in noted(module).items() if sorted(shape or ()) != sorted(true[name])}


@breaks("is not true for the input `x`", case="fewer features")
@wrong("finds_the_untrue", says="(fewer features): node `")
def compares_two_sizes(module, x):
    true = propagated(copy.deepcopy(module), x)
    return {name: true[name] for name, shape in noted(module).items() if shape is None or shape[:2] != true[name][:2]}


@breaks("each `call_function` node", case="another batch and length")
@wrong("finds_the_untrue", says="(another batch and length): `")
def has_the_inputs_too(module, x):
    [given] = module.graph.find_nodes(op="placeholder")
    found = propagates_in_a_copy(module, x)
    return found if given.meta["val"].shape == x.shape else {**found, given.name: tuple(x.shape)}
