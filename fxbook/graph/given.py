"""The model that an answer is given, remembered as it is: to know afterwards what is the same object, and as it was."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx, nn

from fxbook.graph.plain import plain

JSON = Any
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_MISSING = object()
_Module, _Tensor, _GraphModule = nn.Module, torch.Tensor, fx.GraphModule


class Given:
    """The model that an answer gets, as it is before: afterwards it tells what is the same object, and as it was.

    Args:
        root: the model; kept alive, and the values of its tensors copied.
    """

    def __init__(self, root: nn.Module) -> None:
        self.root = root
        # An identity tells an object only as long as it lives.
        self._kept: list[Any] = [root]
        self._paths: dict[int, str] = {}
        self.kinds: dict[type, str] = {}
        self.tensors: dict[int, str] = {}
        self._values: dict[int, tuple[torch.Tensor, bool]] = {}
        self._states: dict[int, Any] = {}
        for path, module in root.named_modules():
            self._kept.append(module)
            self._paths[id(module)] = path
            self.kinds.setdefault(type(module), path)
            self._states[id(module)] = _state(module)
            for name, held in held_by(module):
                self.tensors.setdefault(id(held), f"{path}.{name}" if path else name)
                self._values.setdefault(id(held), (held.detach().clone(), held.requires_grad))
                self._kept.append(held)

    def path_of(self, module: nn.Module) -> str | None:
        """The path at which the object was given, ``None`` for another one, or one that is of another class now."""
        known = id(module) in self._paths and self._states[id(module)][0] is type(module)
        return self._paths[id(module)] if known else None

    def is_as_it_was(self, module: nn.Module) -> bool:
        """Whether a module that was given, and everything inside it, is what it was."""
        return all(
            id(inner) in self._states
            and self._states[id(inner)] == _state(inner)
            and all(self.holds_what_it_held(held) for _, held in held_by(inner))
            for inner in module.modules()
        )

    def holds_what_it_held(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is one that was given, with the values that it had."""
        if id(tensor) not in self._values:
            return False
        before, grad = self._values[id(tensor)]
        same = before.shape == tensor.shape and before.dtype == tensor.dtype and before.layout == tensor.layout
        same = same and grad == tensor.requires_grad
        # Compared as bytes: nan equals nan, and 0.0 is not -0.0.
        return same and torch.equal(bytes_of(before), bytes_of(tensor))


# ---- what a module holds ---------------------------------------------------------------------------------------------


def _state(module: nn.Module) -> Any:
    """What tells whether a module is what it was, but for the values of its tensors."""
    return (
        type(module),
        module.training,
        settings_of(module),
        [(name, id(child)) for name, child in children_of(module)],
        [(name, id(held)) for name, held in (*module._parameters.items(), *module._buffers.items())],
        sorted(module._non_persistent_buffers_set),
        [(name, id(held)) for name, held in plain_tensors(module)],
        [len(getattr(module, name, ())) for name in HOOKS],
        "forward" in vars(module) and not isinstance(module, _GraphModule),
    )


def children_of(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """Its submodules by name, without those that are ``None``."""
    return [(name, child) for name, child in module._modules.items() if isinstance(child, _Module)]


def held_by(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Its own parameters, buffers and other tensors by name."""
    found = (*module._parameters.items(), *module._buffers.items(), *plain_tensors(module))
    return [(name, held) for name, held in found if held is not None]


def plain_tensors(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Its attributes that are tensors, and neither parameters nor buffers."""
    return [(name, held) for name, held in vars(module).items() if isinstance(held, _Tensor)]


def settings_of(module: nn.Module) -> dict[str, JSON]:
    """The attributes that are plain data, by name; those of torch itself begin with ``_``."""
    return {
        name: value
        for name, held in vars(module).items()
        if not name.startswith("_") and name != "training" and (value := _setting(held)) is not _MISSING
    }


def _setting(value: Any, depth: int = 0) -> Any:
    if isinstance(value, bool | int | float | str | None):
        return plain(value, lambda _: None)
    if isinstance(value, tuple | list) and len(value) <= 20 and depth < 3:
        items = [_setting(item, depth + 1) for item in value]
        if all(item is not _MISSING for item in items):
            return {"tuple": items} if isinstance(value, tuple) else items
    return _MISSING


# ---- bytes -----------------------------------------------------------------------------------------------------------


def bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a dense tensor, in the order of its elements."""
    flat = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return flat.view(torch.uint8)
