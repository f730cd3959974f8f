"""A picture and its text show which arguments of a call are in ``args`` and which are in ``kwargs``."""

from __future__ import annotations

import IPython.display
import pytest
import torch
from torch import fx

from fxbook.plotting import Plot, memory_over_nodes, places, time_and_work


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Plot]:
    found: list[Plot] = []
    monkeypatch.setattr(IPython.display, "display", found.append)
    return found


def test_the_text_says_where_the_arguments_of_each_call_are(shown: list[Plot]) -> None:
    graph = fx.symbolic_trace(lambda x: torch.sum(input=x, dim=0) + x.sum(0)).graph
    by_name, by_position = [node for node in graph.nodes if node.name in ("sum_1", "sum_2")]
    places({"torch.sum(input=x, dim=0)": by_name, "x.sum(0)": by_position}, "Two places")
    [plot] = shown
    assert plot.title == "Two places"
    assert "torch.sum(input=x, dim=0) has args () and kwargs {'input': x, 'dim': 0}" in plot.says
    assert "x.sum(0) has args (x, 0) and kwargs {}" in plot.says


def test_the_text_has_the_numbers_of_the_bars(shown: list[Plot]) -> None:
    nodes = list(fx.symbolic_trace(lambda x: x.neg()).graph.nodes)
    seconds = {node: [1.0, 1.0, 1.0] for node in nodes}
    time_and_work(seconds, dict(zip(nodes, (0, 8, 0), strict=True)), "FLOPs")
    memory_over_nodes(dict.fromkeys(nodes, 2**20))
    work, memory = shown
    assert "neg 33 and 100" in work.says
    assert "neg 1.0" in memory.says
