"""Models, some with tied weights, and random gradients from two or three parts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.zoo import odd_weights, tied

from ..cases import model_of_words

Found = list[dict[str, Tensor | None]]


class Words(nn.Module):
    """An embedding that shares its weight with the head, and a layer in float64. Some weights are frozen, zero or both;
    two are empty; and there are buffers.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(5, 3)
        self.middle = nn.Linear(3, 3, dtype=torch.float64)
        self.head = nn.Linear(3, 5, bias=False)
        odd_weights(tied(self, "words.weight", "head.weight"))
        self.head.none, self.head.nothing = nn.Parameter(torch.empty(0)), nn.Parameter(torch.empty(0))


class Tower(nn.Module):
    """One layer under three names, one of them nested in a list, next to another layer with equal weights."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.blocks = nn.ModuleList([self.first, nn.Linear(2, 2)])
        self.blocks[1].load_state_dict(self.first.state_dict())
        self.last = self.first


def plain() -> nn.Module:
    """Two layers with their own weights."""
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


def with_gradients(build: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    """The same model, but its weights have gradients from an earlier step, which belong to no part."""

    def built() -> nn.Module:
        model = build()
        for weight in model.parameters():
            weight.grad = torch.full_like(weight, 5.0)
        return model

    return built


def gpt2() -> nn.Module:
    """A real model, whose embedding and head share a weight."""
    return copy.deepcopy(model_of_words("gpt2"))


def found_by(
    *splits: tuple[str, ...], unused: tuple[str, ...] = (), zero: str = "", equal: bool = False
) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: the model, and for each part the gradients of some parameters.

    A part is a string: it has the parameters whose names begin with one of its words. One of the ``splits`` is chosen
    at random. A name in ``unused`` has no gradient in its part, and the parameter ``zero`` has a gradient of zeros.
    If ``equal``, parts that have a gradient for the same name have the same tensor.
    """

    def given(model: nn.Module) -> tuple[nn.Module, Found]:
        parts: Found = []
        known: dict[str, Tensor] = {}
        for beginnings in one_of(*splits):
            names = [name for name, _ in model.named_parameters(remove_duplicate=False)]
            mine = [name for name in names if name.startswith(tuple(beginnings.split()))]
            random = {name: torch.randn_like(model.get_parameter(name)) * (name != zero) for name in mine}
            if equal:
                random = {name: known.setdefault(name, value) for name, value in random.items()}
            parts.append({name: None if name in unused else gradient for name, gradient in random.items()})
        return model, parts

    return given


def called(answer: Callable[..., Any], model: nn.Module, found: Found) -> dict[str, Any]:
    """What the answer returns, and what it has changed in ``found``."""
    kept = copy.deepcopy(found)
    returned = answer(model, found)
    return {"returned": returned, "changed": _changed(kept, found)}


def _changed(kept: Found, found: Found) -> list[str]:
    if [list(part) for part in kept] != [list(part) for part in found]:
        return ["a name"]
    return [
        f"the gradient of `{name}` in part {place}"
        for place, (before, after) in enumerate(zip(kept, found, strict=True))
        for name, tensor in before.items()
        if (tensor is None) != (after[name] is None) or (tensor is not None and not torch.equal(tensor, after[name]))
    ]


USAGE = Usage(
    "compute",
    cases=(
        Case("an embedding that is also the head", Words, tuple, given=found_by(("words", "middle head"))),
        Case("no tied weight, and gradients in the model", with_gradients(plain), tuple, given=found_by(("0", "2"))),
        Case("one layer in three parts", Tower, tuple, unseen=True, given=found_by(("first", "blocks", "last"))),
        Case(
            "the second name in both parts",
            Words,
            tuple,
            unseen=True,
            given=found_by(("head", "middle head"), ("head middle", "head"), equal=True),
        ),
        Case(
            "weights without a gradient in any part",
            with_gradients(Words),
            tuple,
            unseen=True,
            given=found_by(("words", "middle head"), unused=("words.weight", "middle.bias")),
        ),
        Case(
            "a second name without a gradient",
            Words,
            tuple,
            unseen=True,
            given=found_by(("words", "middle head"), unused=("head.weight", "head.none"), zero="middle.weight"),
        ),
        Case("a weight in no part", Words, tuple, unseen=True, given=found_by(("words", "head"))),
        Case(
            "GPT-2",
            gpt2,
            tuple,
            unseen=True,
            given=found_by(("transformer.w transformer.h.0", "transformer.h.1 transformer.ln_f lm_head")),
        ),
    ),
    call=called,
)
