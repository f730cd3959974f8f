"""Measure the book's speed as ratios within one run: ``make bench``.

Each figure is the median of several runs with its spread, as a multiple of a unit that is measured in the same run: the
import of torch, the start of Jupyter Book, or the work that the measured code replaces. Seconds depend on the machine,
but these ratios hardly do. No test asserts seconds or ratios.
"""

from __future__ import annotations

import copy
import functools
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import fx, nn

from classroom.tests.collect import test_reading as hostile
from classroom.tests.students import from_cells
from fxbook import EditStepper, RunStepper, diff, draw, minimise, random_graph, tasks
from fxbook.checking import check_with
from fxbook.stepping.run.record import record_run
from press import ROOT, lab
from press.binding import bind
from press.book import Book
from tests.browsing import CHROMIUM, FLAGS
from tests.checking.exercise_for_tests import RELU_AFTER_LINEAR, right
from tests.drawing.graphs import chain
from tests.passes.test_diff import Deep
from tests.stepping.test_edit_stepper import twelve_nodes_eight_frames
from tests.stepping.test_next_frame import STEP
from tests.stepping.test_run_stepper import Block


def seconds(work: Callable[[], object], runs: int) -> list[float]:
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return taken


def tell(what: str, taken: list[float], unit: str, base: float) -> None:
    """Print one figure as a multiple of its unit, with its spread, and the median in seconds."""
    low, middle, high = (value / base for value in (min(taken), statistics.median(taken), max(taken)))
    print(f"{what:36} {middle:7.3f} [{low:.3f}, {high:.3f}] x {unit:22} {statistics.median(taken):7.3f} s")


