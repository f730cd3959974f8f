"""Bars for each node of a graph: its share of the time next to its share of the work, and the live memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import fx

from fxbook.plotting.plot import plot

_MIB = 2**20


def time_and_work(seconds: Mapping[fx.Node, Sequence[float]], work: Mapping[fx.Node, float], unit: str) -> None:
    """Show each node's share of the time, with the middle 80 % of its runs, next to its share of the work.

    Args:
        seconds: for each node, a number for each run.
        work: for each of these nodes, the amount of work.
        unit: the unit of the work, such as "FLOPs".
    """
    names = [node.name for node in seconds]
    spread = torch.tensor(list(seconds.values())).quantile(torch.tensor([0.1, 0.5, 0.9]), dim=1)
    low, middle, high = 100 * spread / spread[1].sum()
    share = torch.tensor([float(work[node]) for node in seconds])
    share = 100 * share / share.sum()
    says = "; ".join(f"{name} {a:.0f} and {b:.0f}" for name, a, b in zip(names, middle, share, strict=True))
    place = torch.arange(len(names))
    with plot(f"Time and {unit} by node", f"Per cent: {says}.", 24 * len(names)) as axes:
        axes.barh(place - 0.2, middle, 0.4, xerr=torch.stack([middle - low, high - middle]), label="time")
        axes.barh(place + 0.2, share, 0.4, hatch="//", label=unit)
        axes.set_yticks(place, names)
        axes.invert_yaxis()
        axes.set(xlabel="share of the whole (%)", ylabel="node", xlim=(0, 100))
        axes.legend()


def memory_over_nodes(alive: Mapping[fx.Node, int]) -> None:
    says = ", ".join(f"{node.name} {held / _MIB:.1f}" for node, held in alive.items())
    with plot("Memory over the nodes", f"MiB alive: {says}.", 340) as axes:
        axes.bar([node.name for node in alive], [held / _MIB for held in alive.values()], 1)
        axes.set(xlabel="node", ylabel="MiB alive")
        axes.tick_params(axis="x", rotation=90)
