"""``Lab``: a frame for a graph that the reader edits, with a static picture for readers without scripts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import fx

from fxbook.drawing import draw, style
from fxbook.drawing.display import next_prefix
from fxbook.lab.bundle import lab_style, script
from fxbook.lab.data import lab_data
from fxbook.lab.puzzle import Puzzle, X
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
            traced: a small module that uses only the functions, methods and layers in ``fxbook.lab.data``.
            inputs: a small tensor for each placeholder, by its target; *Run* passes them.
            title: the label of the collapsible section.

        Raises:
            TypeError: the module is not traced.
            ValueError: the lab would differ from torch; the message says how, and what to do.
        """
        self._labs = [_lab(traced, inputs, title)]

    @classmethod
    def puzzles(cls, *names: str) -> Lab:
        """Puzzles from ``fxbook.lab.puzzles``, by name; raises ValueError for an unknown name."""
        labs = cls.__new__(cls)
        labs._labs = [_puzzle(name, _known(name)) for name in names]
        return labs

    @staticmethod
    def start(name: str) -> tuple[fx.GraphModule, dict[str, torch.Tensor]]:
        """The module that a puzzle starts from, and its inputs; raises ValueError for an unknown puzzle.

        The Python code that a lab shows begins with this module and these inputs.
        """
        return _known(name).start(), {"x": X.clone()}

    def __repr__(self) -> str:
        return "\n".join(f"{title}: {' → '.join(nodes)}" for title, nodes, _ in self._labs)

    def _repr_html_(self) -> str:
        parts = "".join(part for _, _, part in self._labs)
        return (
            f'<div class="fx-labs"><style>{style()}{stepper_style()}</style><style>{lab_style()}</style>'
            f"{parts}<script>{script()}</script></div>"
        )


def _known(name: str) -> Puzzle:
    if name not in PUZZLES:
        raise ValueError(f"there is no puzzle {name!r}: choose from {', '.join(PUZZLES)}")
    return PUZZLES[name]


def _puzzle(name: str, puzzle: Puzzle) -> tuple[str, list[str], str]:
    start = puzzle.start()
    code = (
        f'from fxbook import Lab\n\nmodule, inputs = Lab.start("{name}")\ngraph = module.graph\n'
        f"{', '.join(node.name for node in start.graph.nodes)} = graph.nodes"
    )
    still = (
        f"<p>{_with_code(puzzle.wish)}</p>{draw(start)._repr_html_()}"
        f'<p>To solve it in a notebook, begin with this code:</p><pre class="fx-code">{html.escape(code)}</pre>'
    )
    return _lab(puzzle.traced(), {"x": X}, puzzle.title, still, puzzle.data(name), puzzle.setup)


def _with_code(text: str) -> str:
    return re.sub("`(.*?)`", r"<code>\1</code>", html.escape(text))


def _lab(
    traced: fx.GraphModule,
    inputs: Mapping[str, torch.Tensor],
    title: str,
    still: str = "",
    puzzle: Mapping[str, Any] | None = None,
    setup: Sequence[Mapping[str, Any]] = (),
) -> tuple[str, list[str], str]:
    """The title, the names of the nodes, and the frame: its data, and a static picture for readers without scripts."""
    data = {**lab_data(traced, inputs), "title": title, "setup": list(setup), **({"puzzle": puzzle} if puzzle else {})}
    still = still or draw(traced)._repr_html_()
    # In a script element only its end has to be escaped.
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    name = f' data-fx-puzzle="{puzzle["id"]}"' if puzzle else ""
    frame = (
        f'<div class="fx-drawing fx-stepper fx-lab" id="{next_prefix()}"{name} role="group"'
        f' aria-label="{html.escape(title)}" data-lm-suppress-shortcuts="true">'
        f'<script type="application/json">{text}</script>'
        f'<details><summary>{html.escape(title)}</summary><div class="fx-lab-still">{still}</div></details></div>'
    )
    return title, [node.name for node in traced.graph.nodes], frame
