"""The models on which the answers of chapter 07 are tried: signatures of many kinds, values that fit or do not."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.checks.named_inputs_07 import Situation


class Model(nn.Module):
    """A model, with what the exercises of the chapter do to it."""

    def stored(self) -> dict[str, Tensor]:
        """The inputs that are to be stored in the model, with their values."""
        raise NotImplementedError

    def examples(self) -> dict[str, Any]:
        raise NotImplementedError

    def situations(self) -> tuple[Situation, ...]:
        raise NotImplementedError


def table() -> Tensor:
    return torch.arange(20.0).reshape(5, 4) / 20


def mask_of(*kept: bool) -> Tensor:
    """0 for a row to keep, -inf for one to leave out, one row each."""
    return torch.tensor([[0.0 if keep else -torch.inf] for keep in kept])


class Weighting(Model):
    """The model of the chapter."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(4, 1)

    def forward(self, rows: Tensor, mask: Tensor, sharpness: float = 1.0, *, names: Any = None) -> Tensor:
        scores = self.score(rows) * sharpness
        return rows * (scores + mask).softmax(0)

    def stored(self) -> dict[str, Tensor]:
        return {"mask": mask_of(True, False, True, True, False)}

    def examples(self) -> dict[str, Any]:
        return {"rows": torch.zeros(5, 4), "mask": torch.zeros(5, 1)}

    def situations(self) -> tuple[Situation, ...]:
        rows, mask = table(), self.stored()["mask"]
        return (
            Situation("the inputs that were asked", {"rows": rows, "mask": mask}),
            Situation("`mask` before `rows`", {"mask": mask, "rows": rows}),
            Situation("a value for `sharpness`", {"rows": rows, "sharpness": 3.0, "mask": mask}),
            Situation("`names`, and `sharpness` left out", {"rows": rows, "mask": mask, "names": ["a"]}),
            Situation("a `mask` of shape (5,)", {"rows": rows, "mask": mask.squeeze(1)}),
            Situation("a `mask` of booleans", {"rows": rows, "mask": mask == 0}),
            Situation("`rows` and `mask` both wrong", {"rows": torch.zeros(7, 4), "mask": mask == 0}),
            Situation(
                "a `mask` of another shape and dtype",
                {"rows": rows, "mask": mask.squeeze(1) == 0},
            ),
            Situation("no `mask`", {"rows": rows}),
            Situation(
                "`msak` in place of `mask`",
                {"rows": rows, "msak": mask},
            ),
            Situation("an unknown input", {"rows": rows, "mask": mask, "weights": mask}),
            Situation("a str for `mask`", {"rows": rows, "mask": "all"}),
            Situation("the inputs that were asked, after all these errors", {"rows": rows, "mask": mask}),
        )


class Reserved(Model):
    """Parameters whose nodes have other names, one that is never read, and one that may be ``None``."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(4, 4)

    def forward(self, input: Tensor, unread: Tensor, len: Tensor, scale: Any = None) -> Tensor:
        return self.project(input) * len

    def stored(self) -> dict[str, Tensor]:
        return {"input": table()}

    def examples(self) -> dict[str, Any]:
        return {"input": torch.zeros(5, 4), "unread": torch.zeros(2, dtype=torch.int64), "len": torch.zeros(5, 1)}

    def situations(self) -> tuple[Situation, ...]:
        rows, unread, length = table(), torch.arange(2), torch.ones(5, 1)
        good = {"len": length, "unread": unread, "input": rows}
        return (
            Situation("parameters called `input` and `len`", good),
            Situation("an `input` of float64", good | {"input": rows.double()}),
            Situation("no `unread`", {"len": length, "input": rows}),
            Situation("the name of a node, `input_1`", good | {"input_1": rows}),
            Situation(
                "four faults",
                {"len": length.int(), "input": rows[:, :1], "scales": 2.0},
            ),
            Situation("a value for `scale`, which has no example", good | {"scale": "any"}),
        )


class Partial(Model):
    """Inputs with a default have examples, and one that must be passed has none."""

    def forward(self, table: Tensor, weight: Any, scale: float = 1.0, shift: Any = 0.0) -> Tensor:
        return table * weight * scale + shift

    def examples(self) -> dict[str, Any]:
        return {"table": torch.zeros(5, 4), "scale": 2.0, "shift": torch.zeros(4)}

    def situations(self) -> tuple[Situation, ...]:
        good = {"weight": torch.arange(4.0), "table": table()}
        return (
            Situation("`scale` and `shift` left out, which have defaults and examples", good),
            Situation("a number for `scale` that is not its example", good | {"scale": 3.0}),
            Situation("a number for `weight`, which has no example", good | {"weight": 2.0}),
            Situation("no `weight`, which has no example", {"table": table()}),
            Situation("a `shift` of shape (5,)", good | {"shift": torch.ones(5)}),
        )


class Returned(Model):
    """Returns one input as it is; the others are read inside a list, and not at all; a buffer has an input's name."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.full((2, 4), 3.0))

    def forward(self, rows: Tensor, other: Tensor, unread: Any = None) -> tuple[Tensor, Tensor]:
        return rows, torch.cat([rows, other, self.get_buffer("rows")])

    def stored(self) -> dict[str, Tensor]:
        return {"rows": table()}


