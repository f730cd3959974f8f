"""``Lab``: the frame of a graph that the reader edits, a still without script."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import fx

from fxbook.drawing import draw, style
from fxbook.drawing.display import next_prefix
from fxbook.lab.bundle import lab_style, script
from fxbook.lab.data import lab_data
from fxbook.lab.puzzles import PUZZLES
from fxbook.stepping.player import stepper_style


class Lab:
    """A graph to edit on the page. Put it at the end of a cell.

    Example:
        >>> import torch
        >>> from fxbook import Lab
        >>> Lab(torch.fx.symbolic_trace(torch.nn.ReLU()), {"input": torch.tensor([-1.0, 2.0])})
        Edit this graph: input → relu → output
    """

    def __init__(
        self, traced: fx.GraphModule, inputs: Mapping[str, torch.Tensor], title: str = "Edit this graph"
    ) -> None:
        """Take the graph as it is.

        Args:
            traced: a small module of the functions, methods and layers in ``fxbook.lab.data``.
            inputs: a small tensor for each placeholder, by its target; *Run* passes them.
            title: what the fold says.

        Raises:
            TypeError: it is not traced.
            ValueError: a lab would show or compute something else than torch; the message says what, and what to do.
        """
        self._labs = [_lab(traced, inputs, title)]

    @classmethod
    def puzzles(cls, *names: str) -> Lab:
        """Puzzles of ``fxbook.lab.puzzles``, by their names.

        Raises:
            ValueError: there is no puzzle of that name; the message has those there are.
        """
        if unknown := [name for name in names if name not in PUZZLES]:
            raise ValueError(f"there is no puzzle {unknown[0]!r}: choose from {', '.join(PUZZLES)}")
        labs = cls.__new__(cls)
        labs._labs = [_puzzle(name) for name in names]
        return labs

    def __repr__(self) -> str:
        return "\n".join(f"{title}: {' → '.join(nodes)}" for title, nodes, _ in self._labs)

    def _repr_html_(self) -> str:
        parts = "".join(part for _, _, part in self._labs)
        return (
            f'<div class="fx-labs"><style>{style()}{stepper_style()}</style><style>{lab_style()}</style>'
            f"{parts}<script>{script()}</script></div>"
        )


def _puzzle(name: str) -> tuple[str, list[str], str]:
    puzzle = PUZZLES[name]
    return _lab(puzzle.traced(), {"x": _INPUT}, puzzle.title, puzzle.data(name), puzzle.setup, puzzle.wish)


_INPUT = torch.tensor([0.5, -1.25, 2.0], dtype=torch.float64)


def _lab(
    traced: fx.GraphModule,
    inputs: Mapping[str, torch.Tensor],
    title: str,
    puzzle: Mapping[str, Any] | None = None,
    setup: Sequence[Mapping[str, Any]] = (),
    wish: str = "",
) -> tuple[str, list[str], str]:
    """The title, the names of the nodes, and the frame: its data, and a still for readers without script."""
    data = {**lab_data(traced, inputs), "title": title, "setup": list(setup), **({"puzzle": puzzle} if puzzle else {})}
    # In a script element only its end has to be escaped.
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    still = f"<p>{html.escape(wish)}</p>{draw(traced)._repr_html_()}"
    name = f' data-fx-puzzle="{puzzle["id"]}"' if puzzle else ""
    frame = (
        f'<div class="fx-drawing fx-stepper fx-lab" id="{next_prefix()}"{name} role="group"'
        f' aria-label="{html.escape(title)}" data-lm-suppress-shortcuts="true">'
        f'<script type="application/json">{text}</script>'
        f'<details><summary>{html.escape(title)}</summary><div class="fx-lab-still">{still}</div></details></div>'
    )
    return title, [node.name for node in traced.graph.nodes], frame
