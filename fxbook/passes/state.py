"""What a checkpoint, an optimizer and a caller find in a module: names, kinds, order, identity, attributes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.graph.given import bytes_of


@dataclasses.dataclass(frozen=True)
class State:
    """The state of a module when a pass gets it.

    Attributes:
        root: the module itself.
        names: of ``state_dict``.
        held: parameters and buffers, by each of their names; a shared one is there twice.
        attributes: of the root, that are plain data or belong to the person who set them.
    """

    root: nn.Module
    names: frozenset[str]
    held: dict[str, Tensor]
    attributes: dict[str, Any]

    @classmethod
    def of(cls, module: nn.Module) -> State:
        """Of a module as it is now."""
        held = dict(module.named_parameters(remove_duplicate=False)) | dict(
            module.named_buffers(remove_duplicate=False)
        )
        own = {name: value for name, value in vars(module).items() if not name.startswith("_") and not callable(value)}
        return cls(module, frozenset(module.state_dict()), held, own)

    @property
    def trained(self) -> list[str]:
        """The names of the parameters that an optimizer gets, in its order."""
        return [name for name, held in self.root.named_parameters() if held.requires_grad]


def lost(before: State, after: State) -> Iterator[str]:
    """What is no longer there for a checkpoint, an optimizer or a caller, in sentences without their stop."""
    if missing := sorted(before.names - after.names):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        yield f"state_dict has lost `{missing[0]}`{more}: keep the names, or document that checkpoints no longer fit"
    if new := sorted(after.names - before.names):
        yield f"state_dict has a new name `{new[0]}`: register what can be computed with persistent=False"
    for name in before.held.keys() & after.held.keys():
        was, now = (_kind(one.held[name]) for one in (before, after))
        if was != now:
            yield (
                f"`{name}` is a {now}, before: a {was}; "
                + ("an optimizer no longer gets it" if was == "parameter" else "an optimizer would train it")
                + f": register it as a {was}"
            )
    yield from _untied(before, after)
    for name in sorted(before.attributes.keys() - vars(after.root).keys()):
        yield f"the module has lost its attribute `{name}`: copy it onto the module that you return"


def _kind(held: Tensor) -> str:
    return "parameter" if isinstance(held, nn.Parameter) else "buffer"


def _untied(before: State, after: State) -> Iterator[str]:
    first: dict[int, str] = {}
    for name, held in before.held.items():
        other = first.setdefault(id(held), name)
        if other == name or not {name, other} <= after.held.keys():
            continue
        if after.held[name] is not after.held[other]:
            yield f"`{other}` and `{name}` were one tensor and are two: put the new one under both names"


def reordered(before: State, after: State) -> str | None:
    """Whether an optimizer would take the state of one parameter for that of another."""
    both = set(before.trained) & set(after.trained)
    old, new = ([name for name in names if name in both] for names in (before.trained, after.trained))
    if old == new:
        return None
    name, instead = next((was, now) for was, now in zip(old, new, strict=True) if was != now)
    return (
        f"`{instead}` stands where `{name}` stood among the parameters: the saved state of an optimizer goes by their "
        "order; put a new parameter where the old one was"
    )


def replaced(before: dict[str, Tensor], given: nn.Module, after: nn.Module) -> str | None:
    """Whether a parameter is another object with the same numbers, though the module is not a copy as a whole.

    Args:
        before: the parameters that the pass was given, by name.
        given: the module that it was given.
        after: the one that it returned.
    """
    now = dict(after.named_parameters(remove_duplicate=False))
    both = [name for name in before if name in now]
    others = [name for name in both if now[name] is not before[name]]
    if after is not given and len(others) == len(both):
        return None
    for name in others:
        old, new = before[name], now[name]
        if old.shape == new.shape and old.dtype == new.dtype and torch.equal(bytes_of(old), bytes_of(new)):
            return (
                f"`{name}` is another parameter with the same numbers: an optimizer that holds the old one trains what "
                "the module no longer reads; leave the parameter where nothing changes"
            )
    return None