class Unread(Model):
    """The input that is to be stored is never read."""

    def forward(self, rows: Tensor, unread: Tensor, other: Tensor) -> Tensor:
        return rows - other

    def stored(self) -> dict[str, Tensor]:
        return {"unread": table()}


class Calibrated(Model):
    """Two inputs are to be stored, one after the other."""

    def forward(self, rows: Tensor, scale: Tensor, shift: Tensor, gain: float = 2.0) -> Tensor:
        return rows * scale * gain + shift

    def stored(self) -> dict[str, Tensor]:
        return {"scale": torch.arange(1.0, 5.0), "shift": torch.arange(4.0) - 2}


class LateUnread(Model):
    """The last input is never read, so that it may stand behind the steps."""

    def forward(self, rows: Tensor, other: Tensor, unread: Any = None) -> Tensor:
        return rows * 2 - other


class Asserting(Model):
    """Its last step is no result: it has an effect."""

    def forward(self, rows: Tensor, other: Tensor) -> Tensor:
        difference = rows - other
        torch._assert(difference.isfinite().all(), "rows are not finite")
        return difference


class Private(Model):
    """Names that begin as that of a starred parameter's node does; one input is never read."""

    def forward(self, _rows: Tensor, _unread: Any, input: Any, *_more: Any, scale: float = 1.0) -> Tensor:
        return _rows * input * scale


class Starred(Model):
    """Starred parameters: any number of values, none among them."""

    def forward(self, first: Tensor, *others: Tensor, **options: Any) -> Tensor:
        return first


class Identity(Model):
    """Returns its only input as it is."""

    def forward(self, rows: Tensor) -> Tensor:
        return rows


class Offset(Model):
    """A submodule has the name that the new input is to have."""

    def __init__(self) -> None:
        super().__init__()
        self.offset = nn.Linear(4, 4)

    def forward(self, rows: Tensor, other: Tensor) -> Tensor:
        return self.offset(rows) + other


class Listing(Model):
    """Returns its inputs by name, so that a report can say which of them got what."""

    def forward(self, rows: Any, mask: Any, sharpness: Any = 1.0, input: Any = None) -> dict[str, Any]:
        return {"rows": rows, "mask": mask, "sharpness": sharpness, "input": input}


@fx.wrap
def sign_and_log(values: Tensor) -> tuple[Tensor, Tensor]:
    """Two results at once; the second is nan where a value is negative."""
    return values.sign(), values.log()


@fx.wrap
def log_and_sign(values: Tensor) -> list[Tensor]:
    """As :func:`sign_and_log`, as a list and in the other order."""
    return [values.log(), values.sign()]


class Logs(Model):
    """A node that gives a tuple with nan inside, read by others; integers and numbers on the way."""

    def forward(self, rows: Tensor, power: int = 2, names: Any = None) -> Tensor:
        count = (rows > 0).sum()
        sign, logs = sign_and_log(rows)[0], sign_and_log(rows)[1]
        return (sign * logs).pow(power) / count


class LogList(Model):
    """A node that gives a list with nan inside."""

    def forward(self, rows: Tensor) -> Tensor:
        both = log_and_sign(rows)
        return both[0] * both[1]


class InPlace(Model):
    """A step works in place: the value of the node before it is nan afterwards too."""

    def forward(self, rows: Tensor) -> Tensor:
        return (rows + 1).log_() * 2


class NanWeight(Model):
    """A parameter holds nan, and the node that fetches it is the first that does."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor([1.0, torch.nan, 1.0, 1.0]))

    def forward(self, rows: Tensor) -> Tensor:
        return (rows + 1) * self.factor


class Opposite(Model):
    """Infinities of both signs, whose sum is nan; nothing else is."""

    def forward(self, rows: Tensor) -> Tensor:
        return (rows / 0).sigmoid()
