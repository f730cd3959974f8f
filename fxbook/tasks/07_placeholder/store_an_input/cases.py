"""Models, each with the inputs that an answer must store in it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.zoo import trace_with_last_users_first

from ..cases import Reserved, Unread, Weighting, column, mask_of, rows, table


class Masking(Weighting):
    """The model of the chapter; its mask must be stored."""

    def stored(self) -> dict[str, Tensor]:
        return {"mask": mask_of(True, False, True, True, False)}


class StoringInput(Reserved):
    """The input that must be stored differs in name from its node."""

    def stored(self) -> dict[str, Tensor]:
        return {"input": table()}


class Returned(nn.Module):
    """One input is returned unchanged and used in a list; one has no users; a buffer has the name of an input."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.full((2, 4), 3.0))

    def forward(self, rows: Tensor, other: Tensor, unread: Any = None) -> tuple[Tensor, Tensor]:
        return rows, torch.cat([rows, other, self.get_buffer("rows")])

    def stored(self) -> dict[str, Tensor]:
        return {"rows": table().double()}


class StoringUnread(Unread):
    """The input that must be stored has no users."""

    def stored(self) -> dict[str, Tensor]:
        return {"unread": table()}


class Calibrated(nn.Module):
    """Two inputs must be stored, and both are returned; one is passed by keyword and has the name of a layer, the
    other is a single number.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Linear(4, 4)

    def forward(self, scaled: Tensor, scale: Tensor, shift: Tensor, gain: float = 2.0) -> dict[str, Tensor]:
        return {"result": torch.mul(self.scale(scaled), other=scale) * gain + shift, "scale": scale, "shift": shift}

    def stored(self) -> dict[str, Tensor]:
        return {"scale": torch.arange(1.0, 5.0), "shift": torch.tensor(-2.0)}


def with_values(model: nn.Module) -> tuple[Any, ...]:
    """Pass the traced model, and the values of the inputs to store, by name."""
    [traced] = trace_with_last_users_first(model)
    return traced, model.stored()


def stored_in_turn(answer: Any, traced: fx.GraphModule, stored: dict[str, Tensor]) -> Any:
    """Store each input with the learner's function, and return what the last call returns.

    A buffer that is not in ``state_dict`` is turned into a plain attribute, because a rule cannot tell the two kinds of
    buffer apart.
    """
    result = None
    for name, value in stored.items():
        result = answer(traced, name, value)
    changed = result if isinstance(result, fx.GraphModule) else traced
    saved = changed.state_dict()
    for path, tensor in list(changed.named_buffers()):
        if path not in saved:
            owner, _, name = path.rpartition(".")
            delattr(changed.get_submodule(owner), name)
            setattr(changed.get_submodule(owner), name, tensor)
    return result


USAGE = Usage(
    "edit",
    cases=(
        Case("the mask in the model of the chapter", Masking, rows()),
        Case("an input called `input`", StoringInput, lambda: (torch.arange(2), torch.randn(5, 1)), unseen=True),
        Case("an input with the name of a buffer, returned and in a list", Returned, rows(), unseen=True),
        Case("an input without users", StoringUnread, rows(column), unseen=True),
        Case("two inputs to store", Calibrated, rows(), unseen=True),
    ),
    given=with_values,
    call=stored_in_turn,
)
