"""Answers to 13-promise-the-result: fake functions of a gate."""

import torch
from torch import nn

from fxbook.tasks.answering import right, wrong


def halved(both, dim):
    return [size // 2 if place == dim % both.dim() else size for place, size in enumerate(both.shape)]


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def computes_on_fake_tensors(both, dim=-1):
    """Under a fake mode the operator's own code computes no number."""
    first, second = both.chunk(2, dim)
    return (nn.functional.silu(first) * second).contiguous()


@right
def tells_dtype_and_device(both, dim=-1):
    return torch.empty(halved(both, dim), dtype=both.dtype, device=both.device)


@right
def makes_a_half_like_a_contiguous_one(both, dim=-1):
    return torch.empty_like(both.chunk(2, dim)[0], memory_format=torch.contiguous_format)


@right
def clones_a_half(both, dim=-1):
    return both.narrow(dim, 0, both.shape[dim] // 2).clone(memory_format=torch.contiguous_format)


@right
def makes_zeros(both, dim=-1):
    return both.new_zeros(halved(both, dim))


@right
def takes_the_sum_of_the_halves(both, dim=-1):
    return both.unflatten(dim, (2, -1)).sum(dim if dim >= 0 else dim - 1).contiguous()


@right
def asks_the_meta_device(both, dim=-1):
    shape = torch.empty(both.shape, device="meta").chunk(2, dim)[0].shape
    return both.new_empty(shape)


@right
def selects_every_second(both, dim=-1):
    places = torch.arange(0, both.shape[dim], 2, device=both.device)
    return both.contiguous().index_select(dim, places)


# ---- wrong -----------------------------------------------------------------------------------------------------------


@wrong(
    "keeps_the_promise",
    says="The shape of the result is not that",
    case="the last dimension",
    clause="returns one with the shape, the dtype, the device and the strides of the result",
)
def keeps_the_whole(both, dim=-1):
    return torch.empty_like(both)


@wrong("keeps_the_promise", says="(the middle, counted from the end)")
def halves_the_first_or_the_last(both, dim=-1):
    shape = list(both.shape)
    shape[-1 if dim == -1 else dim if dim >= 0 else 0] //= 2
    return both.new_empty(shape)


@wrong(
    "keeps_the_promise",
    says="The shape of the result is not that",
    case="the first dimension",
    clause="An operator halves a tensor along `dim`",
)
def halves_the_last_always(both, dim=-1):
    return both.new_empty(*both.shape[:-1], both.shape[-1] // 2)


@wrong(
    "keeps_the_promise",
    says="(half precision): the dtype of the result is not that",
    case="half precision",
    clause="the dtype, the device and the strides of the result",
)
def takes_the_default_dtype(both, dim=-1):
    return torch.empty(halved(both, dim))


@wrong(
    "keeps_the_promise",
    says="(on another device): the device of the result is not that",
    case="on another device",
    clause="the device and the strides of the result",
)
def takes_the_default_device(both, dim=-1):
    return torch.empty(halved(both, dim), dtype=both.dtype)


@wrong("keeps_the_promise", says="the strides are not those of the operator's result")
def returns_a_view(both, dim=-1):
    return both.chunk(2, dim)[0]


@wrong(
    "keeps_the_promise",
    says="(an argument that was transposed): the shape is right, and the strides are not",
    case="an argument that was transposed",
    clause="the strides of the result",
)
def keeps_the_order_of_strides(both, dim=-1):
    return torch.empty_like(both.chunk(2, dim)[0])


@wrong(
    "keeps_the_promise",
    says="The result shares its memory with the argument",
    case="the last dimension",
    clause="and with memory of its own.",
)
def returns_the_memory_of_the_argument(both, dim=-1):
    shape = halved(both, dim)
    strides = torch.empty(shape, device="meta").stride()
    return both.as_strided(shape, strides)


@wrong(
    "keeps_the_promise",
    says="The result is no tensor, but of class list",
    case="the last dimension",
    clause="Return a fake tensor like the result of gate.",
)
def returns_the_shape(both, dim=-1):
    return halved(both, dim)


@wrong("keeps_the_promise", says="The result is no tensor, but of class tuple")
def returns_both_halves(both, dim=-1):
    return both.chunk(2, dim)


@wrong(
    "keeps_the_promise",
    says="The result is a real tensor",
    case="the last dimension",
    clause="It may not compute on real data.",
)
def returns_real_numbers(both, dim=-1):
    with torch._subclasses.fake_tensor.unset_fake_temporarily():
        return torch.zeros(halved(both, dim))


@wrong("ends well", says="but got float")
def divides_to_a_float(both, dim=-1):
    shape = list(both.shape)
    shape[dim] = shape[dim] / 2
    return both.new_empty(shape)
