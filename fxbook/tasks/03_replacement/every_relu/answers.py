"""Answers to 03-every-relu: GELU for ReLU in any model, in place or not, and a run that proves that none is left."""

import copy

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.utils._python_dispatch import TorchDispatchMode

from fxbook.tasks.answering import breaks, right, wrong

FUNCTIONS = (nn.functional.relu, torch.relu, torch.relu_)
METHODS = ("relu", "relu_")
RELUS = (torch.ops.aten.relu.default, torch.ops.aten.relu_.default)
gelu = nn.functional.gelu


class Operators(TorchDispatchMode):
    """Writes down every operator that runs."""

    def __init__(self):
        super().__init__()
        self.called = []

    def __torch_dispatch__(self, called, types, args=(), kwargs=None):
        self.called.append(called)
        return called(*args, **(kwargs or {}))


def refuse(found):
    if found:
        raise ValueError(f"{found} calls of ReLU are left")


def prove(traced, inputs):
    module, inputs = copy.deepcopy((traced, inputs))
    module.requires_grad_()
    with torch.enable_grad(), Operators() as run:
        module(*inputs)
    refuse(sum(called in RELUS for called in run.called))


def is_relu(traced, node):
    if node.op == "call_module":
        return isinstance(traced.get_submodule(node.target), nn.ReLU)
    return (node.op == "call_function" and node.target in FUNCTIONS) or (
        node.op == "call_method" and node.target in METHODS
    )


def in_place(traced, node):
    if node.op == "call_module":
        return traced.get_submodule(node.target).inplace
    return node.target in (torch.relu_, "relu_") or bool(node.kwargs.get("inplace"))


def replaced(model, *, matches=is_relu, later=in_place):
    """The editing half of the solution, with its parts to exchange."""
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if not matches(traced, node):
            continue
        [value] = node.all_input_nodes
        with traced.graph.inserting_before(node):
            new = traced.graph.call_function(gelu, (value,))
        node.replace_all_uses_with(new)
        for reader in list(value.users):
            if reader > node and later(traced, node):
                reader.replace_input_with(value, new)
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.graph.lint()
    traced.recompile()
    return traced


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def changes_each_node_where_it_stands(model, *inputs):
    """Nothing is made or erased; readers further down are handed over; inputs that require grad for the proof."""
    traced = fx.symbolic_trace(model)
    for node in traced.graph.nodes:
        if is_relu(traced, node):
            [value], writes = node.all_input_nodes, in_place(traced, node)
            node.op, node.target, node.args, node.kwargs = "call_function", gelu, (value,), {}
            if writes:
                value.replace_all_uses_with(node, delete_user_cb=lambda user, node=node: user > node)
    traced.delete_all_unused_submodules()
    traced.recompile()
    proof, tried = copy.deepcopy((traced, inputs))
    with torch.enable_grad(), Operators() as run:
        proof(*(value.requires_grad_().clone() for value in tried))
    refuse(sum(called in RELUS for called in run.called))
    return traced


class _Gelu(fx.Transformer):
    """Builds anew; what a ReLU wrote into stands for GELU of it from then on."""

    def run_node(self, n):
        if not is_relu(self.module, n):
            return super().run_node(n)
        [value] = n.all_input_nodes
        new = gelu(self.env[value])
        if in_place(self.module, n):
            self.env[value] = new
        return new


class _Counting(TorchDispatchMode):
    """Counts as it goes; a fused layer is told by its argument ``use_gelu``."""

    found = 0

    def __torch_dispatch__(self, called, types, args=(), kwargs=None):
        fused = called is torch.ops.aten._transformer_encoder_layer_fwd.default
        self.found += called in RELUS or (fused and args[7] is False)
        return called(*args, **(kwargs or {}))


@right
def builds_anew_and_reads_the_arguments_of_fused_operators(model, *inputs):
    rebuilt = _Gelu(fx.symbolic_trace(model)).transform()
    module, inputs = copy.deepcopy((rebuilt, inputs))
    with torch.no_grad(), _Counting() as run:
        module(*inputs)
    refuse(run.found)
    return rebuilt