def command(*arguments: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def processor_seconds(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tell_notebooks() -> None:
    """Print the cost of executing all cells in all notebooks, and of proving them."""
    unit = "all cells, one process"
    notebooks = [str(path) for folder in ("chapters", "solutions") for path in sorted((ROOT / folder).rglob("*.ipynb"))]
    executed = processor_seconds("benchmarks/cells.py", *notebooks)
    tell("execute all cells, processor", [executed], unit, executed)
    proven = processor_seconds("-m", "pytest", "-q", "-n", "0", *notebooks)
    tell("strict nbval, warm, processor", [proven], unit, executed)


def measure(what: str, work: Callable[[], object], runs: int, unit: str, replaced: Callable[[], object]) -> None:
    """Print the time of work as a multiple of what it replaces, or of the least possible work."""
    tell(what, seconds(work, runs), unit, statistics.median(seconds(replaced, runs)))


def tell_drawing(unit: str, base: float) -> None:
    """Print the time to draw graphs, from small ones to one in which all edges cross."""
    for count in (10, 100, 1_000, 10_000):
        traced = fx.symbolic_trace(nn.Sequential(*(nn.ReLU() for _ in range(count - 2))))
        for order in ("list", "data"):
            drawn = seconds(lambda: draw(traced, order=order)._repr_html_(), 7)  # noqa: B023
            tell(f"draw {count} nodes by {order}", drawn, unit, base)
    crossing = chain(200, 60)
    for order in ("list", "data"):
        tell(f"draw 200 that cross by {order}", seconds(lambda: draw(crossing, order=order).layout, 3), unit, base)  # noqa: B023


def loops(_module: fx.GraphModule) -> None:
    while True:
        pass


def tell_checking(unit: str, base: float) -> None:
    """Print the time to check an unsolved exercise, a right answer, and an answer that hangs."""
    exercise = tasks.find("01-six-opcodes")
    assert exercise
    tell("check an unsolved exercise", seconds(lambda: check_with(exercise, fx.Graph), 7), unit, base)
    tell("check a right answer", seconds(lambda: check_with(RELU_AFTER_LINEAR, right), 7), unit, base)
    endless = seconds(lambda: check_with(RELU_AFTER_LINEAR, loops), 3)
    tell("check an answer that never ends", endless, "the seconds it has", RELU_AFTER_LINEAR.seconds)


def tell_recording() -> None:
    """Print the cost of recording for a stepper, relative to that of the recorded work."""
    graph, steps = chain(1_000), EditStepper(chain(1_000))

    def needed() -> None:
        graph.lint()
        graph.python_code("self")

    measure("record a frame of 1000 nodes", lambda: steps.frame("again"), 15, "its lint and code", needed)
    module, inputs = fx.symbolic_trace(Block()), (torch.ones(4, 8), torch.ones(4, 8))
    recorded = functools.partial(record_run, module, module.graph, inputs)
    measure("record a run of 12 nodes", recorded, 15, "fx.Interpreter", lambda: fx.Interpreter(module).run(*inputs))


def tell_graphs() -> None:
    """Print the cost of making random graphs, and of comparing large ones."""

    def copies(modules: list[fx.GraphModule]) -> list[fx.GraphModule]:
        return [copy.deepcopy(module) for module in modules]

    made = [random_graph(seed) for seed in range(100)]
    measure("make random graphs", lambda: [*map(random_graph, range(100))], 5, "their copies", lambda: copies(made))
    before = fx.symbolic_trace(Deep(200))
    after = copy.deepcopy(before)
    after.graph.find_nodes(op="call_function", target=torch.relu)[100].target = torch.tanh
    what = f"diff {len(before.graph.nodes)} nodes"
    measure(what, lambda: str(diff(before, after)), 7, "their copies", lambda: copies([before, after]))


def tell_growth() -> None:
    """Print how much longer a graph of 4,000 nodes takes than one of 1,000: 4 is linear, 16 quadratic."""

    def edited(module: fx.GraphModule) -> fx.GraphModule:
        after = copy.deepcopy(module)
        after.graph.find_nodes(op="call_function", target=torch.relu)[-1].target = torch.tanh
        after.recompile()
        return after

    def steps(module: fx.GraphModule) -> str:
        after = copy.deepcopy(module)
        stepper = EditStepper(after)
        after.graph.find_nodes(op="call_function", target=torch.relu)[-1].target = torch.tanh
        stepper.frame("another function")
        return stepper._repr_html_()

    def smallest(module: fx.GraphModule) -> fx.GraphModule:
        middle = f"layers.{len([*module.layers.children()]) // 2}"
        return minimise(module, lambda found: any(node.target == middle for node in found.graph.nodes))

    work: dict[str, Callable[[fx.GraphModule], object]] = {
        "diff": lambda module: diff(module, edited(module))._repr_html_(),
        "draw by list": lambda module: draw(module)._repr_html_(),
        "draw by data": lambda module: draw(module, order="data")._repr_html_(),
        "draw a part": lambda module: draw(module, around="relu_100")._repr_html_(),
        "EditStepper": steps,
        "RunStepper": lambda module: RunStepper(module, torch.ones(2, 4))._repr_html_(),
        "minimise": smallest,
    }
    small, large = (fx.symbolic_trace(Deep(layers)) for layers in (166, 666))
    for what, do in work.items():
        do(small)
        base = statistics.median(seconds(lambda: do(small), 3))  # noqa: B023
        tell(f"{what}, 4000 nodes", seconds(lambda: do(large), 3), "1000 nodes", base)  # noqa: B023


def tell_reading() -> None:
    """Print the cost of reading sheets that were made to be slow to read."""

    def ordinary() -> None:
        assert not hostile.read("x.ipynb", from_cells(["x = 1"])).problem

    for make in (hostile.deep_lists, hostile.many_objects, hostile.a_bomb_of_yaml, hostile.slow_text):
        data = make()
        for suffix in ("ipynb", "py"):
            what = f"read {make.__name__} as .{suffix}".replace("_", " ")
            measure(what, functools.partial(hostile.read, f"x.{suffix}", data), 3, "an ordinary sheet", ordinary)


def tell_browser(book: Path) -> None:
    """Print the time for a step and a search in a browser, relative to loading their pages."""
    if CHROMIUM is None:
        print("no Chromium here: steps and searches in a browser are not measured")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        page = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page()
        stepper = Path(folder) / "stepper.html"
        stepper.write_text(f"<!doctype html><main>{twelve_nodes_eight_frames()._repr_html_()}</main>", "utf-8")
        loads = seconds(lambda: page.goto(stepper.as_uri()), 7)
        tell("paint a step", seconds(lambda: page.evaluate(STEP), 7), "load of a stepper", statistics.median(loads))
        found = book / "search.html"
        loads = seconds(lambda: page.goto(found.as_uri()), 7)
        searched = seconds(lambda: page.evaluate("fxFind('tried to erase node')"), 7)
        tell("search the book", searched, "load of the search", statistics.median(loads))


def tell_book() -> None:
    """Print the time for binding the book again, and for trusting its notebooks."""
    unit = "start of Jupyter Book"
    starts = seconds(command("-c", "import jupyter_book.cli.main, sphinx.cmd.build, myst_nb, sphinx_book_theme"), 3)
    base = statistics.median(starts)
    tell("start Jupyter Book", starts, unit, base)
    html = bind.build()
    tell("bind the book, nothing changed", seconds(bind.build, 3), unit, base)
    with tempfile.TemporaryDirectory() as folder:
        tell("trust all notebooks", seconds(lambda: lab.trust(Book(), Path(folder)), 3), unit, base)
    tell_browser(html.parent)


def main() -> None:
    unit = "import of torch.fx"
    imports = seconds(command("-c", "import torch.fx"), 3)
    base = statistics.median(imports)
    tell("import torch.fx", imports, unit, base)
    tell_drawing(unit, base)
    tell_checking(unit, base)
    tell_recording()
    tell_graphs()
    tell_growth()
    tell_reading()
    tell_notebooks()
    tell_book()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
