"""API names link to the official documentation, with addresses from the inventories in the repository alone."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from sphinx.util.inventory import InventoryFile

from press import ROOT
from press.binding import inventory
from press.pages.api.documented import names
from tests.loading import load
from tests.site.pages import PAGES, article, parsed

TABLES = sorted(inventory.TABLES.glob("*.toml"))
MAPPING = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]["intersphinx_mapping"]

official = load("book/_ext/official.py")


def addresses() -> dict[str, str]:
    """Every name with its full address, as Sphinx reads the inventories."""
    found: dict[str, str] = {}
    for base, file in MAPPING.values():
        with (ROOT / file).open("rb") as stream:
            read = InventoryFile.load(stream, base, lambda start, end: start.rstrip("/") + "/" + end)
        found |= {name: entry[2] for kind in read.values() for name, entry in kind.items()}
    return found


OFFICIAL = official.Official(addresses())
FX = "https://docs.pytorch.org/docs/2.13/fx.html#torch.fx."


def cell(code: str) -> str:
    """The HTML of a cell as Sphinx highlights it, with an element around each token."""
    marked = re.sub(r"\w+|[^\w\s]", lambda sign: f'<span class="n">{_escaped(sign[0])}</span>', code)
    return (
        '<div class="highlight-ipython3 notranslate"><div class="highlight"><pre><span></span>'
        f"{marked}\n</pre></div></div>"
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def links(page: str) -> list[tuple[str, str]]:
    """The text and the address of each link that was added."""
    tree = BeautifulSoup(official.linked(page, OFFICIAL), "html.parser")
    return [(link.get_text(), link["href"]) for link in tree.select("a.fx-api")]


def word(text: str) -> str:
    pre = " ".join(f'<span class="pre">{part}</span>' for part in text.split(" "))
    return f'<p><code class="docutils literal notranslate">{pre}</code></p>'


# ---- Inventories -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.stem)
def test_an_inventory_is_what_its_table_says(table: Path, tmp_path: Path) -> None:
    inventory.write(table, tmp_path / "made.inv")
    assert (tmp_path / "made.inv").read_bytes() == table.with_suffix(".inv").read_bytes(), (
        "run `python -m press inventory`"
    )


def test_the_tables_and_the_settings_name_the_same_places() -> None:
    tables = {table.stem: inventory.tomllib.loads(table.read_text("utf-8")) for table in TABLES}
    assert {name: [one["address"], f"book/_links/{name}.inv"] for name, one in tables.items()} == MAPPING
    pinned = re.search(r"^torch==(\d+\.\d+)", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)[1]
    assert tables["torch"]["version"] == pinned and f"/{pinned}/" in tables["torch"]["address"]


def test_the_inventory_has_every_documented_name_of_torch_fx_and_no_other() -> None:
    there = {name for name, address in OFFICIAL.addresses.items() if "/fx.html#" in address}
    assert there == {name.full for name in names() if name.listed}


def test_every_name_exists() -> None:
    for name in OFFICIAL.addresses:
        parts = name.split(".")
        for split in range(len(parts) - 1, 0, -1):
            try:
                held = importlib.import_module(".".join(parts[:split]))
            except ModuleNotFoundError:
                continue
            for part in parts[split:]:
                # Members may also be attributes that `__init__` sets, which the class does not have.
                held = getattr(held, part, None)
            break
        assert held is not None, name


# ---- Code ------------------------------------------------------------------------------------------------------------


def test_a_name_is_resolved_through_the_imports_of_the_page() -> None:
    page = cell("import torch\nfrom torch import fx, nn\nimport torch.nn.functional as F")
    page += cell("fx.symbolic_trace(nn.Linear(2, 2))\nF.gelu(torch.ones(2))")
    assert [text for text, _ in links(page)] == ["fx.symbolic_trace", "nn.Linear", "F.gelu", "torch.ones"]


def test_a_member_is_linked_only_if_its_class_is_certain() -> None:
    page = cell(
        "graph.placeholder('x')\ntraced.graph.erase_node(node)\nnode.args\nthing.recompile()\nthing.placeholder\nthing.append(1)"
    )
    assert links(page) == [
        ("placeholder", f"{FX}Graph.placeholder"),
        ("graph", f"{FX}GraphModule.graph"),
        ("erase_node", f"{FX}Graph.erase_node"),
        ("args", f"{FX}Node.args"),
        ("recompile", f"{FX}GraphModule.recompile"),
    ]


def test_links_in_code_change_no_character_and_are_no_tab_stops() -> None:
    page = cell("import torch\nx = torch.add(torch.ones(2), 1)")
    made = BeautifulSoup(official.linked(page, OFFICIAL), "html.parser")
    assert made.get_text() == BeautifulSoup(page, "html.parser").get_text()
    assert {link["tabindex"] for link in made.select("a")} == {"-1"}


# ---- Text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Graph.lint", "torch.fx.Graph.lint"),
        ("graph.lint()", "torch.fx.Graph.lint"),
        ("fx.symbolic_trace", "torch.fx.symbolic_trace"),
        ("symbolic_trace(model)", "torch.fx.symbolic_trace"),
        ("nn.ReLU(inplace=True)", "torch.nn.ReLU"),
        ("torch.add", "torch.add"),
        ("erase_node", "torch.fx.Graph.erase_node"),
        ("lint", "torch.fx.Graph.lint"),
        ("Interpreter", "torch.fx.Interpreter"),
        ("operator.add", "operator.add"),
    ],
)
def test_names_in_text_are_linked(text: str, name: str) -> None:
    assert links(word(text)) == [(text, OFFICIAL.addresses[name])]


@pytest.mark.parametrize(
    "text",
    ["placeholder", "call_function", "get_attr", "name", "next", "run", "x + 1", "relu", "print", "Graph.nothing"],
)
def test_ambiguous_word_is_not_linked(text: str) -> None:
    assert links(word(text)) == []


def test_headings_links_and_summaries_are_left_alone() -> None:
    code = '<code class="docutils literal notranslate"><span class="pre">Graph.lint</span></code>'
    for tag in ("h2", "h3", "summary", "a"):
        assert links(f"<{tag}>{code}</{tag}>") == []


def test_a_name_has_one_link_in_each_section() -> None:
    section = "<h2>A section</h2>" + word("Graph.lint") * 3 + cell("graph.lint()") * 3
    assert len(links(section * 2)) == 4


# ---- The book --------------------------------------------------------------------------------------------------------


def test_the_pages_have_links_and_all_lead_to_the_official_documentation(built_book: Path) -> None:
    places = tuple(base for base, _ in MAPPING.values())
    for page in PAGES:
        found = article(built_book, page).select("a.fx-api")
        assert [link["href"] for link in found if not link["href"].startswith(places)] == []
        if page.startswith("chapters/0"):
            assert sum(link.find_parent("pre") is not None for link in found) > 20, page
            assert sum(link.find_parent("pre") is None for link in found) > 5, page


def test_links_are_not_nested(built_book: Path) -> None:
    nested = [(page, str(link)) for page in PAGES for link in parsed(built_book / f"{page}.html").select("a a")]
    assert nested == []


def test_links_by_authors_lead_to_the_version_that_the_book_is_proven_with(built_book: Path) -> None:
    written = '<a href="https://docs.pytorch.org/docs/stable/fx.html#torch.fx.Graph">at docs/stable/</a>'
    assert inventory.to_pinned_docs(written) == f'<a href="{FX}Graph">at docs/stable/</a>'
    linked = [link["href"] for page in PAGES for link in article(built_book, page).select("a[href*='/docs/']")]
    assert sum(address.startswith("https://docs.pytorch.org/docs/2.13/") for address in linked) > 500
    assert [address for address in linked if "/docs/stable/" in address] == []
