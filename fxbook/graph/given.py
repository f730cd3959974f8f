"""A snapshot of the model that an answer is given, to tell afterwards which objects are the same and unchanged.

The grader uses the methods about single objects (:meth:`Given.path_of` and those after it); a learner reads the list of
changes (:meth:`Given.changes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import fx, nn

from fxbook.graph.naming import call_text
from fxbook.graph.stored import bytes_of, children_of, held_by, plain_tensors, settings_of

JSON = Any
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_PLAIN = (bool, int, float, str, tuple, type(None))
_GraphModule = fx.GraphModule


class Given:
    """A snapshot of a model before an answer gets it.

    It keeps ``root`` and everything in it alive, since an object's id is unique only while the object lives, and copies
    the values of its tensors.
    """

    def __init__(self, root: nn.Module) -> None:
        self.root = root
        # An id identifies an object only as long as the object lives.
        self._modules = dict(root.named_modules())
        self._weights = _weights_of(root)
        self._paths = {id(module): path for path, module in self._modules.items()}
        self._states = {id(module): _state(module) for module in self._modules.values()}
        self._looks = {path: _look_of(module) for path, module in self._modules.items()}
        self._manners = {id(module): _Manners.of(module) for module in self._modules.values()}
        self._program = _program_of(root)
        self._annotations = _annotations_of(root)
        self.kinds: dict[type, str] = {}
        self.tensors: dict[int, str] = {}
        self._values: dict[int, _Values] = {}
        for path, module in self._modules.items():
            self.kinds.setdefault(type(module), path)
            for name, held in held_by(module):
                self.tensors.setdefault(id(held), f"{path}.{name}" if path else name)
                if id(held) not in self._values:
                    has_grad = held.is_leaf and held.grad is not None
                    copy, names = held.detach().clone(), _names_on(held)
                    self._values[id(held)] = _Values(held, copy, held.requires_grad, has_grad, names)

    def path_of(self, module: nn.Module) -> str | None:
        """The path of the object in the model, or ``None`` if it is a different object or its class was changed."""
        known = id(module) in self._paths and self._states[id(module)][0] is type(module)
        return self._paths[id(module)] if known else None

    def is_as_it_was(self, module: nn.Module) -> bool:
        return all(
            id(inner) in self._states
            and self._states[id(inner)] == _state(inner)
            and all(self.holds_what_it_held(held) for _, held in held_by(inner))
            for inner in module.modules()
        )

    def holds_what_it_held(self, tensor: torch.Tensor) -> bool:
        if id(tensor) not in self._values:
            return False
        before, grad = self._values[id(tensor)].copy, self._values[id(tensor)].requires_grad
        same = before.shape == tensor.shape and before.dtype == tensor.dtype and before.layout == tensor.layout
        same = same and grad == tensor.requires_grad
        # Values are compared as bytes: nan equals nan, and 0.0 differs from -0.0.
        return same and torch.equal(bytes_of(before), bytes_of(tensor))

    # ---- in words ----------------------------------------------------------------------------------------------------

    def changes(self) -> list[str]:
        """What has changed, the most important first; each is a sentence without its full stop."""
        now = dict(self.root.named_modules())
        return [
            *_program_changes(self._program, _program_of(self.root)),
            *_module_changes(self._modules, now),
            *self._weight_changes(_weights_of(self.root)),
            *_look_changes(self._looks, {path: _look_of(module) for path, module in now.items()}),
            *(said for said in self.touched() if " hook" in said or said.endswith(" its own `forward`")),
        ]

    def touched(self) -> list[str]:
        """What has changed that no edit to a graph should change: hooks, modes, values of tensors, annotations."""
        return [
            *(said for path, module in self._modules.items() for said in self._touched(path, module)),
            *(said for name, held in self._weights.items() for said in self._held_otherwise(name, held)),
            *self._annotated_otherwise(),
        ]

    def _touched(self, path: str, module: nn.Module) -> Iterator[str]:
        before = self._manners[id(module)]
        now = _Manners.of(module)
        if now.hooks != before.hooks:
            count = now.hooks - before.hooks
            hooks = f"{abs(count)} {'more' if count > 0 else 'fewer'} hook{'' if abs(count) == 1 else 's'}"
            yield f"{_called(path)} has {hooks} than before"
        if now.training != before.training:
            yield f"{_called(path)} is now in {'training' if now.training else 'eval'} mode"
        if now.own_forward and not before.own_forward:
            yield f"{_called(path)} now has its own `forward`"

    def _held_otherwise(self, name: str, held: torch.Tensor) -> Iterator[str]:
        before = self._values[id(held)]
        if not _equal(before.copy, held.detach()):
            yield f"the weight `{name}` has different values"
        if held.requires_grad != before.requires_grad:
            yield f"the weight `{name}` has a different requires_grad"
        if (held.is_leaf and held.grad is not None) and not before.has_grad:
            yield f"the weight `{name}` has a gradient"
        for more in sorted(_names_on(held) - before.names):
            yield f"the weight `{name}` has a new attribute `{more}`"

    def _annotated_otherwise(self) -> Iterator[str]:
        """The inputs and the result that are still in the graph, if their annotation in the signature has changed."""
        for node, op, annotation in self._annotations:
            if not node._erased and node.op == op and node.type != annotation:
                what = "the result" if op == "output" else f"the input `{node.target}`"
                yield f"{what} has a different annotation, {_type_text(node.type)} in place of {_type_text(annotation)}"

    def _weight_changes(self, now: dict[str, torch.Tensor]) -> Iterator[str]:
        yield from (
            f"it has a new weight `{name}`" for name in now if name not in self._weights and not name.startswith("_")
        )
        for name, held in self._weights.items():
            before = self._values[id(held)]
            if name not in now:
                yield f"its weight `{name}` is gone"
            elif now[name] is not held:
                yield f"its weight `{name}` is a different object"
            elif not _equal(before.copy, held.detach()):
                yield f"its weight `{name}` has different values"
            elif held.requires_grad != before.requires_grad:
                yield f"its weight `{name}` has a different requires_grad"
            elif more := sorted(_names_on(held) - before.names):
                yield f"its weight `{name}` has a new attribute `{more[0]}`"


class _Values(NamedTuple):
    tensor: torch.Tensor
    copy: torch.Tensor
    requires_grad: bool
    has_grad: bool
    names: set[str]


class _Manners(NamedTuple):
    """How a module is run: its hooks, its training mode, and whether the object has its own forward."""

    hooks: int
    training: bool
    own_forward: bool

    @classmethod
    def of(cls, module: nn.Module) -> _Manners:
        own_forward = "forward" in vars(module) and not isinstance(module, _GraphModule)
        return cls(sum(len(getattr(module, name, ())) for name in HOOKS), module.training, own_forward)


def _weights_of(model: nn.Module) -> dict[str, torch.Tensor]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def _names_on(tensor: torch.Tensor) -> set[str]:
    """The attributes that somebody has set on a tensor; torch's own begin with ``_``."""
    return {name for name in vars(tensor) if not name.startswith("_")}


