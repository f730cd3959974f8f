"""Answers to 11-name-the-inputs: which parameter or buffer each placeholder of a graph stands for."""

import re

import torch

from fxbook.tasks.answering import breaks, right, wrong

SHEET, PART = "the model of the exercises, in train mode", "Entry 0 names a different tensor from placeholder"

KINDS = "a parameter as an input, a tensor that is not a buffer"


def placeholders(module):
    return module.graph.find_nodes(op="placeholder")


@right
def compares_with_is(module, example_inputs, model):
    named = [*model.named_parameters(), *model.named_buffers()]
    return [next((name for name, tensor in named if tensor is value), None) for value in example_inputs]


@right
def asks_for_each_tensor_by_its_path(module, example_inputs, model):
    names = {}
    for path in [name for named in (model.named_buffers, model.named_parameters) for name, _ in named()]:
        owner, _, last = path.rpartition(".")
        names[id(getattr(model.get_submodule(owner), last))] = path
    return [*map(names.get, map(id, example_inputs))]


@right
def walks_through_the_modules(module, example_inputs, model):
    names = {}
    for path, owner in model.named_modules():
        for held in (owner._parameters, owner._buffers):
            names |= {id(tensor): f"{path}.{name}".lstrip(".") for name, tensor in held.items() if tensor is not None}
    return [names.get(id(value)) for value in example_inputs]


@right
def fills_a_list_of_none(module, example_inputs, model):
    answer = [None] * len(placeholders(module))
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        for place, value in enumerate(example_inputs):
            if value is tensor:
                answer[place] = name
    return answer


@breaks("If a tensor has two names, return either.", case=SHEET)
@wrong("names_each_input", says="Entry 0 is not the name of a parameter or buffer of the model.")
def returns_the_names_of_the_placeholders(module, example_inputs, model):
    return [node.target for node in placeholders(module)]


@breaks("of the parameter or buffer of `model`", case=SHEET)
@wrong("names_each_input", says="is a parameter or buffer of the model.")
def forgets_the_buffers(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in model.named_parameters()}
    return [names.get(id(value)) for value in example_inputs]


@breaks("that it stands for", case="two layers with equal weights")
@wrong("names_each_input", says="Entry ")
def compares_the_values(module, example_inputs, model):
    named = [*model.named_parameters(), *model.named_buffers()]

    def equal(left, right):
        return isinstance(left, torch.Tensor) and left.shape == right.shape and torch.equal(left, right)

    return [next((name for name, tensor in named if equal(value, tensor)), None) for value in example_inputs]


@wrong("names_each_input", says="is a parameter or buffer of the model.")
def asks_the_state_dict_alone(module, example_inputs, model):
    """A state dict lacks the buffers that are not saved with the model."""
    names = {id(tensor): name for name, tensor in model.state_dict(keep_vars=True).items()}
    return [names.get(id(value)) for value in example_inputs]


@breaks("the name of the parameter or buffer of `model`", case=KINDS)
@wrong("names_each_input", says=f"({KINDS}): entry")
def reads_the_names_of_the_placeholders(module, example_inputs, model):
    """Puts a dot at each mark that Dynamo inserts, but a name may contain the same text as a mark."""
    found = []
    for node in placeholders(module):
        parts = re.split("_?(?:modules|parameters|buffers)_", node.name.removeprefix("l_self_").removesuffix("_"))
        found.append(".".join(parts[1:]) or None)
    return found


@breaks("the name of the parameter", case=KINDS)
@wrong("names_each_input", says=f"({KINDS}): entry")
def leaves_out_what_is_frozen(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in model.named_parameters() if tensor.requires_grad}
    names |= {id(tensor): name for name, tensor in model.named_buffers()}
    return [names.get(id(value)) for value in example_inputs]


@breaks("with an entry for each placeholder", case=SHEET)
@wrong("names_each_input", says="The list has 6 entries for 10 placeholders.")
def returns_the_names_of_the_model(module, example_inputs, model):
    return [name for name, _ in model.named_parameters()]


@breaks("Return a list", case=SHEET)
@wrong("names_each_input", says="The answer is not a list")
def returns_a_dict(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    return {node.name: names.get(id(value)) for node, value in zip(placeholders(module), example_inputs, strict=True)}


@breaks("or `None` for any other input.", case=SHEET)
@wrong(
    "names_each_input",
    says="Entry 2 is not None, but placeholder `l_x_` is neither a parameter nor a buffer of the model.",
)
def has_a_word_for_an_input(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    return [names.get(id(value), "input") for value in example_inputs]


@wrong("input_unchanged", says="The model that was given has been changed")
def renames_the_placeholders(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    for node, value in zip(placeholders(module), example_inputs, strict=True):
        node.name = names.get(id(value), node.name).replace(".", "_")
    return [names.get(id(value)) for value in example_inputs]
