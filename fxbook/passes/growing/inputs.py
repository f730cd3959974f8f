"""Make inputs for a graph: tensors with the shapes in its placeholders' meta, drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

_PROMISES = ("val", "example_value")
"""Keys of torch.export, make_fx and torch.compile, whose graphs hold for these sizes and symbols."""


def inputs_for(module: fx.GraphModule, rows: int | None = 3, seed: int = 0) -> tuple[Any, ...]:
    """Inputs that fit a graph, in the order of its placeholders.

    Args:
        module: a random graph, or any graph whose placeholders have ``meta["tensor_meta"]`` (from ``ShapeProp``),
            ``meta["val"]`` (``torch.export``, ``make_fx``) or ``meta["example_value"]`` (``torch.compile``).
        rows: the size of every first dimension, or ``None`` for the size in ``meta``. A size that is fixed in the
            graph (a number in ``val`` or ``example_value``) is not changed.
        seed: the same seed gives the same values. The global random generator is not advanced.

    Returns:
        A tensor for each placeholder and a number for each size. Floating-point numbers are normally distributed;
        integers and booleans are 0 and 1.

    Raises:
        ValueError: the meta of a placeholder has no shape; the message says what to do.

    Example:
        >>> from fxbook import inputs_for, random_graph
        >>> module = random_graph(7)
        >>> [tuple(tensor.shape) for tensor in inputs_for(module, rows=5)][0]
        (5, 4)
    """
    named = {} if rows is None else dict.fromkeys(_leading_symbols(module), rows)
    return inputs_of_sizes(module, named, rows, seed)


def inputs_of_sizes(
    module: fx.GraphModule, named: dict[Any, int], rows: int | None = None, seed: int = 0
) -> tuple[Any, ...]:
    """Inputs with the given sizes for some of the graph's symbols."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(_drawn(node, rows, named, generator) for node in _placeholders(module))


class Open(NamedTuple):
    """A dimension of an input whose size is a symbol: the input, the dimension, and the example size."""

    place: int
    dimension: int
    size: int


def open_dimensions(module: fx.GraphModule) -> dict[Any, list[Open]] | None:
    """The dimensions that a graph leaves open, by symbol; ``None`` if the graph has no information about sizes."""
    told = [_promise(node) for node in _placeholders(module)]
    if not any(isinstance(value, Tensor) and value.ndim for value in told):
        return None
    found: dict[Any, list[Open]] = {}
    for place, value in enumerate(told):
        for dimension, size in enumerate(value.shape if isinstance(value, Tensor) else ()):
            if isinstance(size, torch.SymInt) and size.node.expr.is_symbol:
                found.setdefault(size.node.expr, []).append(Open(place, dimension, _size(size, {})))
    return found


def takes_sizes(module: fx.GraphModule) -> bool:
    """Whether some inputs are sizes, which must agree with the shapes of the others."""
    return any(isinstance(_promise(node), torch.SymInt) for node in _placeholders(module))


def real(inputs: Any) -> Any:
    """Replace fake tensors by real ones, and symbolic sizes by their example numbers."""
    generator = torch.Generator().manual_seed(0)

    def made(leaf: Any) -> Any:
        if isinstance(leaf, FakeTensor):
            drawn = _draw([_size(size, {}) for size in leaf.shape], leaf.dtype, generator)
            return drawn.to(leaf.fake_device).requires_grad_(leaf.requires_grad)
        return _size(leaf, {}) if isinstance(leaf, torch.SymInt) else leaf

    return pytree.tree_map(made, inputs)


def _placeholders(module: fx.GraphModule) -> Iterator[fx.Node]:
    return (node for node in module.graph.nodes if node.op == "placeholder")


def _promise(node: fx.Node) -> Any:
    return next((node.meta[key] for key in _PROMISES if node.meta.get(key) is not None), None)


def _leading_symbols(module: fx.GraphModule) -> list[Any]:
    """The symbols that are, on their own, the first dimension of an input."""
    found = open_dimensions(module) or {}
    return [name for name, ones in found.items() if any(one.dimension == 0 for one in ones)]


def _size(size: Any, named: dict[Any, int]) -> int:
    """A size as a number. ``int(size)`` would make the shape environment specialise the symbol."""
    if not isinstance(size, torch.SymInt):
        return int(size)
    expression = size.node.expr
    known = {name: named.get(name, _hint(size, name)) for name in expression.free_symbols}
    return int(expression.xreplace(known))


def known_size(size: Any, named: dict[Any, int]) -> int | None:
    """A size as a number if all its symbols are known; ``int(size)`` and ``size == 3`` would specialise it."""
    if not isinstance(size, torch.SymInt):
        return int(size)
    expression = size.node.expr
    return int(expression.xreplace(named)) if expression.free_symbols <= named.keys() else None


def _hint(size: torch.SymInt, name: Any) -> int:
    environment = size.node.shape_env
    # Before torch 2.10, it has a different name.
    hints = environment.backed_var_to_val if hasattr(environment, "backed_var_to_val") else environment.var_to_val
    return int(hints.get(name, 3))


def _drawn(node: fx.Node, rows: int | None, named: dict[Any, int], generator: torch.Generator) -> Any:
    promised = _promise(node)
    if isinstance(promised, torch.SymInt):
        return _size(promised, named)
    if isinstance(promised, Tensor):
        return _draw([_size(size, named) for size in promised.shape], promised.dtype, generator)
    if isinstance(promised, bool | int | float | str):
        return promised
    told = node.meta.get("tensor_meta")
    if told is None and node.args:
        return node.args[0]
    if not hasattr(told, "shape") or not hasattr(told, "dtype"):
        raise ValueError(
            f"the placeholder `{node.name}` has no shape in its meta: supply the inputs yourself, or run "
            "torch.fx.passes.shape_prop.ShapeProp(module).propagate(*inputs) once"
        )
    shape = [int(size) for size in told.shape]
    if rows is not None and shape:
        shape[0] = rows
    return _draw(shape, told.dtype, generator)


def _draw(shape: list[int], dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, generator=generator, dtype=dtype)
    return torch.randint(0, 2, shape, generator=generator, dtype=dtype)
