"""Drawings equal the stored pictures; ``pytest --force-regen`` stores new ones.

Look at the changed pictures before you commit them. They are stored without the style of a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from pytest_regressions.file_regression import FileRegressionFixture

from fxbook.drawing import Drawing, draw
from fxbook.drawing.display import Order
from fxbook.graph.record import record
from fxbook.plotting import heat
from fxbook.stepping.graph_frame import animation_of, still
from tests.drawing.graphs import chain, reads_far_ahead, residual, reversed_insertion, self_loop, shuffled

MARKS = {"linear": "moved", "relu": ["added", "rewired"], "mul": "removed", "where": "broken"}
DRAWN: dict[str, Callable[[Order], Drawing]] = {
    "all_opcodes": lambda order: draw(residual(), order=order),
    "every_mark": lambda order: draw(residual(), marks=MARKS, order=order),
    "reads_itself": lambda order: draw(self_loop(), order=order),
    "wrong_order": lambda order: draw(reversed_insertion(), order=order),
    "far_ahead": lambda order: draw(reads_far_ahead(), order=order),
    "two_branches": lambda order: draw(shuffled(), order=order),
    "many_lanes": lambda order: draw(chain(14, 5), order=order),
    "in_groups": lambda order: draw(chain(600, 40), order=order),
}


def lines_of(svg: str) -> str:
    """The picture with one element per line, for readable differences."""
    return svg.replace("><", ">\n<") + "\n"


@pytest.mark.parametrize("order", ["list", "data"])
@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing(name: str, order: Order, file_regression: FileRegressionFixture) -> None:
    svg = DRAWN[name](order).picture("fx", "")
    file_regression.check(lines_of(svg), basename=f"{name}_by_{order}", extension=".svg")


def test_what_surrounds_a_drawing(file_regression: FileRegressionFixture) -> None:
    """The legend, the table, the text for screen readers, and the text for editors are as stored."""
    drawing = draw(residual(), "A residual block", MARKS)
    html = re.sub(r"<style>.*?</style>|(?<=</desc>).*?(?=</svg>)", "", drawing._repr_html_(), flags=re.DOTALL)
    html = re.sub(r'src="data:[^"]*"', "", html)
    html = re.sub(r"fx-notebook-\d+", "fx", html)
    file_regression.check(f"{lines_of(html)}{drawing!r}\n", basename="around", extension=".html")


def test_a_graph_in_the_colours_of_numbers(file_regression: FileRegressionFixture) -> None:
    module = residual()
    numbers = {node: float(at) for at, node in enumerate(module.graph.nodes)}
    svg = heat(module, numbers, "FLOPs").picture("fx", "")
    file_regression.check(lines_of(svg), basename="heat", extension=".svg")


def test_a_film(file_regression: FileRegressionFixture) -> None:
    module = residual()
    first = still(record(module))
    linear, relu = list(module.graph.nodes)[2:4]
    relu.replace_all_uses_with(linear)
    module.graph.erase_node(relu)
    film = animation_of([first, still(record(module))], "A film")
    drawn = lines_of(film.definition("film")) + lines_of(film.picture("film", 1))
    file_regression.check(drawn, basename="film", extension=".svg")