# ---- what a module holds ---------------------------------------------------------------------------------------------


def _state(module: nn.Module) -> Any:
    """Everything that must stay equal in an unchanged module, except the values of its tensors."""
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


# ---- what people are told about a module -----------------------------------------------------------------------------


def _annotations_of(model: nn.Module) -> list[tuple[fx.Node, str, Any]]:
    nodes = model.graph.nodes if isinstance(model, _GraphModule) else ()
    return [(node, node.op, node.type) for node in nodes if node.op in ("placeholder", "output")]


def _type_text(annotation: Any) -> str:
    return str(getattr(annotation, "__name__", annotation))


class _Program(NamedTuple):
    nodes: list[tuple[str, str, str, str]]
    code: str


def _program_of(model: nn.Module) -> _Program | None:
    if not isinstance(model, _GraphModule):
        return None
    return _Program([(node.name, node.op, call_text(node), str(node.type)) for node in model.graph.nodes], model.code)


def _program_changes(before: _Program | None, now: _Program | None) -> list[str]:
    if before is None or now is None:
        return []
    if before.nodes != now.nodes:
        old, new = {node[0] for node in before.nodes}, {node[0] for node in now.nodes}
        differing = (was[0] for was, node in zip(before.nodes, now.nodes, strict=False) if was != node)
        name = next((name for name in (*sorted(new - old), *sorted(old - new), *differing)), None)
        return [f"its graph was edited, at node `{name}`"]
    return ["its code was recompiled"] if before.code != now.code else []


def _module_changes(before: dict[str, nn.Module], now: dict[str, nn.Module]) -> list[str]:
    added = [f"it has a new submodule `{path}`" for path in now if path not in before]
    removed = [f"its submodule `{path}` is gone" for path in before if path not in now]
    other = [
        f"{_called(path)} is a different object" for path in before if path in now and before[path] is not now[path]
    ]
    return other + added + removed


class _Look(NamedTuple):
    """A module's training mode and its public attributes: plain data as text, any other value by its class name."""

    training: bool
    attributes: dict[str, str]


def _look_of(module: nn.Module) -> _Look:
    # Tracing stores constants on the traced model under names that begin with an underscore.
    attributes = {
        name: repr(value)[:200] if isinstance(value, _PLAIN) else type(value).__name__
        for name, value in vars(module).items()
        if not name.startswith("_") and name != "training"
    }
    return _Look(module.training, attributes)


def _look_changes(before: dict[str, _Look], now: dict[str, _Look]) -> Iterator[str]:
    for path, look in now.items():
        if before.get(path, look).training != look.training:
            yield f"{_called(path)} is now in {'training' if look.training else 'eval'} mode"
    for path, look in before.items():
        old, new = look.attributes, now.get(path, look).attributes
        yield from (f"{_called(path)} has a new attribute `{name}`" for name in new if name not in old)
        yield from (f"{_called(path)} has lost its attribute `{name}`" for name in old if name not in new)
        differing = (name for name in old if name in new and old[name] != new[name])
        yield from (f"the attribute `{name}` of {_called(path)} has changed" for name in differing)


def _called(path: str) -> str:
    return f"`{path}`" if path else "the model"


def _equal(before: torch.Tensor, now: torch.Tensor) -> bool:
    if before.shape != now.shape or before.dtype != now.dtype:
        return False
    may_hold_nan = before.is_floating_point() or before.is_complex()
    return torch.equal(before, now) or torch.allclose(before, now, rtol=0, atol=0, equal_nan=may_hold_nan)
