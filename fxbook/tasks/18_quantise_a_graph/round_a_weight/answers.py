"""Answers to 18-round-a-weight: a scale for each output channel, and the nearest integers."""

import torch
import torch.ao.quantization.fx._decomposed

from fxbook.tasks.answering import breaks, right, wrong


def scaled(layer, largest, most=127):
    """The answer, if these are the largest absolute values of the channels."""
    weight = layer.weight.detach()
    scales = torch.where(largest > 0, largest / most, 1)
    values = weight / scales.view(-1, *[1] * (weight.ndim - 1))
    return values.round().clamp(-128, 127).to(torch.int8), scales


def sizes(layer):
    return layer.weight.detach().flatten(1).abs().amax(1)


@right
def rounds_channel_by_channel(layer):
    values, scales = [], []
    for channel in layer.weight.detach():
        scale = float(channel.abs().max()) / 127 or 1.0
        values.append((channel / scale).round().to(torch.int8))
        scales.append(scale)
    return torch.stack(values), torch.tensor(scales)


@right
def calls_the_operator(layer):
    weight, scales = layer.weight.detach(), sizes(layer) / 127
    scales[scales == 0] = 1
    zeros = torch.zeros(len(scales), dtype=torch.int64)
    operator = torch.ops.quantized_decomposed.quantize_per_channel.default
    return [operator(weight, scales, zeros, 0, -127, 127, torch.int8), scales]


@right
def multiplies_in_float64(layer):
    weight = layer.weight.detach().double()
    largest = weight.flatten(1).abs().amax(1)
    scales = torch.where(largest > 0, largest / 127, 1)
    rows = weight.flatten(1) * (1 / scales[:, None])
    return rows.round().to(torch.int8).view(weight.shape), scales.float()


@right
def moves_the_channels_to_the_end(layer):
    weight = layer.weight.detach()
    turned = weight.movedim(0, -1)
    largest = turned.reshape(-1, len(weight)).abs().amax(0)
    scales = largest.div(127).masked_fill(largest == 0, 1)
    return (turned / scales).round().to(torch.int8).movedim(-1, 0).contiguous(), scales


@breaks("Return a pair, `(values, scales)`.", case="a linear layer")
@wrong("is_a_pair", says="not a pair of tensors")
def returns_rounded_weights(layer):
    values, scales = scaled(layer, sizes(layer))
    return values * scales.view(-1, *[1] * (values.ndim - 1))


@breaks(
    "`scales` is a `float32` tensor with one number for each output channel (the first dimension of the weight)",
    case="a linear layer",
)
@wrong("is_a_pair", says="`scales` is float32 of shape")
def keeps_the_dimension(layer):
    values, scales = scaled(layer, sizes(layer))
    return values, scales[:, None]


@breaks("the largest absolute value of the channel, divided by 127.", case="a linear layer")
@wrong("has_the_scales", says="The scale of channel 0 does not fit: it is")
def divides_by_255(layer):
    return scaled(layer, sizes(layer), most=255)


@wrong("has_the_scales", says="does not fit: it is")
def takes_one_scale(layer):
    return scaled(layer, sizes(layer).max().expand(len(layer.weight)))


@breaks("The scale of a channel of zeros is 1.", case="a channel of zeros")
@wrong("has_the_scales", says="does not fit: it is")
def clamps_the_scale(layer):
    return scaled(layer, sizes(layer).clamp(min=1e-6))


@breaks("The scale of a channel of zeros is 1.", case="a channel of zeros")
@wrong("has_the_scales", says="does not fit: it is 1, and the largest absolute value of the channel is")
def takes_any_zero_for_a_channel_of_zeros(layer):
    rows = layer.weight.detach().flatten(1)
    return scaled(layer, torch.where((rows == 0).any(1), 127, sizes(layer)))


@breaks("`values` is an `int8` tensor with the shape of the weight", case="a linear layer")
@wrong("is_a_pair", says="`values` is float32 of shape")
def leaves_the_integers_in_float(layer):
    values, scales = scaled(layer, sizes(layer))
    return values.float(), scales


@breaks("the weight, divided by the scale of its channel and rounded to the nearest integer.", case="a linear layer")
@wrong("is_rounded", says="a value is not rounded to the nearest integer: it is")
def truncates(layer):
    weight, (_, scales) = layer.weight.detach(), scaled(layer, sizes(layer))
    return (weight / scales.view(-1, *[1] * (weight.ndim - 1))).to(torch.int8), scales
