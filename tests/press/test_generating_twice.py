"""Generating a notebook twice gives the same bytes, for each kind of output in the book."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from press.book import Book
from press.printing.execution import without_addresses
from press.printing.notebooks import generate

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


@pytest.mark.room(name="cold")
def test_two_runs_give_the_same_bytes(project: Path, write: Callable[[str, str], Path]) -> None:
    path = write("chapters/01_x.md", EVERY_KIND)
    notebooks = []
    for _ in range(2):
        assert generate(Book(project), [path], everything=True) == 0
        notebooks.append((project / "chapters" / "01_x.ipynb").read_bytes())
    assert notebooks[0] == notebooks[1]
    assert b"0x\xe2\x80\xa6" in notebooks[0], "the notebook shows no address, so this test proves nothing"
    assert b"<svg" in notebooks[0]


def test_a_change_of_prose_runs_no_cell(project: Path, write: Callable[[str, str], Path]) -> None:
    text = "# A page\n\nA sentence.\n\n```{code-cell} ipython3\nimport time\n\nprint(time.time_ns())\n```\n"
    notebook = project / "chapters" / "01_x.ipynb"

    def shown(text: str, everything: bool = False) -> tuple[str, str]:
        path = write("chapters/01_x.md", text)
        assert generate(Book(project), [path], everything=everything) == 0
        prose, code = nbformat.read(notebook, as_version=4).cells
        return prose.source, code.outputs[0].text

    _, first = shown(text)
    prose, second = shown(text.replace("A sentence", "Another"))
    assert "Another" in prose
    assert second == first, "the cell ran again"
    assert shown(text.replace("A sentence", "A third"), everything=True)[1] != first
    _, third = shown(text.replace("print(time", "print('now', time"))
    assert third.startswith("now")


def test_an_address_in_a_table_leaves_the_columns_in_line() -> None:
    rows = ["relu  <relu at 0x7f0123456789>  (x,)", "add   <built-in function add>   (x,)"]
    assert {without_addresses(row).index("(x,)") for row in rows} == {32}
    assert without_addresses("at 0x7f0123456789, once") == "at 0x…, once"
