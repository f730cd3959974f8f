"""Make the inventories of official documentation from their tables: ``book/_links/NAME.toml`` to ``NAME.inv``."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from press import ROOT

TABLES = ROOT / "book" / "_links"
# Manuscripts and notebooks link to this address of PyTorch's documentation, so that a new version needs no new text.
_NEWEST = "https://docs.pytorch.org/docs/stable/"


def addresses(table: Path) -> dict[str, str]:
    """Every name in a table, with its address relative to the documentation: ``"fx.html#torch.fx.Graph"``."""
    content = _read(table)
    found = {name: f"{page.format(name=name)}#{name}" for page, names in content["pages"].items() for name in names}
    return found | content.get("aliases", {})


def to_pinned_docs(page: str) -> str:
    """Make links to PyTorch's newest documentation lead to that of the version that the book is tested with.

    The newest would soon differ from what a page says about it or quotes from it.
    """
    return page.replace(f'href="{_NEWEST}', f'href="{_address_of_torch()}')


@functools.cache
def _address_of_torch() -> str:
    return _read(TABLES / "torch.toml")["address"]


def write(table: Path, inventory: Path) -> None:
    from sphinx.util.inventory import InventoryFile  # Not every environment has Sphinx.

    content = _read(table)
    domain = SimpleNamespace(get_objects=lambda: _objects(addresses(table)))
    environment = SimpleNamespace(
        config=SimpleNamespace(project=content["project"], version=content["version"]), domains={"py": domain}
    )
    builder: Any = SimpleNamespace(get_target_uri=lambda page: page)
    InventoryFile.dump(str(inventory), environment, builder)  # type: ignore[arg-type]


def write_all() -> int:
    for table in sorted(TABLES.glob("*.toml")):
        inventory = table.with_suffix(".inv")
        write(table, inventory)
        print(f"{inventory.relative_to(ROOT)}: {len(addresses(table))} names")
    return 0


def _objects(found: dict[str, str]) -> Iterator[tuple[str, str, str, str, str, int]]:
    """The tuples that a Sphinx domain yields for its names. A name's capital letters decide its kind."""
    for name, address in found.items():
        page, _, anchor = address.partition("#")
        owner, _, last = name.rpartition(".")
        member = owner.rpartition(".")[2][:1].isupper()
        kind = "class" if last[:1].isupper() else "method" if member else "function"
        yield name, name, kind, page, anchor, 1


def _read(table: Path) -> dict[str, Any]:
    return tomllib.loads(table.read_text(encoding="utf-8"))
