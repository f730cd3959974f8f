"""Generating a notebook twice gives the same bytes, for each kind of output in the book."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat

from press.book import Book
from press.printing.notebooks import print_notebooks

EVERY_KIND = """
# Every kind of output

```{code-cell} ipython3
import torch
from torch import fx, nn

from fxbook import draw, expect_error

print("a stream")
print("in two writes", end="")
```

```{code-cell} ipython3
torch.ones(2)
```

```{code-cell} ipython3
print(lambda: 1, object())
torch.relu
```

```{code-cell} ipython3
traced = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
traced.graph.print_tabular()
draw(traced, title="A drawing")
```

```{code-cell} ipython3
with expect_error(TypeError, "must be Tensor"):
    torch.relu(1)
```

```{code-cell} ipython3
from IPython.display import HTML, display

display(HTML("<b>bold</b>"))
display(traced)
```
"""


def test_two_prints_are_the_same_bytes(project: Path, write: Callable[[str, str], Path]) -> None:
    path = write("chapters/01_x.md", EVERY_KIND)
    prints = []
    for _ in range(2):
        assert print_notebooks(Book(project), [path], everything=True) == 0
        prints.append((project / "chapters" / "01_x.ipynb").read_bytes())
    assert prints[0] == prints[1]
    assert b"0x\xe2\x80\xa6" in prints[0], "the notebook shows no address: the test tests nothing"
    assert b"<svg" in prints[0]


def test_prose_changes_run_nothing(project: Path, write: Callable[[str, str], Path]) -> None:
    text = "# A page\n\nA sentence.\n\n```{code-cell} ipython3\nimport time\n\nprint(time.time_ns())\n```\n"
    printed = project / "chapters" / "01_x.ipynb"

    def shown(text: str, everything: bool = False) -> tuple[str, str]:
        path = write("chapters/01_x.md", text)
        assert print_notebooks(Book(project), [path], everything=everything) == 0
        prose, code = nbformat.read(printed, as_version=4).cells
        return prose.source, code.outputs[0].text

    _, first = shown(text)
    prose, second = shown(text.replace("A sentence", "Another"))
    assert "Another" in prose
    assert second == first, "the cell ran again"
    assert shown(text.replace("A sentence", "A third"), everything=True)[1] != first
    _, third = shown(text.replace("print(time", "print('now', time"))
    assert third.startswith("now")
