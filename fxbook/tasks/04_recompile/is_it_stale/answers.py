"""Answers to 04-is-it-stale."""

import copy
import re

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

SEES = "04_recompile#who-sees-an-edit-at-once"
COPY = "when_it_breaks/04_recompile#what-a-copy-keeps"


@right
def compiles_a_copy_of_the_graph(traced):
    apart = fx.GraphModule(torch.nn.Module(), fx.Graph())
    apart.graph = copy.deepcopy(traced.graph)
    return apart.code.strip() != traced.code.strip()


@right
def compares_line_by_line(traced):
    due = traced.graph.python_code(root_module="self").src.splitlines()
    ran = traced.code.splitlines()
    return len(due) != len(ran) or any(a != b for a, b in zip(due, ran, strict=True))


@right
def uses_what_recompile_returns(traced):
    return copy.deepcopy(traced).recompile().src != traced.code


@right
def writes_a_copy_of_the_graph(traced):
    """A copy of the graph has no owner, and needs none to generate code."""
    draft, copies = fx.Graph(), {}
    for node in traced.graph.nodes:
        copies[node] = draft.node_copy(node, copies.get)
    draft.set_codegen(traced.graph._codegen)
    return hash(draft.python_code("self").src) != hash(traced.code)


@breaks("else `False`.", case="a module fresh from tracing")
@wrong("says_whether_stale", says="returns True, but the code is up to date", read=SEES)
def compares_with_print_readable(traced):
    return traced.code != traced.print_readable(print_output=False)


@breaks("Leave the module as it is:", "do not compile it", case="an edit")
@wrong("input_unchanged", says="its code was recompiled")
def recompiles_to_find_out(traced):
    before = traced.code
    traced.recompile()
    return traced.code != before


@breaks("and do not change the owner of its graph.", case="a module fresh from tracing")
@wrong("left_alone", says="The graph now belongs to another module", read=COPY)
def compares_with_a_shallow_copy(traced):
    return copy.copy(traced).code != traced.code


@breaks("or any module inside it", case="an edit in a traced submodule")
@wrong(
    "left_alone",
    says="the traced submodule `near` was compiled",
    read="04_recompile#recompile-goes-down-to-children-not-to-everything-inside",
)
def makes_a_module_that_shares_the_children(traced):
    return fx.GraphModule(traced, copy.deepcopy(traced.graph)).code != traced.code


@breaks("Return `True` if the text in `traced.code` differs", case="an edit")
@wrong("says_whether_stale", says="returns False, but the code is stale", read=SEES)
def traces_it_again(traced):
    return fx.symbolic_trace(traced).code != traced.code


@breaks("from the text that the graph of `traced` would generate now", case="an edit that changes only the order")
@wrong("says_whether_stale", says="returns False, but the code is stale", read=SEES)
def compares_sorted_lines(traced):
    return sorted(traced.code.splitlines()) != sorted(traced.graph.python_code("self").src.splitlines())


@breaks("from the text that the graph of `traced` would generate now", case="an edit in a traced submodule")
@wrong("says_whether_stale", says="(an edit in a traced submodule): it returns True", read=SEES)
def returns_true_if_anything_inside_is_stale(traced):
    parts = [part for part in traced.modules() if isinstance(part, fx.GraphModule)]
    return any(part.code != part.graph.python_code("self").src for part in parts)


@breaks("from the text that the graph of `traced` would generate now", case="an edit that changes only the signature")
@wrong("says_whether_stale", says="the code has `def forward(self, x", read=SEES)
def compares_what_is_below_the_signature(traced):
    texts = (traced.code, traced.graph.python_code("self").src)
    return len({text.partition("def forward")[2].partition("\n")[2] for text in texts}) > 1


@breaks("from the text that the graph of `traced` would generate now", case="an edit that changes only an annotation")
@wrong("says_whether_stale", says="the graph gives `relu : torch.Tensor = torch.relu(", read=SEES)
def passes_over_annotations(traced):
    texts = (traced.code, traced.graph.python_code("self").src)
    return len({re.sub(r"    (\w+) : [^=]+ = ", r"    \1 = ", text) for text in texts}) > 1


@breaks("from the text that the graph of `traced` would generate now", case="another order and codegen, compiled")
@wrong("says_whether_stale", says="returns True, but the code is up to date", read=SEES)
def generates_with_another_codegen(traced):
    draft, copies = fx.Graph(), {}
    for node in traced.graph.nodes:
        copies[node] = draft.node_copy(node, copies.get)
    return draft.python_code("self").src != traced.code


@breaks("Return `True` if the text in `traced.code` differs", case="another function of the same name")
@wrong("says_whether_stale", says="(another function of the same name): it returns True", read=SEES)
def compares_the_functions_too(traced):
    due, held = traced.graph.python_code("self"), traced.forward.__func__.__globals__
    return due.src != traced.code or any(held.get(name) is not value for name, value in due.globals.items())


@wrong("says_whether_stale", says="= None`, the graph gives `", read=SEES)
def passes_over_dead_nodes(traced):
    dead = any(not node.users for node in traced.graph.nodes if node.op.startswith("call"))
    return not dead and traced.code != traced.graph.python_code("self").src
