"""Answers to 14-how-far-it-may-move: the layer, applied to absolute values."""

import copy

import torch
from torch import nn

from fxbook.tasks.answering import breaks, right, wrong

functional = nn.functional


def sizes_of(layer, x, bias=True, of_weight=True):
    """The sums of the absolute values of the terms; the flags leave something out, for wrong answers."""
    parts = {name: part.detach().double() for name, part in layer.named_parameters()}
    if of_weight:
        parts = {name: part.abs() for name, part in parts.items()}
    if not bias and "bias" in parts:
        parts["bias"] = torch.zeros_like(parts["bias"])
    return torch.func.functional_call(layer, parts, (x.double().abs(),))


def terms_of(layer):
    return layer.weight[0].numel() + (layer.bias is not None)


def unit(dtype):
    return torch.finfo(dtype).eps / 2


@right
def changes_a_copy(layer, x, dtype):
    own = copy.deepcopy(layer).double()
    with torch.no_grad():
        for part in own.parameters():
            part.abs_()
        return own(x.double().abs()) * (terms_of(layer) * unit(dtype))


@right
def takes_windows(layer, x, dtype):
    """Each element of the result is the product of a row of weights and a window of the input."""
    weight = layer.weight.detach().double().abs()
    x = x.double().abs()
    if isinstance(layer, nn.Linear):
        total = torch.einsum("...i,oi->...o", x, weight)
    else:
        windows = functional.unfold(x, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
        windows = windows.view(len(x), layer.groups, -1, windows.shape[-1])
        rows = weight.view(layer.groups, -1, windows.shape[2])
        total = torch.einsum("gok,bgkp->bgop", rows, windows).reshape(layer(x.float()).shape)
    if layer.bias is not None:
        bias = layer.bias.detach().double().abs()
        total = total + (bias if isinstance(layer, nn.Linear) else bias.view(-1, 1, 1))
    return total * terms_of(layer) * unit(dtype)


@right
def calls_the_operator(layer, x, dtype):
    weight, x = layer.weight.detach().double().abs(), x.double().abs()
    bias = layer.bias.detach().double().abs() if layer.bias is not None else None
    if isinstance(layer, nn.Linear):
        total = torch.ops.aten.linear.default(x, weight, bias)
    else:
        total = torch.ops.aten.convolution.default(
            x, weight, bias, layer.stride, layer.padding, layer.dilation, False, [0, 0], layer.groups
        )
    return total * terms_of(layer) * unit(dtype)


@right
def adds_positive_and_negative_parts(layer, x, dtype):
    """|w| |x| is the sum of four products, each of a positive or negative part of w and of x."""
    total, x = 0, x.double()
    for weight_sign in (1, -1):
        for sign in (1, -1):
            parts = {"weight": (weight_sign * layer.weight.detach().double()).clamp(min=0)}
            if layer.bias is not None:
                parts["bias"] = torch.zeros_like(layer.bias).double()
            total = total + torch.func.functional_call(layer, parts, ((sign * x).clamp(min=0),))
    if layer.bias is not None:
        bias = layer.bias.detach().double().abs()
        total = total + (bias if isinstance(layer, nn.Linear) else bias.view(-1, 1, 1))
    return total * terms_of(layer) * unit(dtype)


@breaks("`n * u` times the sum of the absolute values of its terms.", case="the first convolution of ResNet")
@wrong("sums_the_sizes", says="the absolute value is that of the sum, not of each term")
def takes_the_result_for_its_terms(layer, x, dtype):
    return layer(x).double().abs() * terms_of(layer) * unit(dtype)


@breaks("The terms are the products of a weight and an input,", case="the first convolution of ResNet")
@wrong("sums_the_sizes", says="the weights keep their signs")
def takes_the_weights_as_they_are(layer, x, dtype):
    return sizes_of(layer, x, of_weight=False) * terms_of(layer) * unit(dtype)


@breaks("and the bias if the layer has one.", case="a linear layer with a bias")
@wrong("sums_the_sizes", says="the bias is left out")
def leaves_the_bias_out(layer, x, dtype):
    return sizes_of(layer, x, bias=False) * terms_of(layer) * unit(dtype)


@breaks("`u` is half of `torch.finfo(dtype).eps`.", case="the first convolution of ResNet")
@wrong("counts_the_terms", says="Each element is 2 times what it should be")
def takes_eps_for_u(layer, x, dtype):
    return sizes_of(layer, x) * terms_of(layer) * torch.finfo(dtype).eps


@breaks("`n` is the number of terms,", case="a linear layer with a bias")
@wrong("counts_the_terms", says="Each element is 0.")
def does_not_count_the_bias(layer, x, dtype):
    return sizes_of(layer, x) * layer.weight[0].numel() * unit(dtype)


@breaks("which may have groups, strides and zero padding.", case="a convolution with groups")
@wrong("counts_the_terms", says="(a convolution with groups): each element is")
def counts_the_inputs_of_all_groups(layer, x, dtype):
    wide = layer.in_features if isinstance(layer, nn.Linear) else layer.in_channels * layer.weight[0, 0].numel()
    return sizes_of(layer, x) * (wide + (layer.bias is not None)) * unit(dtype)


@breaks(
    "Each element is the most that rounding in `dtype` may move that element of `layer(x)`:",
    case="the first convolution of ResNet",
)
@wrong("counts_the_terms", says="times what it should be: check `n` and `u`")
def takes_u_for_float64(layer, x, dtype):
    return sizes_of(layer, x) * terms_of(layer) * unit(torch.float64)


@breaks("Products with padding zeros are terms too.", case="the first convolution of ResNet")
@wrong("sums_the_sizes", says="`n` is not the same for each element")
def leaves_the_padding_out(layer, x, dtype):
    parts = {name: torch.ones_like(part).double() for name, part in layer.named_parameters()}
    terms = torch.func.functional_call(layer, parts, (torch.ones_like(x).double(),))
    return sizes_of(layer, x) * terms * unit(dtype)


@breaks("Return a `float64` tensor", case="the first convolution of ResNet")
@wrong("is_a_tensor", says="not `float64`")
def returns_float32(layer, x, dtype):
    return (sizes_of(layer, x) * terms_of(layer) * unit(dtype)).float()


@breaks("computed in `float64`.", case="the first convolution of ResNet")
@wrong("computes_in_float64", says="as if computed in `float32`")
def computes_in_float32(layer, x, dtype):
    parts = {name: part.detach().abs() for name, part in layer.named_parameters()}
    return torch.func.functional_call(layer, parts, (x.abs(),)).double() * terms_of(layer) * unit(dtype)


@breaks("with the shape of `layer(x)`,", case="the first convolution of ResNet")
@wrong("is_a_tensor", says="The answer has the shape ()")
def returns_the_largest(layer, x, dtype):
    return (sizes_of(layer, x) * terms_of(layer) * unit(dtype)).max()


@breaks("Leave the layer unchanged.", case="the first convolution of ResNet")
@wrong("nothing_left", says="the weight `weight` has different values")
def changes_the_layer(layer, x, dtype):
    with torch.no_grad():
        for part in layer.parameters():
            part.abs_()
    return (copy.deepcopy(layer).double()(x.double().abs()) * terms_of(layer) * unit(dtype)).detach()
