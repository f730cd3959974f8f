"""Models with a ReLU in all spellings, in place or not, and in leaves where tracing does not go."""

from __future__ import annotations

from typing import Any

import torch

# torch imports this at the first operator under a TorchDispatchMode, which takes most of the time that an answer has.
import torch._dynamo
from torch import Tensor, fx, nn

from fxbook.cases import Case, Usage

REFUSED = "refused"


class WithRelus(nn.Module):
    """Holds, as a buffer, an input to try it with, so a change to that input is a change to the model.

    ``hidden_inside`` names the submodule that runs a ReLU where tracing does not go.
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
    """A user-defined subclass: tracing enters it."""


class EverySpelling(WithRelus):
    """Modules: shared, nested, in a Sequential, of a subclass; functions and methods, in place or not."""

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
    """In-place ReLUs whose input is used afterwards or returned, one without users; other calls that write in place."""

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
    """Changes its input; the input of a ReLU has later users: a sum around it, and a product at the end."""

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
    """Convolutions with batch norm, which collects statistics whenever it runs; a block that is called twice, and a
    ReLU that has the name of a method.
    """

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
    """Other activations, a layer and a weight with the name of a ReLU, results in a dict; a leaf that computes
    GELU.
    """

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.Linear(4, 4)
        self.relu_ = nn.Parameter(torch.randn(4))
        self.six = nn.ReLU6()
        self.leaky = nn.LeakyReLU(0.3)
        self.block = nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, activation="gelu")

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        x = nn.functional.leaky_relu(self.leaky(self.relu(x)), 0.1)
        return {
            "six": self.six(x * 4.0),
            "clamped": x.clamp(min=0.0),
            "mixed": self.block(x + self.relu_),
            "last": torch.relu(x),
        }


class Encoder(WithRelus):
    """A transformer layer is a leaf, and runs a ReLU of its own, here in place."""

    hidden_inside = "block"

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.block = nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, activation=torch.relu_)

    def forward(self, x: Tensor) -> Tensor:
        return self.block(self.enter(x))


class FrozenEncoder(Encoder):
    """Nothing requires a gradient, so the layer calls one fused operator, whose name does not mention ReLU."""

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
        self.memory = nn.RNNCell(4, 4, nonlinearity="relu")

    def example(self) -> tuple[Tensor, ...]:
        return *super().example(), torch.randn(self.shape)

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        return self.memory(torch.relu(x), before)


@fx.wrap
def applied(part: nn.Module, value: Tensor) -> Tensor:
    """A function that gets a whole module."""
    return part(value)


class Shared(WithRelus):
    """Each called ReLU is also used elsewhere: inside a leaf, and by a function."""

    hidden_inside = "block"

    def __init__(self) -> None:
        super().__init__()
        self.act = nn.ReLU()
        self.block = nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, activation=nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.block(applied(self.act, self.act(x) - 0.1))
        return self.block.activation(hidden)


def rectified(name: str, build: type[WithRelus], unseen: bool = True) -> Case:
    """The pass is called with the model and inputs to try it with."""
    return Case(
        name,
        build,
        lambda: tuple(torch.randn(build.shape) for _ in range(build.inputs)),
        unseen=unseen,
        given=lambda model: (model, *model.example()),  # type: ignore[operator]
    )


def or_refused(answer: Any, model: nn.Module, *inputs: Any) -> Any:
    """Use the answer; a ``ValueError`` about a ReLU where tracing does not go becomes a marked result."""
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
        rectified("in place, and read afterwards", InPlace),
        rectified("not in place, and read afterwards", Skips),
        rectified("batch norm, and a block called twice", Residual),
        rectified("activations that are no ReLU", Relatives),
        rectified("a leaf module with a ReLU inside", Encoder),
        rectified("two inputs, and a leaf module with a ReLU at the end", Ending),
        rectified("a frozen leaf module with a ReLU", FrozenEncoder),
        rectified("a ReLU that a leaf module uses too", Shared),
    ),
    call=or_refused,
)
