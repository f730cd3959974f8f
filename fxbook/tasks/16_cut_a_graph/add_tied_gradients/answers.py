"""Answers to 16-add-tied-gradients: for each weight, one sum over all parts and all names of the weight."""

from collections import defaultdict

import torch

from fxbook.tasks.answering import breaks, right, wrong


def all_names(model):
    return dict(model.named_parameters(remove_duplicate=False))


def by_weight(model, found, key=id, counts=lambda gradient: gradient is not None):
    """The sums, with parameters for how a weight is identified and which gradients count."""
    groups = defaultdict(list)
    for part in found:
        for name, gradient in part.items():
            if counts(gradient):
                groups[key(model.get_parameter(name))].append(gradient)
    first = {key(weight): name for name, weight in reversed([*model.named_parameters()])}
    return {name: sum(groups[weight]) if groups[weight] else None for weight, name in first.items()}


@right
def goes_by_id(model, found):
    first = {id(weight): name for name, weight in model.named_parameters()}
    totals = dict.fromkeys(first.values())
    for part in found:
        for name, gradient in part.items():
            key = first[id(all_names(model)[name])]
            if gradient is not None:
                totals[key] = gradient if totals[key] is None else totals[key] + gradient
    return totals


@right
def groups_in_a_defaultdict(model, found):
    return by_weight(model, found)


@right
def uses_the_state_dict(model, found):
    """With ``keep_vars``, the state dict has the parameters themselves."""
    own = {name: id(tensor) for name, tensor in model.state_dict(keep_vars=True).items()}
    totals = {}
    for name, _ in model.named_parameters():
        mine = [part[key] for part in found for key in part if own[key] == own[name]]
        mine = [gradient for gradient in mine if gradient is not None]
        totals[name] = torch.zeros_like(mine[0]).add(sum(mine)) if mine else None
    return totals


@right
def walks_the_modules(model, found):
    totals = {}
    for name, weight in model.named_parameters():
        names = [
            f"{path}.{key}".lstrip(".")
            for path, module in model.named_modules(remove_duplicate=False)
            for key, parameter in module.named_parameters(recurse=False)
            if parameter is weight
        ]
        given = [g for part in found for other, g in part.items() if other in names and g is not None]
        totals[name] = sum(given[1:], given[0]) if given else None
    return totals


@breaks(
    "A tied weight has several names in the model.",
    "Each part has one of these names, and another part may have a different one.",
    case="an embedding that is also the head",
)
@wrong("sums_of_gradients", says="is not the sum")
def looks_up_one_name(model, found):
    totals = {}
    for name, _ in model.named_parameters():
        given = [part[name] for part in found if part.get(name) is not None]
        totals[name] = sum(given) if given else None
    return totals


@breaks(
    "the sum of all gradients that the parts have for this weight", case="no tied weight, and gradients in the model"
)
@wrong("sums_of_gradients", says="The `grad` that the model holds does not count")
def adds_the_gradient_of_the_model(model, found):
    own = {name: weight.grad for name, weight in model.named_parameters()}
    return goes_by_id(model, [*found, own])


@breaks("or to `None` if no part has one.", case="weights without a gradient in any part")
@wrong("sums_of_gradients", says="(weights without a gradient in any part): no part has a gradient of")
def takes_the_gradient_of_the_model_for_none(model, found):
    totals = goes_by_id(model, found)
    return {n: w.grad if totals[n] is None else totals[n] for n, w in model.named_parameters()}


@breaks("Return a dict that maps each name of `model.named_parameters()`", case="an embedding that is also the head")
@wrong("sums_of_gradients", says="has no such name")
def includes_every_name(model, found):
    totals = goes_by_id(model, found)
    first = {id(weight): name for name, weight in model.named_parameters()}
    return {name: totals[first[id(weight)]] for name, weight in all_names(model).items()}


@breaks("Two weights with equal values are still different weights.", case="one layer in three parts")
@wrong("sums_of_gradients", says="is not the sum")
def compares_values(model, found):
    totals = {}
    for name, weight in model.named_parameters():
        names = [n for n, w in all_names(model).items() if w.shape == weight.shape and torch.equal(w, weight)]
        given = [part[n] for part in found for n in names if part.get(n) is not None]
        totals[name] = sum(given) if given else None
    return totals


@breaks("Return {name: sum of the gradients of this weight, or None}.", case="an embedding that is also the head")
@wrong("sums_of_gradients", says="not a dict")
def returns_a_list(model, found):
    return list(goes_by_id(model, found).values())


@breaks("Do not change the gradients in `found`.", case="an embedding that is also the head")
@wrong("gradients_left_alone", says="is different from before")
def adds_in_place(model, found):
    first = {id(weight): name for name, weight in model.named_parameters()}
    totals = dict.fromkeys(first.values())
    for part in found:
        for name, gradient in part.items():
            key = first[id(all_names(model)[name])]
            if gradient is not None:
                totals[key] = gradient if totals[key] is None else totals[key].add_(gradient)
    return totals


@wrong("input_unchanged", says="The model that was given has been changed")
def unties_the_weights(model, found):
    totals = goes_by_id(model, found)
    for name, _ in model.named_parameters():
        path, _, last = name.rpartition(".")
        owner = model.get_submodule(path)
        setattr(owner, last, torch.nn.Parameter(getattr(owner, last).detach().clone()))
    return totals


@breaks("A tied weight has several names in the model.", case="an embedding that is also the head")
@wrong("sums_of_gradients", says="`head.nothing` is missing from the answer")
def identifies_weights_by_address(model, found):
    """All empty tensors have the same address."""
    return by_weight(model, found, key=torch.Tensor.data_ptr)


@breaks("or to `None` if no part has one.", case="a second name without a gradient")
@wrong("sums_of_gradients", says="a part has a gradient of `middle.weight`, but the answer is None")
def ignores_gradients_of_zeros(model, found):
    counts = lambda gradient: gradient is not None and (gradient.any() or not gradient.numel())  # noqa: E731
    return by_weight(model, found, counts=counts)


@breaks("each name of `model.named_parameters()`", case="an embedding that is also the head")
@wrong("sums_of_gradients", says="`middle.weight` is missing from the answer, which must include frozen weights")
def leaves_out_frozen_weights(model, found):
    return {name: total for name, total in by_weight(model, found).items() if model.get_parameter(name).requires_grad}


@breaks("to the sum of all gradients that the parts have for this weight,", case="the second name in both parts")
@wrong("sums_of_gradients", says="it is the gradient of `head.weight` in part 0")
def adds_each_tensor_once(model, found):
    every, totals = all_names(model), {}
    for name, weight in model.named_parameters():
        gradients = {part.get(other) for part in found for other in every if every[other] is weight} - {None}
        totals[name] = sum(gradients) if gradients else None
    return totals
