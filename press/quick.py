"""From a saved manuscript to its page: print, lint and bind only what changed.

The pages made from all notebooks, such as the symptom index, follow with the next complete print.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from press import ROOT
from press.binding import bind
from press.book import Book
from press.printing.notebooks import changed, print_notebooks


def quick(paths: list[Path]) -> int:
    """Print, lint and bind these manuscripts; by default, those that differ from their printed notebooks.

    Returns:
        0, or 1 if one cannot be printed or bound; stderr says what to fix.
    """
    begun = time.monotonic()
    # Most of its imports happen while the kernel runs.
    binder = bind.prepare()
    try:
        book = Book()
        sources, _ = changed(book, paths or book.sources)
        if (paths or sources) and print_notebooks(book, paths or sources):
            return 1
        printed = [target for source in sources for target in book.targets(source)]
        if printed and subprocess.run([sys.executable, "-m", "ruff", "check", "--quiet", *printed]).returncode:
            return 1
        index = bind.finish(binder)
    except subprocess.CalledProcessError:
        print("The page was not built: fix the warnings above.", file=sys.stderr)
        return 1
    finally:
        binder.kill()
    wanted = printed or [target for path in paths for target in book.targets(book.source_of(path))]
    for page in wanted or [index]:
        html = index.parent / page.relative_to(ROOT).with_suffix(".html") if page != index else index
        print(f"Open {html.relative_to(ROOT)}")
    print(f"{time.monotonic() - begun:.1f} s")
    return 0
