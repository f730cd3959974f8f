"""Answers to 06-keep-the-dims."""

import copy
import inspect

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

NEEDS_A_USER = "02_insertion_points#a-new-node-needs-a-user"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"
THE_CALL = "06_kwargs#the-call-decides-the-place"


def sums(traced):
    called = {("call_function", torch.sum), ("call_method", "sum")}
    return [node for node in traced.graph.nodes if (node.op, node.target) in called]


def has_dim(node):
    return node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None) is not None


@right
def cuts_the_positions(traced):
    for node in filter(has_dim, sums(traced)):
        node.args, node.kwargs = node.args[:2], {**node.kwargs, "keepdim": True}
    traced.recompile()


@right
def passes_everything_by_position(traced):
    for op, target in (("call_function", torch.sum), ("call_method", "sum")):
        for node in traced.graph.find_nodes(op=op, target=target):
            options = dict(node.kwargs)
            tensor = options.pop("input", None) or node.args[0]
            given = [*node.args[1:], None, None][:2]
            dim, _ = options.pop("dim", given[0]), options.pop("keepdim", given[1])
            if dim is not None:
                node.args, node.kwargs = (tensor, dim, True), options
    traced.recompile()
    return traced


@right
def binds_a_signature(traced):
    def sum_of(input, dim=None, keepdim=False, **options): ...

    for node in sums(traced):
        bound = inspect.signature(sum_of).bind(*node.args, **node.kwargs)
        if bound.arguments.get("dim") is None:
            continue
        bound.arguments["keepdim"] = True
        bound.apply_defaults()
        node.args, node.kwargs = bound.args, bound.kwargs
    traced.recompile()


@right
def writes_a_function_for_each(traced):
    tracer = fx.proxy.GraphAppendingTracer(traced.graph)
    for node in list(traced.graph.nodes):
        if node.op == "call_method" and node.target == "sum" and has_dim(node):
            given = fx.map_arg(node.args[:2], lambda value: fx.Proxy(value, tracer))
            with traced.graph.inserting_after(node):
                same = {name: value for name, value in node.kwargs.items() if name != "keepdim"}
                new = torch.sum(*given, **same, keepdim=True).node
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
        elif node.op == "call_function" and node.target is torch.sum and has_dim(node):
            node.args, node.kwargs = node.args[:2], node.kwargs | {"keepdim": True}
    traced.recompile()


@breaks("A sum without a `dim`", case="sums over one dimension and over all")
@wrong("keep_where_a_dim_is", node="sum_5", says="Node `sum_5` has no `dim`, but now has `keepdim=True`")
def keeps_them_in_every_sum(traced):
    for node in sums(traced):
        node.update_kwarg("keepdim", True)
    traced.recompile()


@breaks("`keepdim` is the third argument, after `dim`.", case="sums with other arguments")
@wrong(
    "no_argument_twice",
    node="sum_1",
    says="node `sum_1` is given `keepdim` twice, by position and by name.",
    read="06_kwargs#typeerror-sum-got-multiple-values-for-argument-dim",
)
def adds_by_name_what_is_there_by_position(traced):
    for node in filter(has_dim, sums(traced)):
        node.update_kwarg("keepdim", True)
    traced.recompile()


@breaks("Make every sum over a `dim` keep its dimensions:", "So does every other call.", case="sums over dimension 0")
@wrong("others_stay", says="node `cumsum` is gone, but should have stayed: `x.cumsum(1)`")
def erases_calls_without_users(traced):
    cuts_the_positions(traced)
    traced.graph.eliminate_dead_code()
    traced.recompile()


@breaks("call it with `keepdim=True`, whatever it had before.", case="sums with other arguments")
@wrong("keep_where_a_dim_is", node="sum_1", says="node `sum_1` does not keep its dimensions.", read=THE_CALL)
def leaves_an_existing_keepdim(traced):
    for node in filter(has_dim, sums(traced)):
        if len(node.args) < 3 and "keepdim" not in node.kwargs:
            node.update_kwarg("keepdim", True)
    traced.recompile()


@wrong("keywords_kept", node="sum_2", says="Node `sum_2` has lost `dim`.")
def assigns_a_dict_with_one_key(traced):
    for node in filter(has_dim, sums(traced)):
        node.kwargs = {"keepdim": True}
    traced.recompile()


@wrong(
    "recompiled", says="The graph has changed, but the compiled code is stale", read="00_first_graph#change-one-node"
)
def forgets_to_recompile(traced):
    for node in filter(has_dim, sums(traced)):
        node.args, node.kwargs = node.args[:2], {**node.kwargs, "keepdim": True}


@wrong("same_result", node="sum_12", says="(sums with other arguments): running the result raises TypeError: sum()")
def appends_it_after_every_positional_dim(traced):
    """This also changes a call to Python's own `sum`, which has no `keepdim`."""
    for node in traced.graph.nodes:
        if node in sums(traced) and "dim" in node.kwargs and has_dim(node):
            node.kwargs = {**node.kwargs, "keepdim": True}
        elif len(node.args) > 1 and node.args[1] is not None:
            node.args, node.kwargs = (*node.args[:2], True), {k: v for k, v in node.kwargs.items() if k != "keepdim"}
    traced.recompile()


def called_anew(traced, node):
    function = getattr(traced.graph, node.op)
    return function(node.target, node.args[:2], {**node.kwargs, "keepdim": True})


@wrong("lints", node="output", says="node `output` uses sum_6 before it is defined", read=NO_ANCHOR)
def makes_new_calls_without_an_anchor(traced):
    for node in filter(has_dim, sums(traced)):
        node.replace_all_uses_with(called_anew(traced, node))
        traced.graph.erase_node(node)
    traced.recompile()


@wrong("no_dead_nodes", node="sum_1", says="Node `sum_1` is dead: no node uses its result.", read=NEEDS_A_USER)
def leaves_the_old_calls(traced):
    for node in filter(has_dim, sums(traced)):
        with traced.graph.inserting_before(node):
            node.replace_all_uses_with(called_anew(traced, node))
    traced.recompile()


@breaks("Edit `traced` in place.", case="sums over one dimension and over all")
@wrong("given_edited", says="You edited a copy: the module that you were given is unchanged.")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    cuts_the_positions(traced)
    return traced


@breaks("So does every other call.", case="sums with other arguments")
@wrong(
    "only_sums_changed",
    node="sum_12",
    says="(sums with other arguments): node `sum_12` is not a sum, but now has `keepdim`.",
    read="06_kwargs#who-finds-a-wrong-keyword",
)
def looks_for_sum_in_the_node_names(traced):
    for node in traced.graph.nodes:
        if node.name.startswith("sum_") and node.op in ("call_function", "call_method") and has_dim(node):
            node.args, node.kwargs = node.args[:2], {**node.kwargs, "keepdim": True}
    traced.recompile()


@breaks("or with `dim=None`, stays as it is.", case="sums over dimension 0")
@wrong("keep_where_a_dim_is", node="sum_8", says="node `sum_8` has `dim=None`, but has lost its `keepdim=True`: it")
def sets_keepdim_to_false_in_other_sums(traced):
    cuts_the_positions(traced)
    for node in sums(traced):
        if not has_dim(node) and "keepdim" in node.kwargs:
            node.update_kwarg("keepdim", False)
    traced.recompile()
