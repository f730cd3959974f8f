"""What the book promises of speed, measured as ratios within one run: ``make bench``.

Each figure is the median of several runs with its spread, as a multiple of a unit that is measured in the same run: the
import of torch, or the start of Jupyter Book. Seconds depend on the machine; these ratios hardly do.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from torch import fx, nn

from fxbook import draw, tasks
from fxbook.checking import check_with
from press import ROOT
from press.binding import bind


def seconds(work: Callable[[], object], runs: int) -> list[float]:
    """Wall-clock seconds of each run."""
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
    """A run of this Python in a process of its own."""
    return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def processor_seconds(*arguments: str) -> float:
    """What a run of this Python takes of the processors, with all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tell_notebooks() -> None:
    """Print what it costs to execute all cells of all notebooks, and to prove them."""
    unit = "all cells, one process"
    notebooks = [str(path) for folder in ("chapters", "solutions") for path in sorted((ROOT / folder).rglob("*.ipynb"))]
    executed = processor_seconds("benchmarks/cells.py", *notebooks)
    tell("execute all cells, processor", [executed], unit, executed)
    proven = processor_seconds("-m", "pytest", "-q", "-n", "0", *notebooks)
    tell("strict nbval, warm, processor", [proven], unit, executed)


def main() -> None:
    """Measure drawing, checking, proving and binding."""
    unit = "import of torch.fx"
    imports = seconds(command("-c", "import torch.fx"), 3)
    base = statistics.median(imports)
    tell("import torch.fx", imports, unit, base)
    for count in (10, 100, 1_000, 10_000):
        traced = fx.symbolic_trace(nn.Sequential(*(nn.ReLU() for _ in range(count - 2))))
        for order in ("list", "data"):
            drawn = seconds(lambda: draw(traced, order=order)._repr_html_(), 7)  # noqa: B023
            tell(f"draw {count} nodes by {order}", drawn, unit, base)
    exercise = tasks.find("01-six-opcodes")
    tell("check an unsolved exercise", seconds(lambda: check_with(exercise, fx.Graph), 7), unit, base)

    tell_notebooks()

    unit = "start of Jupyter Book"
    starts = seconds(command("-c", "import jupyter_book.cli.main, sphinx.cmd.build, myst_nb, sphinx_book_theme"), 3)
    base = statistics.median(starts)
    tell("start Jupyter Book", starts, unit, base)
    bind.build()
    tell("bind the book, nothing changed", seconds(bind.build, 3), unit, base)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
