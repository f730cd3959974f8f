"""The names with an underscore that the book's own cells use, each with the reason why no public name is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from nbformat import NotebookNode

from press.printing import package

REASONS = {
    "_BoxedCodeGen": "`torch.fx.graph`: lets generated code take its arguments in one list; torch's compilers set it",
    "_allow_non_fake_inputs": "the option of `make_fx` that lets weights stay real beside fake inputs",
    "_assert": "`torch._assert`: the assertion that a graph can hold; the official examples use it",
    "_assert_tensor_metadata": "the operator that `torch.export` writes beside a cast",
    "_boxed_call": "the mark by which torch's compilers know a function that takes its arguments in one list",
    "_decomp": "`torch._decomp`: the one home of `get_decompositions`",
    "_dynamo": "`torch._dynamo`: `explain` lists graph breaks, `exc` has the classes of its errors, `backends` and "
    "`config` have what a backend of one's own needs",
    "_export": "`torch._export.verifier`: the one home of `SpecViolationError`",
    "_graph_pickler": "`torch.fx._graph_pickler`: the one home of `GraphPickler`, which keeps names and notes",
    "_inductor": "`torch._inductor`: `config` has the settings of the default backend of `torch.compile`, "
    "`pattern_matcher` its matcher",
    "_internal": "`torch.testing._internal.optests`: the one home of the error that `opcheck` raises",
    "_non_persistent_buffers_set": "which buffers of a module are not saved; no public name lists or changes them",
    "_ops": "`torch._ops`: the one home of `OpOverload` and `OpOverloadPacket`, the classes of operators",
    "_python_dispatch": "`torch.utils._python_dispatch`: the one home of `TorchDispatchMode`",
    "_pytree": "`torch.utils._pytree`: the one home of `tree_leaves`",
    "_scaled_dot_product_flash_attention_for_cpu": "the name of the kernel that attention calls on a CPU",
    "_schema": "`OpOverload._schema`: the signature of an operator, with what it writes",
    "_softmax": "`aten._softmax`: the operator that softmax becomes",
    "_subclasses": "`torch._subclasses.fake_tensor`: the one home of `FakeTensorMode`",
    "_symbolic_trace": "`torch.fx._symbolic_trace`: the module that generated code imports `wrap` from",
    "_to_functional_tensor": "a function of C++ that takes tensors alone; no public one raises its message",
    "_wrapped_fns_to_patch": "where `fx.wrap` writes down the names of functions; nothing public lists them",
}


def private_names(notebooks: Mapping[Path, NotebookNode]) -> dict[str, list[Path]]:
    """The names with one underscore that the cells of printed notebooks use, with the notebooks, both in order.

    What a class of the page itself keeps on ``self`` is its own affair.
    """
    found: dict[str, list[Path]] = {}
    for path, notebook in notebooks.items():
        for cell in notebook.cells:
            for name in _names(package.python(cell)) if cell.cell_type == "code" else ():
                if name.startswith("_") and not name.startswith("__") and path not in found.setdefault(name, []):
                    found[name].append(path)
    return dict(sorted((name, paths) for name, paths in found.items() if paths))


def _names(source: str) -> Iterator[str]:
    """What is read as an attribute, imported, or passed by name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "").split(".")
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (part for alias in node.names for part in alias.name.split("."))
        elif isinstance(node, ast.Call):
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)


def table(notebooks: Mapping[Path, NotebookNode]) -> str:
    """A table of the names, seen from ``chapters/reference/``."""
    rows = ["| name | what for, and why no public name | used in |", "|---|---|---|"]
    for name, paths in private_names(notebooks).items():
        folders = {"chapters": "../", "reference": ""}
        links = [
            f"[{_label(path)}]({folders.get(path.parent.name, f'../{path.parent.name}/')}{path.name})" for path in paths
        ]
        rows.append(f"| `{name}` | {REASONS.get(name, '')} | {', '.join(links)} |")
    return "\n".join(rows)


def _label(path: Path) -> str:
    number = path.stem[:2]
    if path.parent.name == "chapters":
        return number
    return f"{number}, when it breaks" if number.isdigit() else path.stem.replace("_", " ")
