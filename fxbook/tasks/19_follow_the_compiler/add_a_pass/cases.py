"""What one of Inductor's places for passes can hold, and a pass to add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import fx, nn

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of


class Step:
    """A named pass that does nothing; its length is 0, so it counts as false."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, graph: fx.Graph) -> None:
        """Leave the graph as it is."""

    def __len__(self) -> int:
        return 0

    def __getitem__(self, place: int) -> None:
        raise IndexError(place)

    def __iter__(self) -> Iterator[None]:
        return iter(())


def names(setting: Any) -> list[str]:
    """The names of the passes in a setting."""
    passes = [] if setting is None else setting if isinstance(setting, list | tuple) else [setting]
    return [getattr(each, "name", type(each).__name__) for each in passes]


def held(kind: Callable[..., Any], count: int, has_new: bool = False) -> Callable[[nn.Module], tuple[Any, ...]]:
    """A setting of this kind with this number of passes, one of which may be the new pass."""

    def given(_: nn.Module) -> tuple[Any, ...]:
        passes = [Step(f"{one_of('fuse', 'drop', 'split')}_{place}") for place in range(count)]
        new = passes[one_of(*range(max(1, count - 1)))] if has_new else Step("new")
        return kind(passes), new

    return given


def used(answer: Callable[..., Any], setting: Any, new: Any) -> dict[str, Any]:
    """What the answer returns, by name, and the setting afterwards.

    Raises:
        Exception: whatever the answer raises.
    """
    before = names(setting)
    result = answer(setting, new)
    kept = names(setting) == before and result is not setting
    return {"kind": type(result).__name__, "names": names(result), "kept": kept}


def single(passes: list[Any]) -> Any:
    """The first of the passes."""
    return passes[0]


def repeated(passes: list[Any]) -> list[Any]:
    """The passes, followed by the first of them again."""
    return [*passes, passes[0]]


def nothing(_: list[Any]) -> None:
    """A place that holds nothing."""


USAGE = Usage(
    "compute",
    cases=(
        Case("a place that holds nothing", nn.Identity, tuple, given=held(nothing, 0)),
        Case("one pass", nn.Identity, tuple, given=held(single, 1)),
        Case("a list", nn.Identity, tuple, unseen=True, given=held(repeated, 3)),
        Case("a tuple", nn.Identity, tuple, unseen=True, given=held(tuple, 2)),
        Case("a list with the new pass", nn.Identity, tuple, unseen=True, given=held(list, 3, True)),
        Case("the new pass alone", nn.Identity, tuple, unseen=True, given=held(single, 1, True)),
    ),
    call=used,
)
