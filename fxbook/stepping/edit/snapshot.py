"""The data of one frame of an edit, with the identity of each node."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from torch import fx

from fxbook.drawing.lettering import clean
from fxbook.graph.record import GraphRecord, NodeRecord, record


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """A graph at one moment.

    ``keys`` are the identities of the nodes in list order; a ``fx.Node`` has the same key in every snapshot of a
    stepper. ``code`` is what ``forward`` runs if ``compiled``, else what a bare graph would generate. ``places`` are
    torch.fx's own sort keys, which change only if a node is moved.
    """

    caption: str
    record: GraphRecord
    keys: tuple[int, ...]
    places: tuple[Any, ...]
    code: str
    compiled: bool

    @functools.cached_property
    def nodes(self) -> dict[int, NodeRecord]:
        return dict(zip(self.keys, self.record.nodes, strict=True))


def take(subject: fx.Graph | fx.GraphModule, caption: str, keys: dict[fx.Node, int]) -> Snapshot:
    """Record the graph; ``keys`` holds the identities given so far, and gets those of new nodes.

    Raises:
        TypeError: there is no graph to record; the message says what to pass.
    """
    described = record(subject)
    graph = subject.graph if isinstance(subject, fx.GraphModule) else subject
    own = tuple(keys.setdefault(node, len(keys)) for node in graph.nodes)
    places = tuple(getattr(node, "_sort_key", None) for node in graph.nodes)
    compiled = isinstance(subject, fx.GraphModule)
    return Snapshot(clean(caption, 400), described, own, places, _code(subject), compiled)


def _code(subject: fx.Graph | fx.GraphModule) -> str:
    try:
        return subject.code if isinstance(subject, fx.GraphModule) else subject.python_code("self").src
    except Exception as error:
        return f"# no code can be generated: {type(error).__name__}: {clean(error, 200)}"
