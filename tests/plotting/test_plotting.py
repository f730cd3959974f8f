"""Plots and heat-coloured graphs are reproducible, fit light and dark pages, and have a text alternative."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from torch import fx, nn

from fxbook.plotting import Heat, Plot, heat, plot
from fxbook.plotting.canvas import canvas, styled, without_references
from tests.browsing import THEMES, needs_chromium, texts_outside_their_box

BEYOND = """() => {
  const plot = document.querySelector('.fx-plot'), all = plot.getBoundingClientRect();
  return [...plot.querySelectorAll('text')].filter(text => {
    const t = text.getBoundingClientRect();
    return t.left < all.left - 1 || t.right > all.right + 1 || t.top < all.top - 1 || t.bottom > all.bottom + 1;
  }).map(text => text.textContent);
}"""
SAYS = "In millions: stem 7.1, head 0.1."


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Plot]:
    """A list of the plots that are displayed."""
    displayed: list[Plot] = []
    monkeypatch.setattr("IPython.display.display", displayed.append)
    return displayed


def draw_everything() -> None:
    """Bars, hatched bars with error bars, steps, a line, texts and a legend."""
    with plot("Bars & more", SAYS, 320) as axes:
        axes.barh(["stem", "head"], [7.1, 0.1], label="FLOPs")
        axes.barh([0.4, 1.4], [3, 2], 0.4, xerr=[[1, 1], [2, 0.5]], hatch="//", label="time")
        axes.stairs([1, 2, 1], fill=True)
        axes.plot([0, 4], [0, 1], marker="o")
        axes.axvline(3, color="black", linestyle="--")
        axes.text(3, 0.5, "peak")
        axes.set(xlabel="FLOPs (millions)", ylabel="node")
        axes.grid(axis="x")
        axes.legend()


def traced() -> fx.GraphModule:
    return fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)))


def warm() -> Heat:
    module = traced()
    first, relu, second = list(module.graph.nodes)[1:4]
    return heat(module, {first: 30.0, relu: 0.1, second: 10.0}, "FLOPs")


def without_ordinals(page: str) -> str:
    return re.sub(r"fx-notebook-\d+", "fx-notebook-N", page)


def test_plotting_twice_gives_the_same_bytes(shown: list[Plot]) -> None:
    draw_everything()
    draw_everything()
    first, second = (without_ordinals(plot._repr_html_()) for plot in shown)
    assert first == second


def test_plot_stays_within_its_frame(shown: list[Plot]) -> None:
    draw_everything()
    draw_everything()
    pages = [plot._repr_html_() for plot in shown]
    for page in pages:
        svg = page[page.index("<svg") : page.index("</svg>") + 6]
        assert "<style" not in svg and "http://www.w3.org/1999" not in svg
        assert "#000000" not in svg and "black" not in svg and "DejaVu" not in svg
        ids = re.findall(r' id="([^"]+)"', svg)
        assert len(ids) == len(set(ids))
        # Every reference has a target.
        assert set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', svg)) <= {(i, "") for i in ids} | {
            ("", i) for i in ids
        }
    first, second = (set(re.findall(r' id="([^"]+)"', page)) for page in pages)
    assert not first & second, "two plots of one page share an id"


def test_a_plot_says_what_it_shows(shown: list[Plot]) -> None:
    draw_everything()
    [made] = shown
    assert repr(made) == f"Bars & more\n{SAYS}"
    page = made._repr_html_()
    root = ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6].replace(' xmlns="', ' data-ns="'))
    assert root.get("role") == "img"
    texts = {root.find(f".//*[@id='{name}']").text for name in root.get("aria-labelledby", "").split()}
    assert texts == {"Bars & more", SAYS}
    with pytest.raises(ValueError, match="write what the plot shows"), plot("A picture", " "):
        pass


def test_classes_replace_inline_styles_and_nothing_has_an_id() -> None:
    with canvas(200, 100, (20, 5, 20, 5)) as drawn:
        drawn.axes.bar([0, 1], [1, 2], color="red", gid=styled("block passed"))
        drawn.axes.tick_params(bottom=False, left=False)
        svg = without_references(drawn.svg())
    blocks = [group for group in svg.iter("g") if group.get("class") == "block passed"]
    assert len(blocks) == 2 and all(not part.get("style") for block in blocks for part in block.iter())
    assert not [part for part in svg.iter() if part.get("id") or part.get("clip-path") or part.tag == "defs"]
    assert svg.get("viewBox") == "0 0 200 100" and len({text.text for text in svg.iter("text")}) > 2


def test_heat_colours_by_share_and_writes_it() -> None:
    drawn = warm()
    opacity = dict(re.findall(r'id="[^"]*-n-(\d)">.*?fill-opacity:([\d.]+)', drawn._repr_html_(), re.DOTALL))
    assert opacity == {"0": "0", "1": "0.6", "2": "0.002", "3": "0.2", "4": "0"}
    assert drawn.title == "Share of the FLOPs"
    shares = re.findall(r"(\d+|under 1) % of the FLOPs", repr(drawn))
    assert shares == ["75", "under 1", "25"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (lambda module: {next(iter(traced().graph.nodes)): 1.0}, "is not in this graph"),
        (lambda module: {next(iter(module.graph.nodes)): -1.0}, "not negative"),
    ],
)
def test_invalid_heat_values_are_rejected(values, message: str) -> None:
    module = traced()
    with pytest.raises(ValueError, match=message):
        heat(module, values(module), "FLOPs")


def test_heat_of_a_graph_that_is_too_large_is_rejected() -> None:
    graph = fx.Graph()
    node = graph.placeholder("x")
    for _ in range(500):
        node = graph.call_function(torch.neg, (node,))
    graph.output(node)
    with pytest.raises(ValueError, match="502 nodes are too many"):
        heat(graph, {}, "FLOPs")


@needs_chromium
@pytest.mark.room(name="site")
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", THEMES)
def test_plots_in_a_browser(show, shown: list[Plot], theme: str, width: int) -> None:
    draw_everything()
    page = show(shown[0], warm(), theme=theme, width=width)
    assert page.evaluate(texts_outside_their_box()) == []
    # Never scaled down: the smallest text is as large as the page's small text.
    assert page.evaluate("document.querySelector('.fx-plot').getBoundingClientRect().width") >= 559
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(BEYOND) == []
    inked = "getComputedStyle(document.querySelector('.fx-plot text')).fill"
    assert page.evaluate(inked) == page.evaluate("getComputedStyle(document.body).color")
    result = Axe().run(page, options={"resultTypes": ["violations"]})
    assert result.violations_count == 0, result.generate_report()
