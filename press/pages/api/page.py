"""The API index: each public name of torch.fx, its signature, a one-line description, and the cells that use it."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import torch

from press.book import Book
from press.pages.api import private
from press.pages.api.documented import PAGE, Name, address, names, signature
from press.pages.api.names import BEYOND, LINES
from press.pages.api.uses import Section, Uses

_MOST, _LONGEST = 2, 60
_GROUPS = {
    "functions": "Functions",
    "Graph": "Graph",
    "Node": "Node",
    "GraphModule": "GraphModule",
    "Tracer": "Tracer",
    "Proxy": "Proxy",
    "Interpreter": "Interpreter",
    "Transformer": "Transformer",
    "others": "Other names in torch.fx",
    "passes": "torch.fx.passes",
    "experimental": "torch.fx.experimental",
}
_PAGE = """\
# API index

The public names of torch.fx, as torch {torch} has them: how each is called, what it does, and where in this book a cell
uses it, the best place first. A name links to its official page or, if it has none, to the page of its class or
module, or to its source. Names and signatures come from the installed torch, uses from the code of the cells.

| names | used by a cell |
|---|---|
| listed on the [official page]({page}) | {listed} |
| other members of the same classes, and other exports of torch.fx | {members} |
| a selection from the modules inside torch.fx | {beyond} |

Listed on the official page and used by no cell: {missing}.

{sections}
## Names with an underscore

Names that begin with an underscore may change from one version to the next. Cells of the book use only these, because
there is no public name.

{private}
"""


def undemonstrated(uses: Uses) -> list[str]:
    return [name.shown for name in names() if name.listed and name.full not in uses.used]


@functools.cache
def uses_of(book: Book) -> Uses:
    return Uses(book.lessons())


def coverage(book: Book) -> str:
    """How many of the names that the official page lists are used by a cell: ``"88 of 93"``."""
    return _counted((name for name in names() if name.listed), uses_of(book))


def page_text(book: Book) -> str:
    uses = uses_of(book)
    parts = []
    for group, heading in _GROUPS.items():
        entries = [_entry(name, uses) for name in names() if name.group == group]
        parts.append(f"## {heading}\n\n" + "\n".join(entries) + "\n")
    return _PAGE.format(
        page=PAGE,
        torch=torch.__version__.partition("+")[0],
        listed=_counted((name for name in names() if name.listed), uses),
        members=_counted((name for name in names() if not name.listed and name.full not in BEYOND), uses),
        beyond=_counted((name for name in names() if name.full in BEYOND), uses),
        missing=", ".join(f"`{name}`" for name in undemonstrated(uses)) or "none",
        sections="\n".join(parts),
        private=private.table(book.lessons()),
    )


def _counted(chosen: Iterable[Name], uses: Uses) -> str:
    used = uses.used
    found = [name.full in used for name in chosen]
    return f"{sum(found)} of {len(found)}"


def _entry(name: Name, uses: Uses) -> str:
    tail = signature(name)
    # The heading above names the class or the folder.
    called = name.shown.removeprefix(f"{name.group}.") if name.full in BEYOND else name.last
    line = BEYOND.get(name.full) or LINES[name.shown]
    head = f"- [**`{called}`**]({address(name)})" + (f"`{tail}`" if tail else "")
    where = " · ".join(f"[{_short(place)}]({place.address})" for place in uses.places(name, _MOST))
    return f"{head}\\\n  {line} {where}".rstrip()


def _short(place: Section) -> str:
    heading = place.heading.removeprefix(f"{place.page} · ")  # the title of a companion begins with the number
    if len(heading) > _LONGEST:
        heading = heading[:_LONGEST].rpartition(" ")[0]
        # An open code span or bracket would break the link.
        heading = heading.rpartition("`")[0] if heading.count("`") % 2 else heading
        heading = heading.rpartition("[")[0] if heading.count("[") > heading.count("]") else heading
        heading = f"{heading.rstrip()} …"
    return f"{place.page} {heading}"
