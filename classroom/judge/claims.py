"""The untrusted claims about an answer: check their structure, and name those that a verdict relies on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from torch import fx, nn

JSON = Any
_DEEPEST = 150
_MOST_TEXT = 32 << 20
_MOST_ITEMS = 4_000_000
_MOST_BITS = 10_000

# The claims that a verdict may rely on without proof, by the name that views use for them.
CLAIMS = {
    "value": "what the answer returned, which only running it again would show",
    "stale": "that the module was compiled after its graph was edited",
    "shared": "that weights of the result are the model's own objects, not copies",
    "changes": "that the given model is unchanged",
    "same_object": "whether the returned module is the given one itself",
    "origins": "that nodes of the result belong to the given graph and are not new copies",
}

# ---- the structure of claims -----------------------------------------------------------------------------------------


def is_bounded(data: JSON) -> bool:
    """Whether data is small and flat enough to be read safely."""
    items = text = 0
    level: list[JSON] = [[data]]
    for _ in range(_DEEPEST):
        inner: list[JSON] = []
        for value in level:
            parts: Iterable[JSON] = value if isinstance(value, list) else value.values()
            text += 0 if isinstance(value, list) else sum(map(len, value))
            items += len(value)
            for part in parts:
                if isinstance(part, str):
                    text += len(part)
                elif isinstance(part, list | dict):
                    inner.append(part)
                elif isinstance(part, int) and part.bit_length() > _MOST_BITS:
                    return False
            if items > _MOST_ITEMS or text > _MOST_TEXT:
                return False
        if not inner:
            return True
        level = inner
    return False


def are_origins(origins: Sequence[int | None], given: nn.Module | None) -> bool:
    """Whether the origins are indices into the given graph; without a given graph there are none."""
    count = len(given.graph.nodes) if isinstance(given, fx.GraphModule) else 0
    return all(origin is None or 0 <= origin < count for origin in origins)
