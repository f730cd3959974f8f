"""Draw the preview card for links to the book: its title, and a graph in the colours of its drawings."""

from __future__ import annotations

from pathlib import Path

from press import ROOT

CARD = ROOT / "book" / "_static" / "card.png"
# Pixels, as the sites that show such cards require.
WIDTH, HEIGHT = 1200, 630
_GROUND, _INK, _MUTED = "#14181d", "#f2f5f8", "#a9b4c0"
# The nodes from the input to the output: text and Okabe-Ito hue.
_NODES = (("x", "#56b4e9"), ("conv", "#e69f00"), ("relu", "#f0e442"), ("add", "#f0e442"), ("output", "#009e73"))
_EDGES = ((0, 1, 0.0), (1, 2, 0.0), (2, 3, 0.0), (0, 3, 0.62), (3, 4, 0.0))


def draw(target: Path = CARD) -> int:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor=_GROUND)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.axis("off")
    axes.text(
        80, 250, "torch.fx,\nNode by Node", color=_INK, fontsize=50, fontweight="bold", va="center", linespacing=1.2
    )
    axes.text(80, 395, "Read and rewrite PyTorch models as graphs.", color=_INK, fontsize=21, va="center")
    axes.text(80, 445, "Every sentence proven by a cell.", color=_MUTED, fontsize=21, va="center")
    centre, top, step, wide, high = 950, 95, 110, 190, 58
    for first, second, bend in _EDGES:
        start, end = (top + step * first + high / 2, top + step * second - high / 2)
        side = centre + (wide / 2 if bend else 0)
        if bend:
            start, end = top + step * first, top + step * second
        style = f"arc3,rad={-bend}" if bend else "arc3"
        arrow = FancyArrowPatch(
            (side, start),
            (side, end),
            connectionstyle=style,
            arrowstyle="-|>",
            mutation_scale=22,
            color=_MUTED,
            linewidth=3,
        )
        axes.add_patch(arrow)
    for place, (name, hue) in enumerate(_NODES):
        y = top + step * place
        box = FancyBboxPatch(
            (centre - wide / 2, y - high / 2),
            wide,
            high,
            boxstyle="round,pad=0,rounding_size=14",
            color=hue,
            linewidth=0,
        )
        axes.add_patch(box)
        axes.text(centre, y, name, color=_GROUND, fontsize=20, fontfamily="monospace", ha="center", va="center")
        axes.text(centre - wide / 2 - 34, y, str(place), color=_MUTED, fontsize=17, ha="right", va="center")
    axes.plot([centre - wide / 2 - 22] * 2, [top, top + step * (len(_NODES) - 1)], color=_MUTED, linewidth=1.5)
    # The metadata leave out matplotlib's version, so that the bytes are reproducible.
    figure.savefig(target, format="png", dpi=100, facecolor=_GROUND, metadata={"Software": None})
    print(f"{target.name}: {WIDTH} by {HEIGHT} pixels, {target.stat().st_size / 1000:.0f} kB")
    return 0
