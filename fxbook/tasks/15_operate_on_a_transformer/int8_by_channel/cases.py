"""Weights of Llama and GPT-2, and weights whose channels differ in magnitude, one of them zero."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage

from ..cases import gpt2, llama_layer


class Weight(nn.Module):
    """A weight, and whether it is stored as ``(in, out)``."""

    def __init__(self, weight: Tensor, transposed: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.detach().clone(), requires_grad=False)
        self.transposed = transposed


def of_llama() -> Weight:
    """The weight that computes the keys in a layer of Llama, with fewer outputs than inputs."""
    return Weight(llama_layer().self_attn.k_proj.weight, False)


def of_gpt2() -> Weight:
    """The weight that computes query, key and value in a layer of GPT-2."""
    return Weight(gpt2().transformer.h[0].attn.c_attn.weight, True)


def uneven(transposed: bool) -> Weight:
    """A weight that is not square, with channels of very different magnitudes. The largest element of a channel may be
    positive or negative, one channel is zero, and one has a single zero. The first channel is far smaller than the
    epsilon of float32.
    """
    outputs, inputs = torch.randint(3, 7, ()) * 2, torch.randint(3, 7, ()) * 2 + 1
    weight = torch.randn(int(outputs), int(inputs)) * 10.0 ** torch.linspace(-15, 4, int(outputs))[:, None]
    order = 1 + torch.randperm(int(outputs) - 1)
    weight[order[0]] = 0
    largest = weight[order[1]].abs().argmax()
    weight[order[1], largest] = -weight[order[1], largest].abs()
    weight[order[1], largest - 1] = 0
    return Weight(weight.T.contiguous() if transposed else weight, transposed)


def given(model: nn.Module) -> tuple[Any, ...]:
    """Make the arguments of the answer: the weight, and whether it is transposed."""
    return model.weight.detach().clone(), model.transposed


USAGE = Usage(
    "compute",
    cases=(
        Case("a weight of Llama", of_llama, tuple),
        Case("a transposed weight of GPT-2", of_gpt2, tuple),
        Case("channels of very different magnitudes", lambda: uneven(False), tuple, unseen=True),
        Case("channels of very different magnitudes, transposed", lambda: uneven(True), tuple, unseen=True),
    ),
    given=given,
)
