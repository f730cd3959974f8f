"""From a saved manuscript to its page: generate, lint and build only what changed.

Pages that are made from all notebooks, such as the symptom index, are left to the next `make notebooks`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from press import ROOT
from press.binding import bind
from press.book import Book
from press.printing.notebooks import changed, generate


def quick(paths: list[Path]) -> int:
    """Generate, lint and build the pages of these manuscripts; by default, of all that differ from their notebooks.

    Returns:
        0, or 1 if a page cannot be generated or built; stderr says what to fix.
    """
    begun = time.monotonic()
    # Started first, so that most of its imports happen while the kernel runs.
    binder = bind.prepare()
    try:
        book = Book()
        sources, _ = changed(book, paths or book.sources)
        if (paths or sources) and generate(book, paths or sources):
            return 1
        notebooks = [target for source in sources for target in book.targets(source)]
        if notebooks and subprocess.run([sys.executable, "-m", "ruff", "check", "--quiet", *notebooks]).returncode:
            return 1
        index = bind.finish(binder)
    except subprocess.CalledProcessError:
        print("The page was not built: fix the warnings above.", file=sys.stderr)
        return 1
    finally:
        binder.kill()
    wanted = notebooks or [target for path in paths for target in book.targets(book.source_of(path))]
    for page in wanted or [index]:
        html = index.parent / page.relative_to(ROOT).with_suffix(".html") if page != index else index
        print(f"Open {html.relative_to(ROOT)}")
    print(f"{time.monotonic() - begun:.1f} s")
    return 0
