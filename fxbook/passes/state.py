"""Compare what optimizers and callers rely on: kinds, order, ties and identity of parameters, and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, fx, nn

from fxbook.graph.stored import bytes_of, plain_tensors
from fxbook.passes.copying import HOOKS_OF_TENSORS

# Attributes and meta keys of torch.export that torch's own passes drop.
_OF_EXPORT = {"range_constraints", "validate_inputs", "inline_constraints", "forward_arg_names"}


class Otherwise(NamedTuple):
    """A difference, as a sentence without its full stop, and what to do about it."""

    what: str
    cure: str


def otherwise(before: nn.Module, after: nn.Module) -> Iterator[Otherwise]:
    """The differences in state that the names in ``state_dict`` do not show."""
    was, now = _held(before), _held(after)
    stored = {**dict(plain_tensors(before)), **was}
    for name, held in {**dict(plain_tensors(after)), **now}.items():
        if not held.is_leaf and (name not in stored or stored[name].is_leaf):
            yield Otherwise(
                f"`{name}` keeps the history of its computation ({held.grad_fn.name()}), so copy.deepcopy rejects the "
                "module",
                "compute it in a block, `with torch.no_grad():`",
            )
    for name, held in was.items():
        if name in now and _kind(held) != _kind(now[name]):
            lost = _kind(held) == "parameter"
            yield Otherwise(
                f"`{name}` is a {_kind(now[name])} instead of a {_kind(held)}; "
                + ("an optimizer no longer gets it" if lost else "an optimizer would train it"),
                f"register it as a {_kind(held)}",
            )
    first: dict[int, str] = {}
    for name, held in was.items():
        other = first.setdefault(id(held), name)
        if other != name and {name, other} <= now.keys() and now[name] is not now[other]:
            yield Otherwise(
                f"`{other}` and `{name}` were one tensor and are now two", "put the new one under both names"
            )
    for name, held in before.named_parameters():
        if (new := now.get(name)) is not None and (lost := _extras(held) - _extras(new)):
            yield Otherwise(f"the parameter `{name}` has lost its {min(lost)}", "copy it to the new parameter")
    for name in _attributes(before) - vars(after).keys():
        yield Otherwise(f"the module has lost its attribute `{name}`", "copy it to the module that you return")
    for name in getattr(before, "meta", {}).keys() - getattr(after, "meta", {}).keys() - _OF_EXPORT:
        yield Otherwise(f"the module has lost meta[{name!r}]", "copy the meta to the module that you return")
    yield from _plain_otherwise(before, after)


def _plain_otherwise(before: nn.Module, after: nn.Module) -> Iterator[Otherwise]:
    """Differences in plain tensors: tensors that no node uses must stay, and a node must not use a new one."""
    was, now = (dict(plain_tensors(module)) for module in (before, after))
    reads = {node.target for module in (before, after) for node in _nodes(module) if node.op == "get_attr"}
    old, new = _held(before), _held(after)
    called = {node.target for node in _nodes(before) if node.op in ("call_module", "get_attr")}
    for name in old.keys() & new.keys():
        parts = name.split(".")
        read = any(".".join(parts[:end]) in called for end in range(1, len(parts) + 1))
        if not read and not _same(old[name], new[name]):
            yield Otherwise(
                f"`{name}`, which no node read, holds different numbers", "store a new tensor under a new name"
            )
    for name, held in was.items():
        if name in reads:
            continue
        if name not in vars(after) and not hasattr(after, name):
            yield Otherwise(f"the module has lost its tensor `{name}`", "copy it to the module that you return")
        elif name in now and not _same(held, now[name]):
            yield Otherwise(
                f"the tensor `{name}` holds different numbers, or is of a different kind", "leave it as it is"
            )
    for name in (name for name in now if name in reads and name not in was and not hasattr(before, name)):
        yield Otherwise(
            f"the graph reads `{name}`, a tensor that is not a buffer: module.to() leaves it where it is",
            "module.register_buffer(name, tensor, persistent=False)",
        )


def _nodes(module: nn.Module) -> Iterable[fx.Node]:
    return module.graph.nodes if isinstance(module, fx.GraphModule) else ()


def reordered(before: nn.Module, after: nn.Module) -> Otherwise | None:
    was, now = ([name for name, held in one.named_parameters() if held.requires_grad] for one in (before, after))
    old, new = [name for name in was if name in now], [name for name in now if name in was]
    for name, instead in zip(old, new, strict=True):
        if name != instead:
            return Otherwise(
                f"`{instead}` has taken the place of `{name}` among the parameters, but the saved state of an "
                "optimizer depends on their order",
                "put a new parameter where the old one was",
            )
    return None


def replaced(before: dict[str, nn.Parameter], given: nn.Module, after: nn.Module) -> Otherwise | None:
    """A parameter that is a different object with the same values, although the module is not a complete copy."""
    now = dict(after.named_parameters(remove_duplicate=False))
    others = [name for name in before if name in now and now[name] is not before[name]]
    if after is not given and not any(name in now and now[name] is before[name] for name in before):
        return None
    for name in others:
        if _same(before[name], now[name]):
            return Otherwise(
                f"`{name}` is a different parameter with the same values: an optimizer that holds the old one trains "
                "what the module no longer reads",
                "keep a parameter that does not change",
            )
    return None


def _held(module: nn.Module) -> dict[str, Tensor]:
    found = (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False))
    return {name: held for named in found for name, held in named}


def _kind(held: Tensor) -> str:
    return "parameter" if isinstance(held, nn.Parameter) else "buffer"


def _extras(held: Tensor) -> set[str]:
    """What a user has added to a tensor: attributes and hooks."""
    hooks = {name.strip("_") for name in HOOKS_OF_TENSORS if getattr(held, name, None)}
    return hooks | {f"attribute `{name}`" for name in vars(held)}


def _attributes(module: nn.Module) -> set[str]:
    """The root's attributes that a user has set, without torch's own and without methods."""
    return {
        name
        for name, value in vars(module).items()
        if name not in _OF_EXPORT
        and not name.startswith("_")
        and not callable(value)
        and type(value).__module__.split(".")[0] != "torch"
    }


def _same(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype or one.requires_grad != other.requires_grad:
        return False
    return torch.equal(bytes_of(one), bytes_of(other))
