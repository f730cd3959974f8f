"""Answers to 13-promise-the-result: fake functions for a gate."""

import torch
from torch import nn

from fxbook.tasks.answering import breaks, right, wrong

LAST = "the last dimension"


def halved(both, dim):
    return [size // 2 if place == dim % both.dim() else size for place, size in enumerate(both.shape)]


@right
def computes_on_fake_tensors(both, dim=-1):
    first, second = both.chunk(2, dim)
    return (nn.functional.silu(first) * second).contiguous()


@right
def makes_an_empty_tensor(both, dim=-1):
    return torch.empty(halved(both, dim), dtype=both.dtype, device=both.device)


@right
def clones_a_half(both, dim=-1):
    return both.narrow(dim, 0, both.shape[dim] // 2).clone(memory_format=torch.contiguous_format)


@right
def takes_the_sum_of_the_halves(both, dim=-1):
    return both.unflatten(dim, (2, -1)).sum(dim if dim >= 0 else dim - 1).contiguous()


@breaks("returns a fake tensor with the shape, the dtype, the device and the strides of the result", case=LAST)
@wrong("keeps_the_promise", says="The shape of the result is not that")
def does_not_halve(both, dim=-1):
    return torch.empty_like(both)


@wrong("keeps_the_promise", says="(the middle, counted from the end)")
def halves_the_first_or_the_last(both, dim=-1):
    shape = list(both.shape)
    shape[-1 if dim == -1 else dim if dim >= 0 else 0] //= 2
    return both.new_empty(shape)


@breaks("An operator splits a tensor into two halves along `dim`", case="the first dimension")
@wrong("keeps_the_promise", says="The shape of the result is not that")
def always_halves_the_last(both, dim=-1):
    return both.new_empty(*both.shape[:-1], both.shape[-1] // 2)


@breaks("the dtype, the device and the strides of the result", case="half precision")
@wrong("keeps_the_promise", says="the operator's result: torch.float32 instead of torch.float16.")
def takes_the_default_dtype(both, dim=-1):
    return torch.empty(halved(both, dim))


@breaks("the device and the strides of the result", case="on another device")
@wrong("keeps_the_promise", says="the device of the result is not that of the operator's result: cpu instead of meta.")
def takes_the_default_device(both, dim=-1):
    return torch.empty(halved(both, dim), dtype=both.dtype)


@breaks("the strides of the result", case="a transposed argument")
@wrong("keeps_the_promise", says="(a transposed argument): the shape is right, but the strides are not")
def keeps_the_strides_of_the_argument(both, dim=-1):
    return torch.empty_like(both.chunk(2, dim)[0])


@breaks("and with its own memory.", case=LAST)
@wrong("keeps_the_promise", says="The result shares its memory with the argument")
def returns_the_memory_of_the_argument(both, dim=-1):
    shape = halved(both, dim)
    return both.as_strided(shape, torch.empty(shape, device="meta").stride())


@breaks("Return a fake tensor like the result of gate.", case=LAST)
@wrong("keeps_the_promise", says="The result is not a tensor, but an object of class list")
def returns_the_shape(both, dim=-1):
    return halved(both, dim)


@breaks("It must not compute on real data.", case=LAST)
@wrong("keeps_the_promise", says="The result is a real tensor")
def returns_real_numbers(both, dim=-1):
    with torch._subclasses.fake_tensor.unset_fake_temporarily():
        return torch.zeros(halved(both, dim))


@wrong("ends well", says="but got float")
def divides_to_a_float(both, dim=-1):
    shape = list(both.shape)
    shape[dim] = shape[dim] / 2
    return both.new_empty(shape)
