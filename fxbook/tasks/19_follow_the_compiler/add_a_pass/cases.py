"""Settings that one of Inductor's places for passes can hold, and a pass to add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import fx, nn
from torch._inductor.custom_graph_pass import CustomGraphPass

from fxbook.cases import Case, Usage
from fxbook.cases.exercise import one_of


class Step(CustomGraphPass):
    """A named pass that does nothing; its length is 0, so its truth value is false."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, graph: fx.Graph) -> None:
        """Leave the graph as it is."""

    def uuid(self) -> str:
        return self.name

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


def setting_of(kind: Callable[..., Any], count: int, has_new: bool = False) -> Callable[[nn.Module], tuple[Any, ...]]:
    """Make the arguments of the answer: a setting with ``count`` passes, and a pass to add, which may be among them."""

    def given(_: nn.Module) -> tuple[Any, ...]:
        passes = [Step(f"{one_of('fuse', 'drop', 'split')}_{place}") for place in range(count)]
        new = passes[one_of(*range(max(1, count - 1)))] if has_new else Step("new")
        return kind(passes), new

    return given


def used(answer: Callable[..., Any], setting: Any, new: Any) -> dict[str, Any]:
    """The class of what the answer returns, the names of the passes in it, and whether the setting is unchanged.

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
    """The passes, then the first pass once more."""
    return [*passes, passes[0]]


def nothing(_: list[Any]) -> None:
    """A place that holds nothing."""


USAGE = Usage(
    "compute",
    cases=(
        Case("a place that holds nothing", nn.Identity, tuple, given=setting_of(nothing, 0)),
        Case("one pass", nn.Identity, tuple, given=setting_of(single, 1)),
        Case("a list", nn.Identity, tuple, unseen=True, given=setting_of(repeated, 3)),
        Case("a tuple", nn.Identity, tuple, unseen=True, given=setting_of(tuple, 2)),
        Case("a list with the new pass", nn.Identity, tuple, unseen=True, given=setting_of(list, 3, True)),
        Case("the new pass alone", nn.Identity, tuple, unseen=True, given=setting_of(single, 1, True)),
    ),
    call=used,
)
