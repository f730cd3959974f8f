"""Answers to 06-find-the-dim."""

import torch

from fxbook.tasks.answering import right, wrong


@right
def asks_whether_it_is_there(traced):
    dims = {}
    for node in traced.graph.nodes:
        if (node.op, node.target) in (("call_function", torch.sum), ("call_method", "sum")):
            dims[node.name] = node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None)
    return dims


@right
def lets_python_bind_the_arguments(traced):
    def dim(input, dim=None, keepdim=False, dtype=None):
        return dim

    sums = [node for node in traced.graph.nodes if node.target in (torch.sum, "sum")]
    return {node.name: dim(*node.args, **node.kwargs) for node in sums}


@right
class VisitsTheCalls:
    """An Interpreter in all but running: asks each call as it passes by, methods and functions apart."""

    def __call__(self, traced):
        found = traced.graph.find_nodes(op="call_function", target=torch.sum)
        found += traced.graph.find_nodes(op="call_method", target="sum")
        return {node.name: self.second(*node.args[1:], **node.kwargs) for node in found}

    def second(self, dim=None, *_, **_others):
        return dim


@wrong("dims_found", says="The answer has nodes for keys: their names were asked.")
def gives_the_nodes_themselves(traced):
    sums = [node for node in traced.graph.nodes if node.target in (torch.sum, "sum")]
    return {node: node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None) for node in sums}


@wrong(
    "dims_found",
    says="(sums with other arguments): the answer has the key 'sum_0', which is the name of no sum.",
)
def goes_by_the_names_of_the_nodes(traced):
    sums = [node for node in traced.graph.nodes if node.name.startswith("sum")]
    return {node.name: node.kwargs.get("dim", (*node.args, None, None)[1]) for node in sums}


@wrong("dims_found", says="the answer has the key 'cumsum', which is the name of no sum.")
def looks_for_sum_in_the_target(traced):
    sums = [node for node in traced.graph.nodes if node.op.startswith("call_") and "sum" in str(node.target)]
    sums = [node for node in sums if node.op != "call_module"]
    return {node.name: node.kwargs.get("dim", (*node.args, None, None)[1]) for node in sums}


@wrong(
    "input_unchanged",
    says="The model that was given has been changed: its graph was edited, at node `sum_2`.",
)
def empties_the_keywords(traced):
    dims = {}
    for node in traced.graph.nodes:
        if node.target in (torch.sum, "sum"):
            options = dict(node.kwargs)
            dims[node.name] = options.pop("dim", node.args[1] if len(node.args) > 1 else None)
            node.kwargs = options
    return dims


@wrong("dims_found", says="For `sum_1 = torch.sum(x, 0)` the answer is None.")
def looks_by_name_only(traced):
    return {node.name: node.kwargs.get("dim") for node in traced.graph.nodes if node.target in (torch.sum, "sum")}


@wrong("dims_found", says="For `sum_2 = torch.sum(x, dim=1)` the answer is None.")
def looks_by_position_only(traced):
    sums = [node for node in traced.graph.nodes if node.target in (torch.sum, "sum")]
    return {node.name: node.args[1] if len(node.args) > 1 else None for node in sums}


@wrong("ends well", says="Your code raises KeyError: 'dim'", read="06_kwargs#keyerror-dim")
def subscripts_the_keywords(traced):
    return {node.name: node.kwargs["dim"] for node in traced.graph.nodes if node.target in (torch.sum, "sum")}


@wrong("dims_found", says="The answer lacks `sum_3 = x.sum(1)`.")
def passes_over_the_method(traced):
    sums = traced.graph.find_nodes(op="call_function", target=torch.sum)
    return {node.name: node.kwargs.get("dim", (*node.args, None)[1]) for node in sums}


@wrong("dims_found", says="The answer has the key 'softmax', which is the name of no sum.")
def takes_every_call_with_a_dim(traced):
    calls = [node for node in traced.graph.nodes if node.op.startswith("call")]
    return {node.name: node.kwargs.get("dim", (*node.args, None)[1]) for node in calls}


@wrong("ends well", says="Your code raises AttributeError: 'NoneType' object has no attribute 'kwargs'")
def normalises_a_method(traced):
    sums = [node for node in traced.graph.nodes if node.target in (torch.sum, "sum")]
    types = (torch.Tensor, int)
    return {node.name: node.normalized_arguments(traced, types).kwargs.get("dim") for node in sums}


@wrong("dims_found", says="The answer is no dict.")
def returns_pairs(traced):
    return [(node.name, node.kwargs.get("dim")) for node in traced.graph.nodes if node.target in (torch.sum, "sum")]
