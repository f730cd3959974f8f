"""Answers to 11-name-the-inputs: which parameter or buffer each placeholder of a graph stands for."""

import torch
from torch import nn

from fxbook.tasks.answering import breaks, right, wrong


def placeholders(module):
    return module.graph.find_nodes(op="placeholder")


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def compares_with_is(module, example_inputs, model):
    named = [*model.named_parameters(), *model.named_buffers()]
    return [next((name for name, tensor in named if tensor is value), None) for value in example_inputs]


@right
def asks_the_state_dict(module, example_inputs, model):
    """With ``keep_vars`` it hands out the tensors themselves."""
    names = {id(tensor): name for name, tensor in model.state_dict(keep_vars=True).items()}
    names |= {id(tensor): name for name, tensor in model.named_buffers()}
    return [names.get(id(value)) for value in example_inputs]


@right
def asks_for_each_tensor_by_its_path(module, example_inputs, model):
    """Walks down from the model; a path that leads to a tensor is its name."""
    names = {}
    for path in [name for named in (model.named_buffers, model.named_parameters) for name, _ in named()]:
        owner, _, last = path.rpartition(".")
        names[id(getattr(model.get_submodule(owner), last))] = path
    return [*map(names.get, map(id, example_inputs))]


@right
def takes_the_last_of_two_names(module, example_inputs, model):
    names = {}
    for named in (model.named_parameters, model.named_buffers):
        names |= {id(tensor): name for name, tensor in named(remove_duplicate=False)}
    return tuple(names.get(id(value)) for value in example_inputs)


@right
def walks_through_the_modules(module, example_inputs, model):
    names = {}
    for path, owner in model.named_modules():
        for held in (owner._parameters, owner._buffers):
            names |= {id(tensor): f"{path}.{name}".lstrip(".") for name, tensor in held.items() if tensor is not None}
    return [names.get(id(value)) for value in example_inputs]


@right
def uses_a_dict_of_tensors(module, example_inputs, model):
    """A tensor is hashed by its identity."""
    names = {tensor: name for name, tensor in (*model.named_buffers(), *model.named_parameters())}
    return [names.get(value) if isinstance(value, torch.Tensor) else None for value in example_inputs]


@right
def fills_a_list_of_none(module, example_inputs, model):
    answer = [None] * len(placeholders(module))
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        for place, value in enumerate(example_inputs):
            if value is tensor:
                answer[place] = name
    return answer


