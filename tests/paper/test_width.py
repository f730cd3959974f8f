"""Nothing is wider than the paper: Chromium would print every page smaller for it, and say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from press.paper import markup
from press.paper.builder import settled
from press.paper.chromium import PrintError, scale
from press.paper.editions import print_sheets
from tests.browsing import needs_chromium

TOC = """
root: chapters/intro
parts:
  - caption: Reference
    chapters:
      - file: chapters/reference/narrow
      - file: chapters/reference/wide
"""
NAME = "torch.fx.experimental.symbolic_shapes." + "guard_or_false_" * 6
CELLS = "".join(f"<td><p>what for: <code>{name}</code></p></td>" for name in (NAME, NAME, "a" * 99))
# The longest of everything that the pages of the book are made of.
LONGEST = f"""
<h2>{NAME}</h2>
<p>{NAME} and <code>{NAME}</code> and <a href="https://pytorch.org/"><strong><code>{NAME}</code></strong></a></p>
<ul><li><code>{NAME}</code></li><li><p>{NAME}</p></li></ul>
<table class="docutils"><thead><tr><th class="head"><p>name</p></th></tr></thead>
<tbody><tr>{CELLS}</tr></tbody></table>
<table class="docutils"><tbody><tr>{CELLS}{CELLS}</tr></tbody></table>
<div class="cell_input"><div class="highlight"><pre>{NAME} = {NAME}</pre></div></div>
<div class="cell_output"><div class="highlight"><pre>{NAME}</pre></div></div>
<div class="fx-note">{NAME}</div>
"""


def pages(folder: Path, bodies: dict[str, str]) -> Path:
    """The pages of a small book."""
    (folder / "_toc.yml").write_text(TOC, encoding="utf-8")
    (folder / "_static").mkdir()
    (folder / "_static" / "pygments.css").write_text("", encoding="utf-8")
    for name, body in bodies.items():
        page = folder / f"{name}.xhtml"
        page.parent.mkdir(parents=True, exist_ok=True)
        inside = f'<div class="body">{settled(f"<section><h1>A page</h1>{body}</section>")}</div>'
        page.write_text(f'<html xmlns="{markup.XHTML}"><body>{inside}</body></html>', encoding="utf-8")
    return folder


@needs_chromium
def test_the_longest_names_fit_wherever_they_stand(tmp_path: Path) -> None:
    bodies = dict.fromkeys(("chapters/intro", "chapters/reference/narrow", "chapters/reference/wide"), LONGEST)
    target = tmp_path / "book.pdf"
    print_sheets(pages(tmp_path, bodies), target, tmp_path / "_toc.yml")
    assert scale(target) == pytest.approx(1, abs=0.001)


@needs_chromium
def test_a_page_that_is_too_wide_is_named(tmp_path: Path) -> None:
    wide = '<div style="width: 900px">wide</div>'
    bodies = {"chapters/intro": LONGEST, "chapters/reference/narrow": "", "chapters/reference/wide": wide}
    folder = pages(tmp_path, bodies)
    with pytest.raises(PrintError, match=r"at 7\d% of its size. It is in chapters/reference/wide$"):
        print_sheets(folder, tmp_path / "book.pdf", tmp_path / "_toc.yml")
