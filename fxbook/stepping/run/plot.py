"""Plot live memory over the nodes of one or two runs, and mark the node of each frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fxbook.drawing.lettering import cut
from fxbook.plotting.canvas import canvas, styled, without_references
from fxbook.stepping.animation import Animation
from fxbook.stepping.run.record import RunRecord
from fxbook.stepping.run.states import size
from fxbook.stepping.run.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH, _HEIGHT = 272, 112
_LEFT, _RIGHT, _BOTTOM, _LINE = 70, 10, 42, 18
# The columns in a line of the legend, which begins a little to the left of the axes.
_LABEL = 24
_NODES, _NODES_OF_HUNDREDS, _BYTES = 10, 5, 4
"""The most steps between the numbers on the axes; fewer where numbers have three digits."""
_LOOKS = ({"color": "C0", "linewidth": 3}, {"color": "#d55e00", "linestyle": "--"})
FINE_NODES = 60
"""Up to this many nodes, the line also shows what is freed after each of them."""


def plot(subjects: Sequence[Subject], spans: Sequence[range]) -> Animation:
    """Bytes alive over the nodes, as an animation with one frame per span of steps.

    A node takes one unit of width: its first half shows the bytes when its result was made, and its second half those
    after unneeded values were freed. The first run's line is solid, and the second's is dashed.
    """
    top = 8 + _LINE * len(subjects)
    height = top + _HEIGHT + _BOTTOM
    animation = Animation(_WIDTH, height, len(spans), "Bytes alive over the nodes")
    with canvas(_WIDTH, height, (_LEFT, _RIGHT, _BOTTOM, top)) as drawn:
        for frame, span in enumerate(spans):
            drawn.axes.axvspan(span.start, span.start + max(len(span), 1), gid=styled(f"fx-here {frame}"))
        for subject, look in zip(subjects, _LOOKS, strict=False):
            most = f": up to {size(subject.run.peak)}"
            _draw_line(drawn.axes, subject.run, cut(subject.label, _LABEL - len(most)) + most, look)
        _set_scales(drawn.axes, max(len(subject.graph) for subject in subjects), max(s.run.peak for s in subjects))
        drawn.axes.legend(loc="lower left", bbox_to_anchor=(-0.05, 1), borderpad=0.2, labelspacing=0.2)
        svg = without_references(drawn.svg())
    for part in svg.iter("g"):
        name, _, frame = part.get("class", "").partition(" ")
        if name == "fx-here":
            part.set("class", name)
            animation.show(part, [int(frame)])
    animation.root.extend(svg)
    for frame, span in enumerate(spans):
        texts = [f"{subject.label}: {size(subject.bytes_after(span[-1]))}" for subject in subjects]
        animation.label(frame, f"Bytes alive over the nodes; after node {span[-1]}: {', '.join(texts)}")
    return animation


def _draw_line(axes: Axes, run: RunRecord, label: str, look: dict[str, object]) -> None:
    """The line: up when a result is made, down when values are freed; for many nodes, only the upper values."""
    fine = len(run.values) <= FINE_NODES
    heights = [
        alive
        for during, after in zip(run.during, run.after, strict=True)
        for alive in ((during, after) if fine else (during,))
    ]
    unit = 0.5 if fine else 1.0
    edges = [unit * at for at in range(len(heights) + 1)]
    # The last height is repeated, since a step plot ends where its last step begins.
    axes.plot(edges[: len(heights) + 1], [*heights, *heights[-1:]] or [0], drawstyle="steps-post", label=label, **look)


def _set_scales(axes: Axes, nodes: int, highest: int) -> None:
    from matplotlib.ticker import MaxNLocator

    steps = [1, 2, 5, 10]
    heights = MaxNLocator(_BYTES, integer=True, steps=steps, min_n_ticks=1).tick_values(0, max(highest, 1))
    numbers = MaxNLocator(_NODES if nodes <= 100 else _NODES_OF_HUNDREDS, integer=True, steps=steps).tick_values(
        0, max(nodes - 1, 1)
    )
    shown = [int(number) for number in numbers if 0 <= number < nodes]
    axes.set(xlim=(0, max(nodes, 1)), xlabel="node (number in the list)", ylabel="bytes alive")
    axes.set(ylim=(0, heights[-1]))
    axes.set_xticks([number + 0.5 for number in shown], labels=[str(number) for number in shown])
    axes.set_yticks(heights, labels=[size(int(height)) for height in heights])
    # Matplotlib draws ticks by reference.
    axes.tick_params(bottom=False, left=False)
    axes.grid(axis="y")
