"""All spellings of one operation: ``torch.relu(x)``, ``F.relu(x)``, ``x.relu()``, ``nn.ReLU()(x)``, ``x.relu_()``.

A rule that counts operations or checks where they are names a family, so that a right answer passes in any spelling.
"""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

import torch
from torch import nn

from fxbook.graph.naming import callable_name
from fxbook.graph.record import NodeRecord

_NAMESPACES = (torch, torch.nn.functional, torch.Tensor, torch.special, torch.linalg, operator)


@dataclasses.dataclass(frozen=True)
class Family:
    """The spellings of one operation; ``node in family`` says whether a node is one of them.

    ``label`` is its name in reports. ``functions`` are readable targets of ``call_function``, ``methods`` targets of
    ``call_method``, ``modules`` the (readable) classes that a ``call_module`` calls.
    """

    label: str
    functions: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()

    def __contains__(self, node: NodeRecord) -> bool:
        match node.op:
            case "call_function":
                return node.target in self.functions or node.target.split(".")[:4] in self._aten()
            case "call_method":
                return node.target in self.methods
            case "call_module":
                return node.kind in self.modules
            case _:
                return False

    def __or__(self, other: Family) -> Family:
        return Family(
            f"{self.label} or {other.label}",
            self.functions | other.functions,
            self.methods | other.methods,
            self.modules | other.modules,
        )

    def called(self, label: str) -> Family:
        return dataclasses.replace(self, label=label)

    def _aten(self) -> list[list[str]]:
        return [["torch", "ops", "aten", method] for method in self.methods]


def family(*names: str, modules: tuple[type[nn.Module], ...] = (), functions: tuple[Any, ...] = ()) -> Family:
    """Every spelling of an operation that torch knows under these names.

    Args:
        names: ``"add", "iadd"``: looked up, with and without a trailing underscore, in ``torch``,
            ``torch.nn.functional``, ``torch.special``, ``torch.linalg`` and ``operator``, and taken as method names
            (``add`` also as ``__add__`` and ``__radd__``). The first is the label.
        modules: classes of ``torch.nn`` that compute it.
        functions: further functions, such as one of the exercise's own.
    """
    spelled = [variant for name in names for variant in (name, f"{name}_")]
    methods = {*spelled, *(f"__{side}{name}__" for name in names for side in ("", "r", "i"))}
    found = [vars(space)[name] for space in _NAMESPACES for name in spelled if name in vars(space)]
    found += [getattr(torch.Tensor, name) for name in methods if hasattr(torch.Tensor, name)]
    return Family(
        names[0],
        frozenset(callable_name(function) for function in (*found, *functions) if callable(function)),
        frozenset(methods),
        frozenset(f"torch.nn.{module.__name__}" for module in modules),
    )


RELU = family("relu", modules=(nn.ReLU,))
GELU = family("gelu", modules=(nn.GELU,))
TANH = family("tanh", modules=(nn.Tanh,))
LINEAR = family("linear", modules=(nn.Linear,))
CONV2D = family("conv2d", modules=(nn.Conv2d,))
LAYER_NORM = family("layer_norm", modules=(nn.LayerNorm,))
ADD = family("add", "iadd")
SUB = family("sub", "isub", "subtract")
MUL = family("mul", "imul", "multiply")
NEG = family("neg", "negative")
