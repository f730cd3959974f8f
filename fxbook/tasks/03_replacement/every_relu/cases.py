"""Models with ReLUs in all spellings, in place or not, and in leaf modules, which tracing does not enter."""

from __future__ import annotations

from typing import Any

import torch

# The first operator under a TorchDispatchMode needs this import, which takes most of an answer's time limit.
import torch._dynamo
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

REFUSED = "refused"


class WithRelus(nn.Module):
    """Stores the answer's input as a buffer, so that a change to the input is a change to the model.

    ``hidden_inside`` names the leaf module that runs a ReLU, which tracing cannot see.
    """

    shape: tuple[int, ...] = (3, 4)
    inputs = 1
    hidden_inside: str | None = None

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("tried", torch.randn(self.shape), persistent=False)

    def example(self) -> tuple[Tensor, ...]:
        assert isinstance(self.tried, Tensor)
        return (self.tried,)


class Rectifier(nn.ReLU):
    """A user-defined subclass, which tracing enters."""


class EverySpelling(WithRelus):
    """ReLU modules (shared, nested, in a Sequential, of a subclass), functions and methods, in place or not."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(8))
        self.act = nn.ReLU()
        self.block = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)), Rectifier())
        self.norm = nn.LayerNorm(4)

    def forward(self, x: Tensor) -> Tensor:
        first, second, third, fourth, fifth, sixth, seventh, last = self.layers
        x = self.act(first(x))
        x = self.act(input=second(x))
        x = nn.functional.relu(third(x))
        x = nn.functional.relu(fourth(x), inplace=True)
        x = torch.relu(input=fifth(x))
        x = torch.relu_(sixth(x))
        x = seventh(x).relu()
        x = last(x).relu_()
        return self.norm(self.act(self.block(x - 0.5)))


class InPlace(WithRelus):
    """In-place ReLUs, one without users, whose input is used or returned later; other calls that write in place."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(4, 4)
        self.rectify = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.enter(x)
        before = hidden * 3.0
        hidden.relu_()
        hidden.add_(-0.5)
        nn.functional.relu(before, inplace=True)
        middle = hidden + before
        active = self.rectify(middle)
        middle.mul_(2.0)
        last = middle - 1.0
        torch.relu_(last)
        result = hidden * 1.0
        result.relu_()
        return torch.cat([hidden, active, middle, last], dim=-1), result


class Skips(WithRelus):
    """Changes its input; the input of a ReLU is used later, in a sum, a difference and a product."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(4, 4)
        self.act = nn.ReLU()

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x.add_(1.0)
        hidden = self.enter(x)
        joined = torch.relu(hidden) + hidden
        return self.act(joined) - joined, nn.functional.relu(hidden) * hidden


class Residual(WithRelus):
    """Batch norms, which collect statistics in every run; a block that is called twice; a ReLU named like a method."""

    shape = (2, 1, 6, 6)

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv2d(1, 3, 3, padding=1)
        self.body = nn.Sequential(
            nn.BatchNorm2d(3), nn.ReLU(inplace=True), nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3)
        )
        self.mean = nn.ReLU()

    def forward(self, image: Tensor) -> Tensor:
        image = self.enter(image)
        image = self.mean(self.body(image * 1.0) + image)
        return self.mean(self.body(image * 1.0) + image).mean((2, 3))


class Relatives(WithRelus):
    """Other activations; a layer and a weight named like a ReLU; results in a dict; a leaf with GELU; a default."""

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.Linear(4, 4)
        self.relu_ = nn.Parameter(torch.randn(4))
        self.six = nn.ReLU6()
        self.leaky = nn.LeakyReLU(0.3)
        self.block = nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, activation="gelu")

    def forward(self, x: Tensor, slope: float = 0.1) -> dict[str, Tensor]:
        x = nn.functional.leaky_relu(self.leaky(self.relu(x)), slope)
        return {
            "six": self.six(x * 4.0),
            "clamped": x.clamp(min=0.0),
            "mixed": self.block(x + self.relu_),
            "last": torch.relu(x),
        }


class Encoder(WithRelus):
    """A transformer layer, which is a leaf and runs a ReLU in place."""

    hidden_inside = "block"

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.block = nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, activation=torch.relu_)

    def forward(self, x: Tensor) -> Tensor:
        return self.block(self.enter(x))


class FrozenEncoder(Encoder):
    """No weight requires a gradient, so the layer calls a fused operator, whose name does not mention ReLU."""

    shape = (2, 3, 4)

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, batch_first=True)
        self.eval().requires_grad_(False)


class Ending(WithRelus):
    """Two inputs, and a cell whose ReLU runs last."""

    inputs = 2
    hidden_inside = "memory"

    def __init__(self) -> None:
        super().__init__()
        # If a weight required a gradient, `detach` would run after the ReLU.
        self.memory = nn.RNNCell(4, 4, nonlinearity="relu").requires_grad_(False)

    def example(self) -> tuple[Tensor, ...]:
        return *super().example(), torch.randn(self.shape)

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        return self.memory(torch.relu(x), before)


@fx.wrap
def applied(part: nn.Module, value: Tensor) -> Tensor:
    """A function with a module as an argument."""
    return part(value)


class Shared(WithRelus):
    """Two ReLU modules; a leaf also runs one of them, and a function also runs the other."""

    hidden_inside = "block"

    def __init__(self) -> None:
        super().__init__()
        self.act = nn.ReLU()
        self.block = nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, activation=nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.block(applied(self.act, self.act(x) - 0.1))
        return self.block.activation(hidden)


def rectified(name: str, build: type[WithRelus], unseen: bool = True) -> Case:
    """A case in which the answer gets the model and inputs to run it on."""
    return Case(
        name,
        build,
        lambda: tuple(torch.randn(build.shape) for _ in range(build.inputs)),
        unseen=unseen,
        given=lambda model: (model, *model.example()),  # type: ignore[operator]
    )


def or_refused(answer: Any, model: nn.Module, *inputs: Any) -> Any:
    """What the answer returns or, after a ``ValueError`` about a ReLU in a leaf, a graph that returns ``REFUSED``."""
    try:
        return answer(model, *inputs)
    except ValueError:
        if getattr(model, "hidden_inside", None) is None:
            raise
    graph = fx.Graph()
    for index in range(len(inputs)):
        graph.placeholder(f"input_{index}")
    graph.output(REFUSED)
    return fx.GraphModule({}, graph)


USAGE = Usage(
    "pass",
    cases=(
        rectified("every spelling", EverySpelling, unseen=False),
        rectified("in place, with later uses", InPlace),
        rectified("not in place, with later uses", Skips),
        rectified("batch norm, and a block called twice", Residual),
        rectified("activations other than ReLU", Relatives),
        rectified("a leaf module with a ReLU inside", Encoder),
        rectified("two inputs, and a leaf module with a ReLU at the end", Ending),
        rectified("a frozen leaf module with a ReLU", FrozenEncoder),
        rectified("a ReLU that a leaf module also uses", Shared),
    ),
    call=or_refused,
)