class _GeluPass(PassBase):
    """A pass of torch's own kind: the edit in `call`, the proof in `ensures`."""

    def __init__(self, inputs):
        super().__init__()
        self.inputs = inputs

    def call(self, graph_module):
        graph = graph_module.graph
        relus = [node for node in graph.nodes if is_relu(graph_module, node)]
        for node in relus:
            [value] = node.all_input_nodes
            later = [node, *(user for user in value.users if in_place(graph_module, node) and user > node)]
            with graph.inserting_after(node):
                new = graph.call_function(gelu, (value,))
            node.replace_all_uses_with(new)
            for user in later[1:]:
                user.replace_input_with(value, new)
            graph.erase_node(node)
        graph_module.delete_all_unused_submodules()
        graph_module.recompile()
        return PassResult(graph_module, bool(relus))

    def ensures(self, graph_module):
        prove(graph_module, self.inputs)


@right
def returns_the_result_of_a_pass(model, *inputs):
    found = _GeluPass(inputs)
    result = found.call(fx.symbolic_trace(model))
    found.ensures(result.graph_module)
    return result


class _GeluTracer(fx.Tracer):
    """Writes no ReLU down. What one wrote into stands for GELU of it, in the code of the model, from then on."""

    def create_proxy(self, kind, target, args, kwargs, *rest, **settings):
        layer = self.root.get_submodule(target) if kind == "call_module" else None
        functions = {"call_function": FUNCTIONS, "call_method": METHODS}.get(kind, ())
        if not isinstance(layer, nn.ReLU) and target not in functions:
            return super().create_proxy(kind, target, args, kwargs, *rest, **settings)
        [value] = args or (kwargs["input"],)
        new = super().create_proxy("call_function", gelu, (value,), {})
        if getattr(layer, "inplace", False) or kwargs.get("inplace") or target in (torch.relu_, "relu_"):
            value.node = new.node
        return new


@right
def traces_as_if_it_were_gelu(model, *inputs):
    result = fx.GraphModule(model, _GeluTracer().trace(model))
    prove(result, inputs)
    return result


# ---- wrong: the search and the edit ----------------------------------------------------------------------------------

IN_PLACE = "03_replacement#silent-what-was-written-in-place-is-read-as-it-was"


@breaks("wherever the model computes ReLU.", case="not in place, and read afterwards")
@wrong("skips_stay", node="add", says="no longer uses `enter`, which `relu` did not change", read=IN_PLACE)
def hands_over_later_readers_of_every_relu(model, *inputs):
    traced = replaced(model, later=lambda traced, node: True)
    prove(traced, inputs)
    return traced


@breaks("but a later use of the value must get GELU of it.", case="in place, and read afterwards")
@wrong("read_after_in_place", node="add_", says="reads `enter`, which `relu_` changed in place before", read=IN_PLACE)
def forgets_what_was_written_in_place(model, *inputs):
    traced = replaced(model, later=lambda traced, node: False)
    prove(traced, inputs)
    return traced


@breaks("the methods `relu`", case="every spelling")
@wrong("none_left", node="relu_3", says="still calls relu")
def forgets_the_methods(model, *inputs):
    return replaced(model, matches=lambda traced, node: node.op != "call_method" and is_relu(traced, node))


def all_but(*left_out):
    """The search, without some targets."""
    return lambda traced, node: node.target not in left_out and is_relu(traced, node)


@breaks("`nn.functional.relu`,", case="every spelling")
@wrong("none_left", node="relu", says="still calls relu")
def forgets_the_function_of_nn(model, *inputs):
    return replaced(model, matches=all_but(nn.functional.relu))


@breaks("`torch.relu`,", case="every spelling")
@wrong("none_left", node="relu_2", says="still calls relu")
def forgets_the_function_of_torch(model, *inputs):
    return replaced(model, matches=all_but(torch.relu))


@breaks("`torch.relu_`,", case="every spelling")
@wrong("none_left", node="relu_", says="still calls relu")
def forgets_the_function_in_place(model, *inputs):
    return replaced(model, matches=all_but(torch.relu_))


@breaks("and `relu_`.", case="every spelling")
@wrong("none_left", node="relu__1", says="still calls relu")
def forgets_the_method_in_place(model, *inputs):
    return replaced(model, matches=all_but("relu_"))


@breaks("`nn.ReLU` (nested,", case="every spelling")
@wrong("none_left", node="block_0_1", says="still calls relu")
def looks_at_children_only(model, *inputs):
    def matches(traced, node):
        nested = node.op == "call_module" and "." in node.target
        return not nested and is_relu(traced, node)

    return replaced(model, matches=matches)


