"""What a model is like before an answer sees it, and in which sentences it differs afterwards."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch import fx, nn

from fxbook.graph.record import record

# Tracing itself stores constants that it meets on the model that is traced.
_STORED_BY_TRACING = "_"
_PLAIN = (bool, int, float, str, tuple, type(None))


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """A model as it was: its modules, its tensors (kept alive, with their values copied), its graph if it has one."""

    modules: dict[str, nn.Module]
    modes: dict[str, bool]
    settings: dict[str, dict[str, str]]
    tensors: dict[str, tuple[torch.Tensor, torch.Tensor, bool]]
    nodes: list[tuple[str, str, str]] | None
    code: str | None

    @classmethod
    def of(cls, model: nn.Module) -> Snapshot:
        """Take it."""
        modules = dict(model.named_modules())
        tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        is_graph = isinstance(model, fx.GraphModule)
        return cls(
            modules,
            {path: module.training for path, module in modules.items()},
            {path: _settings(module) for path, module in modules.items()},
            {name: (held, held.detach().clone(), held.requires_grad) for name, held in tensors.items()},
            [(node.name, node.op, node.call) for node in record(model)] if is_graph else None,
            model.code if is_graph else None,
        )

    def changes(self, model: nn.Module) -> list[str]:
        """What is different now, the most telling first; each is a sentence without its stop."""
        now = Snapshot.of(model)
        return [
            *_graph_changes(self, now),
            *_module_changes(self.modules, now.modules),
            *_tensor_changes(self.tensors, now.tensors),
            *(
                f"{_called(path)} is now in {'training' if mode else 'eval'} mode"
                for path, mode in now.modes.items()
                if self.modes.get(path, mode) != mode
            ),
            *_setting_changes(self.settings, now.settings),
        ]


def _settings(module: nn.Module) -> dict[str, str]:
    """Attributes that hold plain data, and the mere presence of others."""
    found = {}
    for name, value in vars(module).items():
        if not name.startswith(_STORED_BY_TRACING) and name != "training":
            found[name] = repr(value)[:200] if isinstance(value, _PLAIN) else type(value).__name__
    return found


def _graph_changes(before: Snapshot, now: Snapshot) -> list[str]:
    if before.nodes is None or now.nodes is None:
        return []
    if before.nodes != now.nodes:
        old = {node[0] for node in before.nodes}
        new = {node[0] for node in now.nodes}
        differing = (a[0] for a, b in zip(before.nodes, now.nodes, strict=False) if a != b)
        name = next((n for n in (*sorted(new - old), *sorted(old - new), *differing)), None)
        return [f"its graph was edited, at node `{name}`"]
    return ["its code was compiled anew"] if before.code != now.code else []


def _module_changes(before: dict[str, nn.Module], now: dict[str, nn.Module]) -> list[str]:
    added = [f"it has a new submodule `{path}`" for path in now if path not in before]
    removed = [f"its submodule `{path}` is gone" for path in before if path not in now]
    other = [f"{_called(path)} is another object" for path in before if path in now and before[path] is not now[path]]
    return other + added + removed


def _tensor_changes(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    said = [f"it has a new weight `{name}`" for name in now if name not in before and not name.startswith("_")]
    for name, (held, values, grad) in before.items():
        if name not in now:
            said.append(f"its weight `{name}` is gone")
        elif now[name][0] is not held:
            said.append(f"its weight `{name}` is another object")
        elif not _equal(values, now[name][1]):
            said.append(f"its weight `{name}` has other values")
        elif now[name][2] != grad:
            said.append(f"its weight `{name}` has another requires_grad")
    return said


def _setting_changes(before: dict[str, dict[str, str]], now: dict[str, dict[str, str]]) -> list[str]:
    said = []
    for path, old in before.items():
        new = now.get(path, old)
        said += [f"{_called(path)} has a new attribute `{name}`" for name in new if name not in old]
        said += [f"{_called(path)} has lost its attribute `{name}`" for name in old if name not in new]
        said += [f"the attribute `{n}` of {_called(path)} has changed" for n in old if n in new and old[n] != new[n]]
    return said


def _called(path: str) -> str:
    return f"`{path}`" if path else "the model"


def _equal(before: torch.Tensor, now: torch.Tensor) -> bool:
    if before.shape != now.shape or before.dtype != now.dtype:
        return False
    return torch.equal(before, now) or torch.allclose(before, now, rtol=0, atol=0, equal_nan=before.is_floating_point())