@right
def goes_by_placeholder(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    return [names.get(id(value)) for _, value in zip(placeholders(module), example_inputs, strict=True)]


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("If a tensor has two names, give either.", case="the model of the sheet, in train mode")
@wrong("names_each_input", says="which is another tensor than the one that the answer names")
def returns_the_names_of_the_placeholders(module, example_inputs, model):
    return [node.target for node in placeholders(module)]


@breaks("of the parameter or buffer of `model`", case="the model of the sheet, in train mode")
@wrong("names_each_input", says="which is a tensor of the model, and the answer is None")
def forgets_the_buffers(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in model.named_parameters()}
    return [names.get(id(value)) for value in example_inputs]


@breaks("that it stands for", case="two layers with equal weights")
@wrong("names_each_input", says="which is another tensor than the one that the answer names")
def compares_the_values(module, example_inputs, model):
    named = [*model.named_parameters(), *model.named_buffers()]

    def equal(left, right):
        return isinstance(left, torch.Tensor) and left.shape == right.shape and torch.equal(left, right)

    return [next((name for name, tensor in named if equal(value, tensor)), None) for value in example_inputs]


@wrong("names_each_input", says="the answer is None")
def asks_a_state_dict_of_copies(module, example_inputs, model):
    """A state dict has detached tensors, which are other objects."""
    names = {id(tensor): name for name, tensor in model.state_dict().items()}
    return [names.get(id(value)) for value in example_inputs]


@wrong("names_each_input", says="which is a tensor of the model, and the answer is None")
def asks_the_state_dict_alone(module, example_inputs, model):
    """A buffer that is not saved with the model is not in it."""
    names = {id(tensor): name for name, tensor in model.state_dict(keep_vars=True).items()}
    return [names.get(id(value)) for value in example_inputs]


@breaks("with an entry for each placeholder", case="the model of the sheet, in train mode")
@wrong("names_each_input", says="has not one entry for each placeholder")
def returns_the_names_of_the_model(module, example_inputs, model):
    return [name for name, _ in model.named_parameters()]


@wrong("names_each_input", says="which is a tensor of the model, and the answer is None")
def takes_parameters_in_the_order_of_the_model(module, example_inputs, model):
    """The graph has them in the order in which the code reads them."""
    names = iter([name for name, _ in model.named_parameters()])
    return [next(names, None) if isinstance(value, nn.Parameter) else None for value in example_inputs]


@breaks("Return a list", case="the model of the sheet, in train mode")
@wrong("names_each_input", says="The answer is not a list")
def returns_a_dict(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    return {node.name: names.get(id(value)) for node, value in zip(placeholders(module), example_inputs, strict=True)}


@wrong("names_each_input", says="which is another tensor than the one that the answer names")
def compares_where_the_memory_begins(module, example_inputs, model):
    """A part of a tensor begins where the tensor does."""
    names = {tensor.data_ptr(): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    return [names.get(value.data_ptr()) if isinstance(value, torch.Tensor) else None for value in example_inputs]


@wrong("names_each_input", says="which is another tensor than the one that the answer names")
def goes_by_the_end_of_the_name(module, example_inputs, model):
    """Two names become one without the words of Dynamo; the value tells an input from a tensor of the model."""
    own = {id(tensor) for tensor in (*model.parameters(), *model.buffers())}
    names = [name for named in (model.named_parameters, model.named_buffers) for name, _ in named()]

    def ends_so(node, name):
        words = [word for word in node.target.split("_") if word and word not in ("modules", "parameters", "buffers")]
        return "_".join(words).endswith(name.replace(".", "_"))

    return [
        next((name for name in names if ends_so(node, name)), None) if id(value) in own else None
        for node, value in zip(placeholders(module), example_inputs, strict=True)
    ]


@breaks("and `None` for every other input.", case="the model of the sheet, in train mode")
@wrong("names_each_input", says="which is no parameter and no buffer of the model: None was asked")
def has_a_word_for_an_input(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    return [names.get(id(value), "input") for value in example_inputs]


@wrong("names_each_input", says="which is no parameter and no buffer of the model: None was asked")
def undoes_the_name_of_the_placeholder(module, example_inputs, model):
    """So that a plain tensor of the model gets a name, too."""

    def path(target):
        target = target.removeprefix("L_self_").replace("modules_", "").replace("parameters_", "")
        return target.replace("buffers_", "").rstrip("_").replace("_", ".")

    known = {path_of.replace("_", "."): path_of for path_of, _ in (*model.named_parameters(), *model.named_buffers())}
    told = [path(node.target) for node in placeholders(module)]
    inputs = [not node.target.startswith("L_self") for node in placeholders(module)]
    return [None if is_input else known.get(name, name) for name, is_input in zip(told, inputs, strict=True)]


@wrong("input_unchanged", says="The model that was given has been changed")
def renames_the_placeholders(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    for node, value in zip(placeholders(module), example_inputs, strict=True):
        node.name = names.get(id(value), node.name).replace(".", "_")
    return [names.get(id(value)) for value in example_inputs]


@wrong("names_each_input", says="The answer is not a list")
def prints_in_place_of_returning(module, example_inputs, model):
    names = {id(tensor): name for name, tensor in (*model.named_parameters(), *model.named_buffers())}
    print([names.get(id(value)) for value in example_inputs])
