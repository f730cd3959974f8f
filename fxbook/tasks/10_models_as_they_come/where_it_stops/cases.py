"""Real models, and small models whose trace stops for several reasons or succeeds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from torch import Tensor, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of
from fxbook.cases.zoo import ERRORS

from ..cases import wrapped


class Asking(nn.Module):
    """Its ``forward`` asks about a shape or counts the rows, which stops the trace; or does neither."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.layer(x)
        if self.way == "shape" and x.shape[-1] != 4:
            raise ValueError("four features were expected")
        if self.way == "count":
            return sum(hidden[row] for row in range(x.shape[0]))
        return hidden


class Block(nn.Module):
    """Modules in a module; some of them may stop the trace."""

    def __init__(self, *ways: str) -> None:
        super().__init__()
        self.steps = nn.ModuleList(Asking(way) for way in ways)

    def forward(self, x: Tensor) -> Tensor:
        for step in self.steps:
            x = step(x)
        return x


class Network(nn.Module):
    """Blocks; if ``asks``, its own ``forward`` stops the trace after them."""

    def __init__(self, *blocks: nn.Module, asks: bool = False) -> None:
        super().__init__()
        self.blocks, self.asks = nn.Sequential(*blocks), asks

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(x)
        if self.asks:
            return x if x.norm() > 0 else -x
        return x


class Trying(nn.Module):
    """Catches an error from one module, then continues, asks about its input, re-raises the error or raises another.

    Before it re-raises the error, it catches an error from another module.
    Only the root can continue, because a Tracer stays in the scope of a module whose error another module catches.
    """

    def __init__(self, then: str, tried: nn.Module, last: nn.Module) -> None:
        super().__init__()
        self.then, self.tried, self.other, self.last = then, tried, Asking("none"), last
        self.refusing = Refusing()

    def forward(self, x: Tensor) -> Tensor:
        try:
            x = self.tried(x)
        except (TypeError, ValueError) as error:
            x = self.other(x)
            if self.then == "raise again":
                with contextlib.suppress(LookupError):
                    self.refusing(x)
                raise
            if self.then == "raise another":
                raise RuntimeError("neither of the two modules takes these rows") from error
        if self.then == "ask" and x.norm() > 0:
            return -x
        return self.last(x)


class Options:
    """Its objects cannot be arguments of nodes."""


class Refused(nn.Module):
    """Passes to a leaf an object that no node can have as an argument."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.skip = nn.Linear(4, 4), nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) if self.skip(Options()) else x


class Residual(nn.Module):
    def forward(self, x: Tensor, skipped: Tensor, *, bias: Tensor) -> Tensor:
        return x + skipped + bias


class Merged(nn.Module):
    """Calls a module with several inputs, one of them a keyword argument."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.residual = nn.Linear(4, 4), Residual()

    def forward(self, x: Tensor) -> Tensor:
        return self.residual(x, self.layer(x), bias=x)


class Sign(nn.Module):
    """Has no layers, and raises a different error in place of the error from its condition."""

    def forward(self, x: Tensor) -> Tensor:
        try:
            return x if x.norm() > 0 else -x
        except ValueError as error:
            raise LookupError("the sign of these rows is not known") from error


class Refusing(nn.Module):
    """Raises the error that ``error()`` makes."""

    def __init__(self, error: Callable[[], Exception] = lambda: LookupError("these rows are not accepted")) -> None:
        super().__init__()
        self.error = error

    def forward(self, x: Tensor) -> Tensor:
        raise self.error()


class Retrying(nn.Module):
    """Catches an error from another module and raises a new one with the same message, perhaps at the same address."""

    def __init__(self) -> None:
        super().__init__()
        self.tried = Refusing()

    def forward(self, x: Tensor) -> Tensor:
        with contextlib.suppress(LookupError):
            return self.tried(x)
        raise LookupError("these rows are not accepted")


class Backbone(nn.Module):
    """A method that its ``forward`` calls asks about a shape and adds a note to the error."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward_features(self, x: Tensor) -> Tensor:
        try:
            fits = bool(x.shape[-1] == 4)
        except Exception as error:
            error.add_note("The features are in the last dimension.")
            raise
        return self.layer(x) if fits else x

    def forward(self, x: Tensor) -> Tensor:
        return self.forward_features(x).mean(dim=-1)


class Classifier(nn.Module):
    """Calls a method of another module, so that the ``forward`` of that module does not run."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone, self.head = Backbone(), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.backbone.forward_features(x))


class Shared(nn.Module):
    """One module has two names."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.encoder = Asking(way)
        self.decoder = self.encoder

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.encoder(x))


def trying(then: str, *last: str) -> Trying:
    """A network that catches an error from a module that cannot be traced."""
    return Trying(then, Asking(one_of("shape", "count")), Block(*last))


def somewhere(*ways: str) -> Callable[[], nn.Module]:
    """Make a network in which a randomly chosen module asks in one of these ways."""

    def build() -> nn.Module:
        way, block, step = one_of(*ways), one_of(0, 1), one_of(0, 1, 2)
        rows = [["none"] * 3 for _ in range(2)]
        rows[block][step] = way
        return Network(*(Block(*row) for row in rows))

    return build


def raising(error: Callable[[], Exception]) -> Case:
    """A case with a network in which a module raises this error."""
    return _case(f"an error of class {type(error()).__name__}", lambda: Network(Block("none"), Refusing(error)))


def _case(name: str, build: Callable[[], nn.Module], unseen: bool = True) -> Case:
    return Case(name, build, tuple, unseen=unseen)


USAGE = Usage(
    "compute",
    cases=(
        _case("a network that asks about a shape", somewhere("shape"), unseen=False),
        _case("a network that counts its rows", somewhere("count"), unseen=False),
        _case("a network that can be traced", somewhere("none"), unseen=False),
        _case("a real model for images", lambda: wrapped(one_of("resnet", "vit")), unseen=False),
        _case("a real model for text", lambda: wrapped(one_of("bert", "llama"))),
        _case("a network that asks in its own forward", lambda: Network(Block("none", "none"), asks=True)),
        _case("a caught error, and an error in another module", lambda: trying("go on", "none", "shape")),
        _case("a caught error, and an error in the network itself", lambda: trying("ask")),
        _case("a caught error, and no other error", lambda: trying("go on")),
        _case("an error that is re-raised", lambda: trying("raise again")),
        _case("a new error in place of a caught one", lambda: Network(trying("raise another"))),
        _case("a leaf whose argument no node can have", lambda: Network(Block("none"), Refused())),
        _case("a module without layers", lambda: Network(Merged(), Sign())),
        _case("a method of a module whose forward does not run", lambda: Network(Block("none"), Classifier())),
        _case("a model that catches an error and raises its own", Retrying),
        *map(raising, ERRORS),
        _case("a module with two names", lambda: Shared(one_of("shape", "count"))),
    ),
    given=lambda model: (model,),
)