@breaks("shared, called twice)", case="every spelling")
@wrong("none_left", node="act_1", says="still calls relu")
def replaces_one_call_of_each_module(model, *inputs):
    seen = set()

    def matches(traced, node):
        if node.op != "call_module":
            return is_relu(traced, node)
        is_new = node.target not in seen
        seen.add(node.target)
        return is_new and is_relu(traced, node)

    return replaced(model, matches=matches)


@breaks("The data is passed by position or as `input=`.", case="every spelling")
@wrong("none_left", node="act_1", says="still calls relu")
def passes_over_what_has_no_positional_argument(model, *inputs):
    return replaced(model, matches=lambda traced, node: bool(node.args) and is_relu(traced, node))


@breaks("`relu_`, `nn.functional.relu` with `inplace=True`", case="in place, and read afterwards")
@wrong("read_after_in_place", node="add", says="reads `mul`, which `relu` changed in place before", read=IN_PLACE)
def knows_work_in_place_by_its_name(model, *inputs):
    traced = replaced(model, later=lambda traced, node: node.target in (torch.relu_, "relu_"))
    prove(traced, inputs)
    return traced


@breaks("modules with `inplace` set.", case="in place, and read afterwards")
@wrong("read_after_in_place", node="mul_", says="reads `add`, which `rectify` changed in place before", read=IN_PLACE)
def forgets_modules_in_place(model, *inputs):
    traced = replaced(model, later=lambda traced, node: node.op != "call_module" and in_place(traced, node))
    prove(traced, inputs)
    return traced


@breaks("Keep all other activations.", case="activations that are no ReLU")
@wrong("others_stay", says="`relu` (self.relu(x)) of the model is gone: it is no ReLU")
def looks_for_the_name(model, *inputs):
    traced = replaced(
        model,
        matches=lambda traced, node: (node.op == "call_module" and "relu" in node.name) or is_relu(traced, node),
        later=lambda traced, node: is_relu(traced, node) and in_place(traced, node),
    )
    prove(traced, inputs)
    return traced


@wrong(
    "ends well",
    says="Your code raises IndexError: tuple index out of range",
    read="when_it_breaks/01_node_creation#indexerror-tuple-index-out-of-range",
)
def takes_the_first_positional_argument(model, *inputs):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_relu(traced, node):
            with traced.graph.inserting_before(node):
                new = traced.graph.call_function(gelu, (node.args[0],))
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.recompile()
    return traced


@breaks("Keep all other nodes that write in place, with or without users.", case="in place, and read afterwards")
@wrong("others_stay", says="is gone: it works in place", read="03_replacement#what-removing-dead-code-deletes")
def removes_dead_code_at_the_end(model, *inputs):
    traced = replaced(model)
    traced.graph.eliminate_dead_code()
    traced.recompile()
    prove(traced, inputs)
    return traced


@breaks("no submodule that is not called.", case="every spelling")
@wrong(
    "no_leftovers",
    says="still holds the submodule `act`",
    read="03_replacement#a-function-by-a-module-a-module-by-a-function",
)
def leaves_the_modules(model, *inputs):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_relu(traced, node):
            [value] = node.all_input_nodes
            with traced.graph.inserting_before(node):
                new = traced.graph.call_function(gelu, (value,))
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.recompile()
    return traced


@breaks("Leave the given model as it is", case="a ReLU that a leaf module uses too")
@wrong("ends well", says="(a ReLU that a leaf module uses too): your code raises")
def deletes_each_module_that_it_replaced(model, *inputs):
    traced = fx.symbolic_trace(model)
    relus = [node for node in traced.graph.nodes if is_relu(traced, node)]
    for node in relus:
        [value] = node.all_input_nodes
        later = [user for user in value.users if in_place(traced, node) and user > node]
        with traced.graph.inserting_before(node):
            new = traced.graph.call_function(gelu, (value,))
        node.replace_all_uses_with(new)
        for user in later:
            user.replace_input_with(value, new)
        traced.graph.erase_node(node)
    for path in {node.target for node in relus if node.op == "call_module"}:
        traced.delete_submodule(path)
    traced.recompile()
    prove(traced, inputs)
    return traced


@breaks("returns a new `fx.GraphModule`", "Leave the given model as it is", case="every spelling")
@wrong("input_unchanged", says="`act` is another object")
def sets_modules_on_the_model(model, *inputs):
    for path, module in list(model.named_modules()):
        if isinstance(module, nn.ReLU):
            model.set_submodule(path, nn.GELU())
    traced = replaced(model)
    prove(traced, inputs)
    return traced


