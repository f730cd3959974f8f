"""Answers to 06-find-the-dim."""

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

INDEX = "when_it_breaks/01_node_creation#indexerror-tuple-index-out-of-range"


def sums_of(traced):
    functions = traced.graph.find_nodes(op="call_function", target=torch.sum)
    return [*functions, *traced.graph.find_nodes(op="call_method", target="sum")]


@right
def tests_whether_it_is_there(traced):
    dims = {}
    for node in traced.graph.nodes:
        if (node.op, node.target) in (("call_function", torch.sum), ("call_method", "sum")):
            dims[node.name] = node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None)
    return dims


@right
def asks_for_forgiveness(traced):
    dims = {}
    for node in sums_of(traced):
        try:
            dims[node.name] = node.kwargs["dim"] if "dim" in node.kwargs else node.args[1]
        except IndexError:
            dims[node.name] = None
    return dims


@right
def records_the_dims_while_copying(traced):
    """A Transformer copies the graph, and sees each call with its arguments."""
    dims = {}

    class Noting(fx.Transformer):
        def run_node(self, n):
            self.name = n.name
            return super().run_node(n)

        def note(self, tensor=None, dim=None, *others, **options):
            dims[self.name] = dim

        def call_function(self, target, args, kwargs):
            if target is torch.sum:
                self.note(*args, **kwargs)
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            if target == "sum":
                self.note(*args, **kwargs)
            return super().call_method(target, args, kwargs)

    Noting(traced).transform()
    return dims


@right
class VisitsTheCalls:
    def __call__(self, traced):
        found = traced.graph.find_nodes(op="call_function", target=torch.sum)
        found += traced.graph.find_nodes(op="call_method", target="sum")
        return {node.name: self.second(*node.args[1:], **node.kwargs) for node in found}

    def second(self, dim=None, *_, **_others):
        return dim


@breaks("the name of each sum", case="sums over one dimension and over all")
@wrong("dims_found", says="The keys of the answer are nodes")
def gives_the_nodes_themselves(traced):
    sums = [node for node in traced.graph.nodes if node.target in (torch.sum, "sum")]
    return {node: node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None) for node in sums}


@breaks("and nothing else.", case="sums with other arguments")
@wrong("dims_found", says="the answer has the key 'cumsum', but `cumsum = torch.cumsum(")
def looks_for_sum_in_the_target(traced):
    sums = [node for node in traced.graph.nodes if node.op.startswith("call_") and "sum" in str(node.target)]
    sums = [node for node in sums if node.op != "call_module"]
    return {node.name: node.kwargs.get("dim", (*node.args, None, None)[1]) for node in sums}


@breaks("Do not change `traced`.", case="sums over one dimension and over all")
@wrong("input_unchanged", says="The model that was given has been changed: its graph was edited, at node `sum_2`.")
def empties_the_keywords(traced):
    dims = {}
    for node in traced.graph.nodes:
        if node.target in (torch.sum, "sum"):
            options = dict(node.kwargs)
            dims[node.name] = options.pop("dim", node.args[1] if len(node.args) > 1 else None)
            node.kwargs = options
    return dims


@breaks("to its `dim`", case="sums over one dimension and over all")
@wrong("dims_found", says="For `sum_1 = torch.sum(x, 0)` the answer is None: the call passes its `dim` by position.")
def looks_by_name_only(traced):
    return {node.name: node.kwargs.get("dim") for node in traced.graph.nodes if node.target in (torch.sum, "sum")}


@breaks("In both, `dim` is the second argument", case="sums over one dimension and over all")
@wrong("dims_found", says="For `sum_2 = torch.sum(x, dim=1)` the answer is None: the call passes its `dim` by name.")
def looks_by_position_only(traced):
    sums = [node for node in traced.graph.nodes if node.target in (torch.sum, "sum")]
    return {node.name: node.args[1] if len(node.args) > 1 else None for node in sums}


@wrong("ends well", says="Your code raises KeyError: 'dim'", read="06_kwargs#keyerror-dim")
def subscripts_the_keywords(traced):
    return {node.name: node.kwargs["dim"] for node in traced.graph.nodes if node.target in (torch.sum, "sum")}


@breaks("A sum is a call to `torch.sum` or to the method `sum`", case="sums over one dimension and over all")
@wrong("dims_found", says="The answer has no entry for `sum_3 = x.sum(1)`.")
def skips_the_method(traced):
    sums = traced.graph.find_nodes(op="call_function", target=torch.sum)
    return {node.name: node.kwargs.get("dim", (*node.args, None)[1]) for node in sums}


@breaks("Return a dict", case="sums over one dimension and over all")
@wrong("dims_found", says="The answer is not a dict.")
def returns_pairs(traced):
    return [(node.name, node.kwargs.get("dim")) for node in traced.graph.nodes if node.target in (torch.sum, "sum")]


@breaks("or to `None` if the call has no `dim`.", case="sums over one dimension and over all")
@wrong("dims_found", says="The answer has no entry for `sum_5 = torch.sum(x)`.")
def skips_sums_without_a_dim(traced):
    dims = {}
    for node in sums_of(traced):
        if "dim" in node.kwargs or len(node.args) > 1:
            dims[node.name] = node.kwargs.get("dim", (*node.args, None, None)[1])
    return dims


@wrong("ends well", says="your code raises IndexError: tuple index out of range", read=INDEX)
def expects_the_tensor_by_position(traced):
    dims = {}
    for node in sums_of(traced):
        if "dim" in node.kwargs:
            dims[node.name] = node.kwargs["dim"]
        else:
            dims[node.name] = None if len(node.args) == 1 else node.args[1]
    return dims


@breaks("each sum in the graph", case="an input and a layer named sum")
@wrong("dims_found", says="the answer has no entry for `sum_3 = torch.sum(input=sum_2)`.")
def skips_sums_without_users(traced):
    dims = tests_whether_it_is_there(traced)
    return {node.name: dims[node.name] for node in sums_of(traced) if node.users}


@breaks("each sum in the graph", case="an input and a layer named sum")
@wrong("dims_found", says="the answer has the key 'inner', but no node of the graph has that name.")
def looks_into_the_layers(traced):
    graphs = [module for module in traced.modules() if isinstance(module, fx.GraphModule)]
    return {name: dim for each in graphs for name, dim in tests_whether_it_is_there(each).items()}
