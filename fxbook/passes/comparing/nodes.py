"""Compare two paired nodes, as text before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn

from fxbook.graph.naming import argument_text, constant_text, target_name
from fxbook.graph.record import NodeRecord
from fxbook.passes.comparing.matching import Pairs

Aspects = dict[str, tuple[str, str]]
"""Texts before and after, by ``"name"``, ``"op"``, ``"target"``, ``"args"``, ``"kwargs"``, ``"module"`` or ``"meta"``.
"""


def differing(old: tuple[fx.Node, NodeRecord], new: tuple[fx.Node, NodeRecord], pairs: Pairs) -> Aspects:
    found: Aspects = {}
    (was, before), (now, after) = old, new
    for what, one, other in (("name", was.name, now.name), ("op", was.op, now.op)):
        if one != other:
            found[what] = (one, other)
    if was.target is not now.target and was.target != now.target:
        one, other = target_name(was), target_name(now)
        found["target"] = (one, other if one != other else f"{other}, a different object")
    for what in ("args", "kwargs"):
        if _by_pair(getattr(before, what), pairs) != getattr(after, what):
            found[what] = (argument_text(getattr(was, what)), argument_text(getattr(now, what)))
    if modules := _modules(was, now):
        found["module"] = modules
    return found


def _by_pair(value: Any, pairs: Pairs) -> Any:
    match value:
        case {"node": int(index)}:
            return {"node": pairs.get(index, -1)}
        case dict():
            return {key: _by_pair(item, pairs) for key, item in value.items()}
        case list():
            return [_by_pair(item, pairs) for item in value]
    return value


def fetched(node: fx.Node) -> Any:
    """The module or tensor at a node's target; ``None`` if there is none, or if its graph belongs to no module."""
    found: Any = node.graph.owning_module
    if node.op not in ("call_module", "get_attr"):
        return None
    for part in str(node.target).split("."):
        found = getattr(found, part, None)
    return found


def _modules(was: fx.Node, now: fx.Node) -> tuple[str, str] | None:
    old, new = fetched(was), fetched(now)
    # Nested graph modules are compared separately.
    graphs = isinstance(old, fx.GraphModule) and isinstance(new, fx.GraphModule)
    if old is new or old is None or new is None or graphs:
        return None
    one, other = _thing(old), _thing(new)
    if one != other:
        return one, other
    if not _same_tensors(old, new):
        return one, f"{other}, different numbers"
    return None


def _thing(value: Any) -> str:
    if isinstance(value, nn.Module):
        inner = f"{len(list(value.children()))} modules" if any(value.children()) else value.extra_repr()
        return f"{type(value).__name__}({inner})"
    return _short_value(value)


def _same_tensors(old: Any, new: Any) -> bool:
    first, second = ([value] if isinstance(value, Tensor) else _tensors(value) for value in (old, new))
    return len(first) == len(second) and all(_same(a, b) for a, b in zip(first, second, strict=True))


def _tensors(value: Any) -> list[Tensor]:
    return [*value.parameters(), *value.buffers()] if isinstance(value, nn.Module) else []


def _same(old: Tensor, new: Tensor) -> bool:
    if old is new:
        return True
    if (old.shape, old.dtype, old.device) != (new.shape, new.dtype, new.device):
        return False
    try:
        return torch.allclose(old, new, rtol=0, atol=0, equal_nan=old.is_floating_point() or old.is_complex())
    except (RuntimeError, NotImplementedError):
        # Tensors without values, for example on the meta device, cannot differ.
        return True


_FEW = 10
"""Below this number of nodes, the differences in meta are listed for each node."""


def meta_differing(old: fx.Node, new: fx.Node) -> Aspects:
    was, now = (node.meta if isinstance(node.meta, dict) else {"meta": node.meta} for node in (old, new))
    found: Aspects = {}
    for key in dict.fromkeys([*was, *now]):
        both = key in was and key in now
        if both and not _differ(was[key], now[key]):
            continue
        one, other = (f"{key}={_short_value(meta[key])}" if key in meta else f"no {key}" for meta in (was, now))
        found[key] = one, other if one != other else f"{other}, a different object"
    return found


def meta_of_all(differing: Sequence[tuple[fx.Node, Aspects]]) -> Aspects:
    """The meta keys that differ in all nodes that compute something, as after a new trace."""
    computing = [found for node, found in differing if node.op not in ("placeholder", "output")]
    if len(computing) < _FEW:
        return {}
    shared = [key for key in computing[0] if all(key in found for found in computing)]
    sides = {key: zip(*(found[key] for found in computing), strict=True) for key in shared}
    return {key: tuple(_of_all(key, texts) for texts in both) for key, both in sides.items()}


def _of_all(key: str, texts: Sequence[str]) -> str:
    return texts[0] if len(set(texts)) == 1 else f"{key}=…, different for each node"


def joined(differing: Aspects) -> tuple[str, str]:
    one, other = zip(*differing.values(), strict=True)
    return ", ".join(one), ", ".join(other)


def _differ(old: Any, new: Any) -> bool:
    return old is not new and (type(old) is not type(new) or _short_value(old, 10_000) != _short_value(new, 10_000))


def _short_value(value: Any, most: int = 60) -> str:
    """A short text for a value of meta; a tensor, or a description of one, is shown as dtype and shape."""
    try:
        text = _described(value, most)
    except Exception:
        # Anything with a shape and a dtype gets here, even a class, a user's object, or a list that contains itself.
        text = " ".join(constant_text(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _described(value: Any, most: int) -> str:
    if type(value) in (tuple, list):
        return "(" + ", ".join(_described(item, most) for item in value) + ")"
    if not isinstance(value, type) and isinstance(getattr(value, "dtype", None), torch.dtype):
        return f"{str(value.dtype).removeprefix('torch.')}{[*map(_size, value.shape)]}".replace("'", "")
    return " ".join(constant_text(value).split())


def _size(size: Any) -> Any:
    return size if isinstance(size, int) else str(size)
