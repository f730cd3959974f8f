"""Answers to 15-int8-by-channel: a weight as int8 values and a scale for each output channel."""

import torch
from torch import nn

from fxbook.tasks.answering import breaks, right, wrong


def inputs_of(transposed):
    return 0 if transposed else 1


@right
def clamps_the_scale(weight, transposed):
    scale = weight.abs().amax(inputs_of(transposed), keepdim=True).div(127).clamp(min=1e-30)
    return torch.round(weight / scale).to(torch.int8), scale


@right
def works_on_the_transposed_weight(weight, transposed):
    rows = weight.T if transposed else weight
    scale = rows.abs().max(dim=1, keepdim=True).values / 127
    scale[scale == 0] = 1
    values = (rows / scale).round().char()
    return (values.T, scale.T) if transposed else (values, scale)


@right
def goes_channel_by_channel(weight, transposed):
    values, scales = [], []
    for row in weight.unbind(1 if transposed else 0):
        scale = row.abs().max() / 127 if row.any() else torch.tensor(1.0)
        values.append((row / scale).round().to(torch.int8))
        scales.append(scale)
    at = 1 if transposed else 0
    return torch.stack(values, at), torch.stack(scales).unsqueeze(1 - at)


@right
def uses_fake_quantize(weight, transposed):
    axis = 1 if transposed else 0
    scale = weight.abs().amax(1 - axis) / 127
    scale = torch.where(scale > 0, scale, 1)
    zeros = torch.zeros_like(scale, dtype=torch.int32)
    values = torch.fake_quantize_per_channel_affine(weight, scale, zeros, axis, -127, 127)
    shaped = scale.unsqueeze(1 - axis)
    return (values / shaped).round().to(torch.int8), shaped


@breaks("The values have dtype `int8`", case="a weight of Llama")
@wrong("right_form", says="The values have dtype `float32`")
def leaves_the_values_as_floats(weight, transposed):
    values, scale = clamps_the_scale(weight, transposed)
    return values.float(), scale


@breaks("and the shape of the weight.", case="a weight of Llama")
@wrong("right_form", says="The values have the shape")
def transposes_the_values(weight, transposed):
    values, scale = clamps_the_scale(weight, transposed)
    return values.T, scale


@breaks("The scale has one number for each **output** channel", case="a weight of Llama")
@wrong("right_form", says="The scale has the shape")
def uses_one_scale_for_all_channels(weight, transposed):
    scale = weight.abs().max() / 127
    return (weight / scale).round().to(torch.int8), scale


@breaks("or `(1, out)` if the weight is transposed, as GPT-2 stores it.", case="a transposed weight of GPT-2")
@wrong("right_form", says="The scale has the shape")
def forgets_that_a_weight_is_transposed(weight, transposed):
    return clamps_the_scale(weight, False)


@breaks("in a shape that broadcasts with the weight:", case="a weight of Llama")
@wrong("right_form", says="The scale has the shape")
def drops_the_dimension(weight, transposed):
    values, scale = clamps_the_scale(weight, transposed)
    return values, scale.flatten()


@breaks("Each element of `values * scale` is off by at most half the scale of its channel.", case="a weight of Llama")
@wrong("within_half_the_scale", says="off by more than half the scale")
def truncates(weight, transposed):
    _, scale = clamps_the_scale(weight, transposed)
    return (weight / scale).to(torch.int8), scale


@breaks(
    "For a channel of zeros, the values are zeros and the scale is a finite number above zero.",
    case="channels of very different magnitudes",
)
@wrong("within_half_the_scale", says="a scale is not a finite number above zero")
def divides_by_zero(weight, transposed):
    scale = weight.abs().amax(inputs_of(transposed), keepdim=True) / 127
    return (weight / scale).round().nan_to_num().to(torch.int8), scale


@breaks("and no value is -128.", case="a weight of Llama")
@wrong("within_half_the_scale", says="is -128: values go from -127 to 127")
def scales_by_128(weight, transposed):
    scale = clamps_the_scale(weight, transposed)[1] * (127 / 128)
    return (weight / scale).round().clamp(-128, 127).to(torch.int8), scale


@breaks("with `values * scale` close to the weight.", case="a weight of Llama")
@wrong("within_half_the_scale", says="off by more than half the scale")
def ignores_large_negative_elements(weight, transposed):
    scale = weight.amax(inputs_of(transposed), keepdim=True).abs().clamp(min=1e-30) / 127
    return (weight / scale).round().clamp(-127, 127).to(torch.int8), scale


@breaks("The largest element of a channel becomes 127 or -127", case="channels of very different magnitudes")
@wrong("within_half_the_scale", says="he largest absolute value of a channel is not 127: in channel")
def adds_a_little_to_the_scale(weight, transposed):
    scale = weight.abs().amax(inputs_of(transposed), keepdim=True) / 127 + 1e-12
    return (weight / scale).round().to(torch.int8), scale


@breaks("Return a weight as a pair of tensors `(values, scale)`", case="a weight of Llama")
@wrong("right_form", says="The answer is a dict with 2 items, not a pair of plain tensors")
def returns_a_dict(weight, transposed):
    values, scale = clamps_the_scale(weight, transposed)
    return {"values": nn.Parameter(values, requires_grad=False), "scale": scale}