@breaks("The result shares the weights with the model.", case="every spelling")
@wrong("shares_weights", node="layers_0", says="is not the object that the model holds")
def works_on_a_copy_of_the_model(model, *inputs):
    traced = replaced(copy.deepcopy(model))
    prove(traced, inputs)
    return traced


@wrong("lints", node="gelu", says="node `gelu` uses itself", read="03_replacement#every-cycle-has-one-cause")
def reads_the_relu_that_it_stands_for(model, *inputs):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_relu(traced, node):
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(gelu, (node,))
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.recompile()
    return traced


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(model, *inputs):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if is_relu(traced, node):
            [value] = node.all_input_nodes
            node.op, node.target, node.args, node.kwargs = "call_function", gelu, (value,), {}
    return traced


@breaks("that computes GELU wherever the model computes ReLU.", case="every spelling")
@wrong("same_result", node="layers_1", says="holds other numbers")
def takes_an_approximation_of_gelu(model, *inputs):
    """It is off by as much as 0.02."""
    traced = replaced(model)
    for node in traced.graph.find_nodes(op="call_function", target=gelu):
        node.target = approximate_gelu
    traced.recompile()
    prove(traced, inputs)
    return traced


def approximate_gelu(x):
    return x * torch.sigmoid(1.702 * x)


@breaks("no new node without users", case="every spelling")
@wrong(
    "nothing_dead",
    node="gelu_4",
    says="is left: no node uses its result",
    read="03_replacement#three-steps-in-this-order",
)
def makes_a_node_for_later_readers_whether_there_are_any_or_not(model, *inputs):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if not is_relu(traced, node):
            continue
        [value], writes = node.all_input_nodes, in_place(traced, node)
        with traced.graph.inserting_before(node):
            new = traced.graph.call_function(gelu, (value,))
            written = traced.graph.call_function(gelu, (value,)) if writes else new
        node.replace_all_uses_with(new)
        if writes:
            value.replace_all_uses_with(written, delete_user_cb=lambda user, node=node: user > node)
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()
    prove(traced, inputs)
    return traced


# ---- wrong: the proof ------------------------------------------------------------------------------------------------


@breaks("if a run of the result on `inputs` still runs a ReLU", case="a leaf module with a ReLU inside")
@wrong("refused_or_replaced", node="block", says="still runs a ReLU, inside `block`")
def proves_nothing(model, *inputs):
    return replaced(model)


@wrong("ends well", says="(activations that are no ReLU): your code raises ValueError")
def refuses_every_transformer_layer(model, *inputs):
    traced = replaced(model)
    refuse(sum(isinstance(module, nn.TransformerEncoderLayer) for module in traced.modules()))
    return traced


@breaks("still runs a ReLU, it raises a `ValueError` instead of returning.", case="another leaf module with a ReLU")
@wrong("refused_or_replaced", node="memory", says="(another leaf module with a ReLU): running the result")
def knows_one_layer_with_a_relu_inside(model, *inputs):
    traced = replaced(model)
    layers = [module for module in traced.modules() if isinstance(module, nn.TransformerEncoderLayer)]
    refuse(sum(layer.activation in (nn.functional.relu, torch.relu_) for layer in layers))
    return traced


@breaks("if a run of the result on `inputs`", case="a frozen leaf module with a ReLU")
@wrong("refused_or_replaced", node="block", says="(a frozen leaf module with a ReLU): running the result")
def runs_without_gradients(model, *inputs):
    traced = replaced(model)
    module, inputs = copy.deepcopy((traced, inputs))
    with torch.no_grad(), Operators() as run:
        module(*inputs)
    refuse(sum(called in RELUS for called in run.called))
    return traced


@breaks("and the inputs.", case="not in place, and read afterwards")
@wrong("inputs_unchanged", says="given as an input has been changed")
def runs_on_the_inputs_given(model, *inputs):
    traced = replaced(model)
    module = copy.deepcopy(traced).requires_grad_()
    with Operators() as run:
        module(*inputs)
    refuse(sum(called in RELUS for called in run.called))
    return traced


@breaks("its `BatchNorm` statistics too", case="batch norm, and a block called twice")
@wrong("input_unchanged", says="its weight `body.0.running_mean` has other values")
def runs_on_the_module_itself(model, *inputs):
    traced = replaced(model)
    inputs = copy.deepcopy(inputs)
    with Operators() as run:
        traced(*inputs)
    refuse(sum(called in RELUS for called in run.called))
    return traced
