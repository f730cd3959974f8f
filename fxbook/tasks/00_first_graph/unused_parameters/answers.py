"""Answers to 00-unused-parameters."""

import contextlib
import copy

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong


@right
def reads_the_nodes_of_a_copy(model):
    """Reads each node of a graph; makes no GraphModule."""
    twin = copy.deepcopy(model)
    used = set()
    for node in fx.Tracer().trace(twin).nodes:
        if node.op == "call_module":
            used |= set(twin.get_submodule(node.target).parameters())
        elif node.op == "get_attr":
            path, _, name = node.target.rpartition(".")
            used.add(getattr(twin.get_submodule(path), name))
    return [name for name, parameter in twin.named_parameters() if parameter not in used]


@right
def traces_a_shallow_copy(model):
    """The copy has the model's own parameters, and the tracer stores the constant on the copy."""
    traced = fx.symbolic_trace(copy.copy(model))
    unused = []
    for name, parameter in model.named_parameters():
        if not any(parameter is used for used in traced.parameters()):
            unused.append(name)
    return unused


@right
class TracesAndRemovesWhatTracingStored:
    def __call__(self, model):
        had = set(vars(model))
        traced = fx.symbolic_trace(model)
        for name in set(vars(model)) - had:
            delattr(model, name)
        used = list(map(id, traced.parameters()))
        return tuple(name for name, parameter in model.named_parameters() if id(parameter) not in used)


@right
def crosses_off_what_the_tracer_meets(model):
    """Removes from the list the parameters of each called leaf and those that a new get_attr fetches."""
    twin = copy.deepcopy(model)
    left = {parameter: name for name, parameter in twin.named_parameters()}

    class Meeting(fx.Tracer):
        def call_module(self, module, forward, args, kwargs):
            if self.is_leaf_module(module, self.path_of_module(module)):
                for parameter in module.parameters():
                    left.pop(parameter, None)
            return super().call_module(module, forward, args, kwargs)

        def create_proxy(self, kind, target, *rest, **named):
            if kind == "get_attr":
                left.pop(dict(twin.named_parameters(remove_duplicate=False)).get(target), None)
            return super().create_proxy(kind, target, *rest, **named)

    Meeting().trace(twin)
    return left.values()


@breaks(
    "the model has no new attribute (tracing can store a constant on the model that you trace)",
    case="a model with tied weights and a constant",
)
@wrong("nothing_stored", says="has a new attribute, `_tensor_constant0`")
def traces_the_model_itself(model):
    used = set(fx.symbolic_trace(model).parameters())
    return [name for name, parameter in model.named_parameters() if parameter not in used]


@breaks("Such a parameter is used if either layer is used", case="a model with tied weights and a constant")
@wrong("unused_parameters", says="also has another name, which is used")
def compares_names_with_targets(model):
    nodes = fx.symbolic_trace(copy.deepcopy(model)).graph.nodes
    used = [node.target for node in nodes if node.op in ("call_module", "get_attr")]
    names = [name for name, _ in model.named_parameters()]
    return [name for name in names if not any(f"{name}.".startswith(f"{target}.") for target in used)]


@breaks("For `Classifier` these are `auxiliary.weight` and `auxiliary.bias`.", case="the classifier")
@wrong("unused_parameters", says="`temperature` is in the answer, but a `get_attr` fetches it")
def considers_only_layers(model):
    called = {node.target for node in fx.symbolic_trace(copy.copy(model)).graph.nodes if node.op == "call_module"}
    return [name for name, _ in model.named_parameters() if name.rpartition(".")[0] not in called]


@breaks("Return the names, as in `model.named_parameters()`", case="the classifier")
@wrong("unused_parameters", says="`auxiliary` is in the answer, but is not the name of a parameter")
def names_the_layers(model):
    called = {node.target for node in fx.symbolic_trace(copy.copy(model)).graph.nodes if node.op == "call_module"}
    return [name for name, _ in model.named_children() if name not in called]


@breaks("and no gradient.", case="the classifier")
@wrong("no_gradient", says="`temperature` has a gradient")
def runs_backward_and_looks_for_gradients(model):
    model(torch.rand(2, 4)).sum().backward()
    return [name for name, parameter in model.named_parameters() if parameter.grad is None]


@breaks("the parameters that the graph does not use.", case="a model that takes tokens")
@wrong("unused_parameters", says="`spare.weight` is unused, but is not in the answer")
def skips_frozen_parameters(model):
    twin = copy.deepcopy(model)
    used = {id(parameter) for parameter in fx.symbolic_trace(twin).parameters()}
    return [name for name, each in twin.named_parameters() if each.requires_grad and id(each) not in used]


@wrong("unused_parameters", says="`auxiliary.weight` is in the answer, but is not the name of a parameter")
def hard_codes_the_classifier(model):
    return ["auxiliary.weight", "auxiliary.bias"]


@breaks("Your function must not change the model:", case="the classifier")
@wrong("input_unchanged", says="`auxiliary` is gone")
def removes_what_is_not_used(model):
    """Deletes unused layers from the model itself, and compares the names before and after."""
    before = [name for name, _ in model.named_parameters()]
    traced = fx.symbolic_trace(copy.copy(model))
    used = list(traced.parameters())
    for name, child in list(model.named_children()):
        if not any(mine is other for mine in child.parameters() for other in used) and list(child.parameters()):
            delattr(model, name)
    return [name for name in before if name not in dict(model.named_parameters())]


@breaks("You are not given an input for the model.", case="a model that takes tokens")
@wrong("unused_parameters", says="`spare_blank` is unused, but is not in the answer")
def runs_backward_on_rows_of_a_width_that_fits(model):
    for width in (4, 5, 6, 7, 8):
        twin = copy.deepcopy(model)
        with contextlib.suppress(RuntimeError):
            twin(torch.rand(2, width)).sum().backward()
            return [name for name, parameter in twin.named_parameters() if parameter.grad is None]
    return []


@breaks("lists it once, under its first name.", case="a model with tied weights and a constant")
@wrong("unused_parameters", says="`spare_twin.weight` is in the answer, but is another name of `spare.weight`")
def lists_a_shared_parameter_twice(model):
    twin = copy.deepcopy(model)
    used = {id(parameter) for parameter in fx.symbolic_trace(twin).parameters()}
    named = twin.named_parameters(remove_duplicate=False)
    return [name for name, parameter in named if id(parameter) not in used]
