"""The API index lists the names that torch.fx has, and says that a cell uses a name only if the cell's code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from press import ROOT
from press.book import the_book
from press.pages.api.documented import names, signature
from press.pages.api.names import BEYOND, LINES, REASONS
from press.pages.api.page import coverage, page_text, undemonstrated, uses_of
from press.pages.api.private import private_names, table
from press.pages.api.uses import Uses
from press.pages.status import page_text as status_text

_NOT_YET = "to be shown in one of the chapters from 10 on"
_SIZES = "needs a graph with symbolic sizes, to be shown in one of the chapters from 10 on"
# On the official page, but in no cell. Remove a name once a cell uses it; never add one.
NO_CELL = {
    "Graph.create_size_node": _SIZES,
    "Graph.create_storage_offset_node": _SIZES,
    "Graph.create_stride_node": _SIZES,
    "Graph.materialize_symint": _SIZES,
    "Graph.materialize_symints": _SIZES,
    "Graph.process_outputs": _NOT_YET,
    "Tracer.create_arg": _NOT_YET,
    "Tracer.get_fresh_qualname": _NOT_YET,
    "Tracer.iter": _NOT_YET,
    "Tracer.keys": _NOT_YET,
    "Transformer.get_attr": _NOT_YET,
    "Transformer.placeholder": _NOT_YET,
}

_TRACED = "from torch import fx\ntraced = fx.symbolic_trace(lambda x: x + 1)\n"
_TRACING = {"symbolic_trace"}
_GRAPH = {*_TRACING, "GraphModule.graph"}
_NODES = {*_GRAPH, "Graph.nodes"}
# Code of a notebook and exactly the names that it uses.
USES = {
    "a string and a comment": ('from torch import fx\ntold = "fx.symbolic_trace(f).graph.lint()"  # fx.wrap', set()),
    "a notebook without torch.fx": ("def f(thing):\n    thing.graph.lint()\nother.recompile()", set()),
    "an object of another library": ("import ast\nnode = ast.Name()\nnode.args, node.name, node.users", set()),
    "a class of the notebook": (
        "class Graph:\n    def lint(self):\n        return self.nodes\n\nGraph().lint()",
        set(),
    ),
    "a function of the notebook of the same name": ("def symbolic_trace(f):\n    return f\nsymbolic_trace(1)", set()),
    "a tensor": ("import torch\nx = torch.ones(2)\nx.type\nx.name", set()),
    "a list among the arguments": (
        _TRACED + "[n.args for n in traced.graph.nodes][0].append(1)",
        {*_NODES, "Node.args"},
    ),
    "a chain": (_TRACED + "traced.graph.lint()", {*_GRAPH, "Graph.lint"}),
    "another name for it": (
        "import torch.fx as t\nfrom torch.fx import Graph as G\nG()\nt.wrap('len')",
        {"Graph", "wrap"},
    ),
    "a loop": (_TRACED + "for node in traced.graph.nodes:\n    node.op = node.name", {*_NODES, "Node.op", "Node.name"}),
    "an argument of a node": (
        _TRACED + "traced.graph.output_node().args[0].users",
        {*_GRAPH, "Graph.output_node", "Node.args", "Node.users"},
    ),
    "with": (
        _TRACED + "with traced.graph.inserting_before(None):\n    new = traced.graph.get_attr('w')\nnew.meta['a'] = 1",
        {*_GRAPH, "Graph.inserting_before", "Graph.get_attr", "Node.meta"},
    ),
    "an override in a subclass": (
        "from torch import fx\nclass Loud(fx.Interpreter):\n    def run_node(self, n):\n        return n.name",
        {"Interpreter", "Interpreter.run_node", "Node.name"},
    ),
    "an override of what a Transformer inherits": (
        "from torch import fx\nclass Other(fx.Transformer):\n    def call_method(self, target, args, kwargs): ...",
        {"Transformer", "Interpreter.call_method"},
    ),
    "an override in a subclass of a subclass": (
        "from torch import fx\nclass A(fx.Tracer): ...\nclass B(A):\n    trace_asserts = True\nB().trace(len)",
        {"Tracer", "Tracer.trace_asserts", "Tracer.trace"},
    ),
    "a metaclass, a decorator, a default": (
        "from torch import fx\nclass A(metaclass=fx.ProxyableClassMeta): ...\n@fx.wrap\ndef f(t=fx.Tracer): ...",
        {"ProxyableClassMeta", "wrap", "Tracer"},
    ),
    "super": (
        "from torch import fx\nclass A(fx.Transformer):\n    def f(self, n):\n        return super().fetch_attr(n)",
        {"Transformer", "Interpreter.fetch_attr"},
    ),
    "what a constructor is given by name": (
        _TRACED + "fx.Interpreter(traced, garbage_collect_values=False)",
        {*_TRACING, "Interpreter", "Interpreter.garbage_collect_values"},
    ),
    "what cannot be imported": ("from torch.fx import no_such\nfrom torch.no_such import fx\nimport no_such.fx", set()),
}  # fmt: skip


def uses(*chapters: list[str]) -> Uses:
    """The index of a book whose chapters are lists of cells: code, or markdown that begins with a heading."""
    notebooks = {}
    for number, cells in enumerate(chapters):
        notebook = notebooks[Path("chapters") / f"0{number}_chapter.ipynb"] = nbformat.v4.new_notebook()
        for text in cells:
            make = nbformat.v4.new_markdown_cell if text.startswith("#") else nbformat.v4.new_code_cell
            notebook.cells.append(make(text))
    return Uses(notebooks)


@pytest.mark.parametrize("what", USES)
def test_a_name_is_used_where_the_code_uses_it(what: str) -> None:
    code, expected = USES[what]
    speaks_of_all = "# Title\n\nOf `args`, `keys`, `name`, `trace` and `type`."
    assert {full.removeprefix("torch.fx.") for full in uses([speaks_of_all, code]).used} == expected


def test_ambiguous_attribute_counts_only_in_its_section() -> None:
    code = "for thing in traced.graph.nodes:\n    thing.name"
    silent, spoken = ["# T", _TRACED, "## Walk\n\nSome text.", code], ["## Names\n\nIts `node.name` says it.", code]
    (using,) = [section for section in uses([*silent, *spoken]).sections if "torch.fx.Node.name" in section.cells]
    assert using.heading == "Names"


def test_a_class_that_the_notebook_does_not_name_has_no_uses() -> None:
    code = f"{_TRACED}def f(holder):\n    holder.keys(), holder.to_bool, holder.env"
    assert not {full for full in uses([code]).used if full.startswith(("torch.fx.Tracer", "torch.fx.Interpreter"))}
    assert "torch.fx.Tracer.to_bool" in uses([f"{code}\nfx.Tracer"]).used


def test_values_persist_between_cells_but_not_notebooks() -> None:
    found = uses(["# One", _TRACED, "# Two", "traced.graph"], ["# Three", "traced.recompile()"])
    (using,) = [section for section in found.sections if "torch.fx.GraphModule.graph" in section.cells]
    assert (using.page, using.heading) == ("00", "Two")
    assert "torch.fx.GraphModule.recompile" not in found.used


def test_the_place_that_teaches_a_name_comes_first() -> None:
    lint = "traced.graph.lint()"
    breaks = ["## When it breaks", "### RuntimeError: `lint` says so", lint]
    page = ["## In one page\n\n(fx.html#torch.fx.Graph.lint)", lint]
    found = uses(
        ["# T", _TRACED, "## By the way", lint, *breaks],
        ["# T", _TRACED, "## Check with `lint`\n\n`graph.lint()` is …", lint, *page],
    )
    (name,) = [name for name in names() if name.full == "torch.fx.Graph.lint"]
    assert [place.heading for place in found.places(name, 2)] == ["Check with `lint`", "RuntimeError: `lint` says so"]
    assert found.places(name, 1)[0].address == "../01_chapter.ipynb#check-with-lint"


def test_every_name_has_a_line_and_every_line_a_name() -> None:
    assert {name.shown for name in names() if name.full not in BEYOND} == set(LINES)
    assert len({name.full for name in names()}) == len(names())
    assert not [line for line in [*LINES.values(), *BEYOND.values()] if not line.endswith(".")]


def test_a_signature_is_that_of_the_installed_torch() -> None:
    signatures = {name.shown: signature(name) for name in names()}
    assert signatures["Graph.erase_node"] == "(to_erase)"
    assert signatures["Graph.placeholder"] == "(name, type_expr=None, default_value=inspect.Signature.empty) -> Node"
    assert signatures["Interpreter.run"] == "(*args, initial_env=None, enable_io_processing=True)"
    assert signatures["GraphModule"] == "(root, graph, class_name='GraphModule')"
    assert signatures["Node.users"] == ": dict[Node, None]"


def test_names_without_a_cell_are_listed() -> None:
    missing = undemonstrated(uses_of(the_book()))
    assert set(missing) - set(NO_CELL) == set(), "no cell uses these any more: use them again in one"
    assert set(NO_CELL) - set(missing) == set(), "a cell uses these now: remove them from NO_CELL"


def test_the_page_shows_the_coverage_and_what_is_missing() -> None:
    text = page_text(the_book())
    assert not re.search(r"\[(\d\d) \1 ", text), "a link names its chapter twice"
    assert f"| {coverage(the_book())} |" in text
    missing = re.search(r"used by no cell: (.+)\.\n", text)[1]
    assert re.findall(r"`([\w.]+)`", missing) == undemonstrated(uses_of(the_book()))
    assert f"that a cell uses | {coverage(the_book())} |" in status_text(the_book())
    for name in names():
        assert (LINES.get(name.shown) or BEYOND[name.full]) in text


def test_importing_the_press_does_not_import_torch() -> None:
    code = "import sys, press.binding.bind, press.printing.freshness, press.printing.notebooks\n"
    code += "assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_every_private_name_that_a_cell_uses_has_a_reason() -> None:
    used = private_names(the_book().lessons())
    assert sorted(used) == sorted(REASONS)
    rows = table(the_book().lessons())
    for name in used:
        assert f"| `{name}` | {REASONS[name]} |" in rows
    assert rows in (ROOT / "chapters/reference/api_index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("node._rename('x')", ["_rename"]),
        ("from torch._subclasses import fake_tensor", ["_subclasses"]),
        ("import torch._dynamo.config", ["_dynamo"]),
        ("make_fx(f, _allow_non_fake_inputs=True)", ["_allow_non_fake_inputs"]),
        ("self._count = 1\nx.__class__\n_ = 1\n'a._b'  # c._d", []),
    ],
)
def test_a_private_name_is_found_where_code_uses_it(source: str, names: list[str]) -> None:
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source), v4.new_markdown_cell("`x._y`")])
    assert list(private_names({Path("chapters/01_x.ipynb"): notebook})) == names
