"""Tell whether a pass changes a graph, and how often: testing a pass on graphs that it leaves alone proves nothing."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx, nn
from torch.fx.node import map_arg
from torch.fx.passes.infra.pass_base import PassResult

from fxbook.passes.growing.limits import Limits

Pass = Callable[[fx.GraphModule], Any]
Maker = Callable[[Limits, int], fx.GraphModule]
_TRIED = 120


class HowOften(NamedTuple):
    """How many of ``of`` graphs a pass changed, and on how many it raised an error."""

    changed: int
    raised: int
    of: int

    def __str__(self) -> str:
        return f"changed {self.changed}" + f", raised on {self.raised}" * bool(self.raised) + f" of {self.of}"


def count(run: Pass, graphs: Iterable[fx.GraphModule]) -> HowOften:
    answers = []
    for module in graphs:
        try:
            answers.append(changes(run, module))
        except Exception:
            answers.append(None)
    return HowOften(answers.count(True), answers.count(None), len(answers))


def concerns(run: Pass, module: fx.GraphModule) -> bool:
    """Whether the pass changes the graph or raises, so that a test of it is meaningful."""
    return bool(sum(count(run, [module])[:2]))


def first_changed(run: Pass, limits: Limits, make: Maker, seed: int = 0) -> fx.GraphModule | None:
    """The first graph that the pass changes or fails on: the one for this seed, or for a seed derived from it."""
    following = random.Random(seed)
    numbers = [seed, *(following.getrandbits(32) for _ in range(_TRIED - 1))]
    return next(filter(functools.partial(concerns, run), (make(limits, number) for number in numbers)), None)


def why_none(run: Pass, limits: Limits, make: Maker) -> str:
    name = getattr(run, "__name__", type(run).__name__)
    cures = (
        f"with {told} it changes some"
        for told, other, tried in _others(limits)
        if any(concerns(run, make(other, number)) for number in range(tried))
    )
    cure = next(cures, "add what it looks for: also=[...] adds calls and modules")
    return f"`{name}` changed 0 of {_TRIED} random graphs: {cure}"


def _others(limits: Limits) -> Iterator[tuple[str, Limits, int]]:
    switches = [field.name for field in dataclasses.fields(Limits) if field.default is True]
    for name in switches:
        if not getattr(limits, name):
            yield f"{name}=True", dataclasses.replace(limits, **{name: True}), _TRIED // 4
    yield "all switches on", dataclasses.replace(limits, **dict.fromkeys(switches, True)), _TRIED // 4
    if limits.functions is not None:
        yield "more than `functions`", dataclasses.replace(limits, functions=None), _TRIED // 4
    yield f"train={not limits.train}", dataclasses.replace(limits, train=not limits.train), _TRIED // 4
    dialect = "torch" if limits.dialect == "aten" else "aten"
    # Each of these takes a long time.
    yield f'dialect="{dialect}"', dataclasses.replace(limits, dialect=dialect), _TRIED // 15


def changes(run: Pass, module: fx.GraphModule) -> bool:
    """Whether a pass turns a copy of the module into a different program, whatever the pass reports.

    New names and new meta do not count as changes. Nor does retracing, which inlines modules, since many passes begin
    with it.
    """
    returned = run(given := copy.deepcopy(module))
    after = returned.graph_module if isinstance(returned, PassResult) else returned
    after = after if isinstance(after, fx.GraphModule) else given
    if _alike(module, after):
        return False
    # If a module cannot be traced again, the pass has not traced it.
    with contextlib.suppress(Exception):
        return not _alike(fx.symbolic_trace(copy.deepcopy(module)), after)
    return True


def _alike(one: fx.GraphModule, other: fx.GraphModule) -> bool:
    return _calls(one) == _calls(other) and all(map(_same, _used(one), _used(other)))


def _calls(module: fx.GraphModule) -> list[tuple[Any, ...]]:
    place = {node: f"%{number}" for number, node in enumerate(module.graph.nodes)}
    return [
        (node.op, "" if node.op == "placeholder" else node.target, repr(map_arg((node.args, node.kwargs), place.get)))
        for node in place
    ]


def _used(module: fx.GraphModule) -> Iterator[Any]:
    for node in module.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            yield functools.reduce(getattr, node.target.split("."), module)


def _same(one: Any, other: Any) -> bool:
    match one, other:
        case Tensor(), Tensor():
            settings = [(held.dtype, held.shape, held.requires_grad) for held in (one, other)]
            return settings[0] == settings[1] and torch.equal(one, other)
        case fx.GraphModule(), fx.GraphModule():
            return _alike(one, other)
        case nn.Module(), nn.Module():
            texts = [(repr(module), [below.training for below in module.modules()]) for module in (one, other)]
            return texts[0] == texts[1] and all(map(_same, _tensors(one), _tensors(other)))
    return type(one) is type(other)


def _tensors(module: nn.Module) -> Iterator[Tensor]:
    yield from module.parameters()
    yield from module.buffers()
