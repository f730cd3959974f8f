"""Models, each with the inputs to be stored in it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

from ..cases import Reserved, Unread, Weighting, column, mask_of, rows, table


class Masking(Weighting):
    """The model of the chapter, whose mask is to be stored."""

    def stored(self) -> dict[str, Tensor]:
        return {"mask": mask_of(True, False, True, True, False)}


class StoringInput(Reserved):
    """The node of the input that is to be stored has another name."""

    def stored(self) -> dict[str, Tensor]:
        return {"input": table()}


class Returned(nn.Module):
    """Returns one input as it is; one is used in a list, one has no users; a buffer has an input's name."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.full((2, 4), 3.0))

    def forward(self, rows: Tensor, other: Tensor, unread: Any = None) -> tuple[Tensor, Tensor]:
        return rows, torch.cat([rows, other, self.get_buffer("rows")])

    def stored(self) -> dict[str, Tensor]:
        return {"rows": table().double()}


class StoringUnread(Unread):
    """The input that is to be stored has no users."""

    def stored(self) -> dict[str, Tensor]:
        return {"unread": table()}


class Calibrated(nn.Module):
    """Two inputs are to be stored, one after the other; one is used by name and has the name of a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Linear(4, 4)

    def forward(self, scaled: Tensor, scale: Tensor, shift: Tensor, gain: float = 2.0) -> Tensor:
        return torch.mul(self.scale(scaled), other=scale) * gain + shift

    def stored(self) -> dict[str, Tensor]:
        return {"scale": torch.arange(1.0, 5.0), "shift": torch.arange(4.0) - 2}


# ---- how an answer is used -------------------------------------------------------------------------------------------


def with_values(model: nn.Module) -> tuple[Any, ...]:
    """The traced model, and the inputs that are to be stored, with their values."""
    return fx.symbolic_trace(model), model.stored()


def stored_in_turn(answer: Any, traced: fx.GraphModule, stored: dict[str, Tensor]) -> Any:
    """What the learner's function returns for the last of the inputs that are stored.

    A buffer that ``state_dict`` leaves out becomes a plain attribute: what is recorded about a module does not
    distinguish the two kinds of buffer.
    """
    result = None
    for name, value in stored.items():
        result = answer(traced, name, value)
    changed = result if isinstance(result, fx.GraphModule) else traced
    saved = changed.state_dict()
    for path, held in list(changed.named_buffers()):
        if path not in saved:
            owner, _, name = path.rpartition(".")
            delattr(changed.get_submodule(owner), name)
            setattr(changed.get_submodule(owner), name, held)
    return result


USAGE = Usage(
    "edit",
    cases=(
        Case("the mask of the model of the chapter", Masking, rows()),
        Case("an input called `input`", StoringInput, lambda: (torch.arange(2), torch.randn(5, 1)), unseen=True),
        Case("an input with the name of a buffer, returned and in a list", Returned, rows(), unseen=True),
        Case("an input without users", StoringUnread, rows(column), unseen=True),
        Case("two inputs, one after the other", Calibrated, rows(), unseen=True),
    ),
    given=with_values,
    call=stored_in_turn,
)
