"""Models with modules of a class that the answer has to keep whole, and that class."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.fx.proxy import TraceError

from fxbook.cases import Case, Usage

from ..cases import Sharpen


class Whole(nn.Module):
    """A model that stores the class of the modules to keep whole."""

    kind: type[nn.Module] = Sharpen


class Sharpened(Whole):
    """The classifier of the chapter."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)
        self.sharpen = Sharpen()

    def forward(self, x: Tensor, times: int | None = None) -> Tensor:
        return self.sharpen(self.head(torch.relu(self.body(x))), times)


class Doubled(Sharpen):
    """A subclass of the class to keep."""

    def forward(self, scores: Tensor, times: int | None = None) -> Tensor:
        return super().forward(scores * 2.0, times)


class Annealed(Doubled):
    """A subclass of a subclass, with a different name."""


class SharpenOnce(nn.Module):
    """Not a subclass of ``Sharpen``, although its name suggests it."""

    def forward(self, scores: Tensor) -> Tensor:
        return scores * 1.5


class Block(nn.Module):
    """A user-defined module that holds another."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.inner = inner

    def forward(self, x: Tensor, skip: Tensor, factor: float = 1.0) -> Tensor:
        return self.inner(self.layer(x)) * factor + skip


class Nested(Whole):
    """Modules to keep: inside other modules, in a list, of a subclass, and called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(Sharpen()), Block(Annealed()), Block(SharpenOnce())])
        self.last = nn.Sequential(nn.Tanh(), Sharpen())

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x, x, factor=0.5)
        return self.last[1](self.last(x), times=2)


class Residual(nn.Sequential):
    """A subclass of a container, which can be traced."""

    def forward(self, x: Tensor) -> Tensor:
        return x + super().forward(x)


class Tower(Whole):
    """torch's containers, and an instance of a subclass, all of which tracing enters by default."""

    kind = nn.Sequential

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.right = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Sigmoid()))
        self.residual = Residual(nn.Linear(4, 4), nn.Tanh())
        self.join = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.residual(x)
        return self.join(torch.cat([self.left(x), self.right(x)], dim=-1))


class Scaled(nn.Linear):
    """A user-defined layer, which tracing enters by default."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * 0.5


class Layered(Whole):
    """A torch layer, which tracing keeps whole anyway, and an instance of a subclass, which it does not."""

    kind = nn.Linear

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(4, 8), Scaled(8, 4)
        self.norm = nn.LayerNorm(8)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.norm(self.up(x)))


class Halved(Scaled):
    """The class to keep whole; its base class is a layer that tracing enters."""


class Based(Whole):
    """A layer to keep whole, a layer of its base class, and a layer of another class with the same name."""

    kind = Halved

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.kept = Scaled(4, 4), Halved(4, 4)
        self.namesake = type("Halved", (SharpenOnce,), {})()

    def forward(self, x: Tensor) -> Tensor:
        return self.namesake(self.kept(self.entered(x)))


# ---- how an answer is used -------------------------------------------------------------------------------------------


def keep(answer: Callable[..., Any], model: nn.Module, kind: type[nn.Module]) -> Any:
    """What the answer returns; an error from inside a module to keep whole names that module.

    Raises:
        TraceError: tracing has entered such a module, and failed there.
    """
    try:
        return answer(model, kind)
    except Exception as error:
        entered = _entered(error.__traceback__, kind)
        if entered is None:
            raise
        path = next(path for path, module in model.named_modules() if module is entered)
        message = f"tracing goes into `{path}`, which is of the class passed as `kind` ({error})"
        raise TraceError(message).with_traceback(error.__traceback__) from None


def _entered(traceback: TracebackType | None, kind: type[nn.Module]) -> nn.Module | None:
    """The module of this class in whose ``forward`` the error was raised; ``None`` if there is none."""
    while traceback is not None:
        frame = traceback.tb_frame
        module = frame.f_locals.get("self")
        if frame.f_code.co_name == "forward" and isinstance(module, kind):
            return module
        traceback = traceback.tb_next
    return None


def whole(name: str, build: type[Whole], *others: Any, training: bool = True, unseen: bool = False) -> Case:
    return Case(name, lambda: build().train(training), lambda: (torch.randn(5, 4), *others), unseen=unseen)


USAGE = Usage(
    "pass",
    cases=(
        whole("the classifier", Sharpened, 3),
        whole("nested modules, one of a subclass and one called twice", Nested, unseen=True),
        whole("containers of torch", Tower, training=False, unseen=True),
        whole("a layer of torch, and a subclass", Layered, unseen=True),
        whole("a subclass of a layer that tracing enters", Based, unseen=True),
    ),
    given=lambda model: (model, model.kind),
    call=keep,
)
