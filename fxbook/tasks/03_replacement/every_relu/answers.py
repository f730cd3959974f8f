"""Answers to 03-every-relu."""

import copy

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult
from torch.utils._python_dispatch import TorchDispatchMode

from fxbook.tasks.answering import breaks, right, wrong

NO_INPUT = "when_it_breaks/03_replacement#typeerror-gelu-missing-1-required-positional-arguments-input"
LEFT_OVER = "03_replacement#a-function-by-a-module-a-module-by-a-function"
THREE_STEPS = "03_replacement#three-steps-in-this-order"
CALLED = {"call_function": (nn.functional.relu, torch.relu, torch.relu_), "call_method": ("relu", "relu_")}
RELUS = (torch.ops.aten.relu.default, torch.ops.aten.relu_.default)
gelu = nn.functional.gelu


class Operators(TorchDispatchMode):
    """Records every operator that runs."""

    def __init__(self):
        super().__init__()
        self.called = []

    def __torch_dispatch__(self, called, types, args=(), kwargs=None):
        self.called.append(called)
        return called(*args, **(kwargs or {}))


def refuse(run):
    found = sum(called in RELUS for called in run.called)
    if found:
        raise ValueError(f"{found} calls of ReLU are left")


def prove(traced, inputs, module=None, tried=None, grad=True):
    """Refuse the module if it runs a ReLU; by default, run a copy of it on copies of the inputs."""
    with torch.set_grad_enabled(grad), Operators() as run:
        (module or copy.deepcopy(traced).requires_grad_())(*(tried or copy.deepcopy(inputs)))
    refuse(run)


def is_relu(traced, node):
    if node.op == "call_module":
        return isinstance(traced.get_submodule(node.target), nn.ReLU)
    return node.target in CALLED.get(node.op, ())


def in_place(traced, node):
    if node.op == "call_module":
        return traced.get_submodule(node.target).inplace
    return node.target in (torch.relu_, "relu_") or bool(node.kwargs.get("inplace"))


def replaced(
    model, *, matches=is_relu, later=in_place, passed=lambda node: node.all_input_nodes, delete=True, compiled=True
):
    """The first half of the solution, the edit, with parameters for its parts."""
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        if not matches(traced, node):
            continue
        [value] = node.all_input_nodes
        with traced.graph.inserting_after(node):
            new = traced.graph.call_function(gelu, tuple(passed(node)))
        node.replace_all_uses_with(new)
        for user in list(value.users):
            if user > new and later(traced, node):
                user.replace_input_with(value, new)
        traced.graph.erase_node(node)
    if delete:
        traced.delete_all_unused_submodules()
    if compiled:
        traced.recompile()
    return traced


@right
def changes_each_node_itself(model, *inputs):
    """The proof runs on inputs that require gradients."""
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
    refuse(run)
    return traced


class _Gelu(fx.Transformer):
    def run_node(self, n):
        if not is_relu(self.module, n):
            return super().run_node(n)
        [value] = n.all_input_nodes
        new = gelu(self.env[value])
        if in_place(self.module, n):
            self.env[value] = new
        return new


class _Fused(Operators):
    """A fused transformer layer with a ReLU gets `use_gelu=False`."""

    def __torch_dispatch__(self, called, types, args=(), kwargs=None):
        if called is torch.ops.aten._transformer_encoder_layer_fwd.default and args[7] is False:
            self.called.append(RELUS[0])
        return super().__torch_dispatch__(called, types, args, kwargs)


@right
def transforms_and_reads_the_arguments_of_fused_operators(model, *inputs):
    rebuilt = _Gelu(fx.symbolic_trace(model)).transform()
    module, inputs = copy.deepcopy((rebuilt, inputs))
    with torch.no_grad(), _Fused() as run:
        module(*inputs)
    refuse(run)
    return rebuilt


@right
def returns_the_result_of_a_pass(model, *inputs):
    traced = replaced(model)
    prove(traced, inputs)
    return PassResult(traced, True)


class _GeluTracer(fx.Tracer):
    def create_proxy(self, kind, target, args, kwargs, *rest, **settings):
        layer = self.root.get_submodule(target) if kind == "call_module" else None
        if not isinstance(layer, nn.ReLU) and target not in CALLED.get(kind, ()):
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


IN_PLACE = "03_replacement#silent-what-was-written-in-place-is-read-as-it-was"


@breaks("wherever the model computes ReLU.", case="not in place, with later uses")
@wrong("skips_stay", node="add", says="no longer uses `enter`, which `relu` did not change", read=IN_PLACE)
def changes_later_users_of_every_relu(model, *inputs):
    return replaced(model, later=lambda traced, node: True)


@breaks(
    "modules with `inplace` set.", "but a later use of the value must get its GELU.", case="in place, with later uses"
)
@wrong("read_after_in_place", node="mul_", says="uses `add`, which `rectify` changed in place", read=IN_PLACE)
def forgets_modules_in_place(model, *inputs):
    return replaced(model, later=lambda traced, node: node.op != "call_module" and in_place(traced, node))


@breaks("`nn.ReLU` (nested, shared, called twice)", case="every spelling")
@wrong("none_left", node="act_1", says="still calls relu")
def replaces_one_call_of_each_module(model, *inputs):
    seen = set()

    def matches(traced, node):
        is_new = node.op != "call_module" or node.target not in seen
        seen.add(node.target)
        return is_new and is_relu(traced, node)

    return replaced(model, matches=matches)


@breaks("each with its data as a positional argument or as `input=`.", case="every spelling")
@wrong("same_result", node="gelu_1", says="gelu() missing 1 required positional arguments", read=NO_INPUT)
def passes_on_the_positional_arguments(model, *inputs):
    return replaced(model, passed=lambda node: node.args)


@breaks("Keep all other nodes, with or without users:", case="in place, with later uses")
@wrong("others_stay", says="is missing: it writes in place", read="03_replacement#what-removing-dead-code-deletes")
def removes_dead_code_at_the_end(model, *inputs):
    traced = replaced(model)
    traced.graph.eliminate_dead_code()
    traced.recompile()
    return traced


@breaks("and leave no unused submodule.", case="every spelling")
@wrong("no_leftovers", says="still holds the submodule `act`", read=LEFT_OVER)
def leaves_the_modules(model, *inputs):
    return replaced(model, delete=False)


@breaks("Add no node without users,", case="every spelling")
@wrong("nothing_dead", says="is left: no node uses its result", node="clone", read=THREE_STEPS)
def clones_without_need(model, *inputs):
    traced = replaced(model)
    first = traced.graph.find_nodes(op="call_function", target=gelu)[0]
    with traced.graph.inserting_after(first):
        traced.graph.call_function(torch.clone, (first,))
    traced.recompile()
    return traced


@breaks("The result shares its weights with the model.", case="every spelling")
@wrong("shares_weights", node="layers_0", says="is not the object that the model holds")
def works_on_a_copy_of_the_model(model, *inputs):
    return replaced(copy.deepcopy(model))


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(model, *inputs):
    return replaced(model, compiled=False)


@breaks(
    "if calling it on `inputs` still runs a ReLU,",
    "This includes a ReLU that is part of a fused operator:",
    case="a frozen leaf module with a ReLU",
)
@wrong("refused_or_replaced", node="block", says="the result still runs a ReLU inside `block`, in the fused operator")
def runs_without_gradients(model, *inputs):
    traced = replaced(model)
    prove(traced, inputs, grad=False)
    return traced


@breaks("and the inputs unchanged.", case="not in place, with later uses")
@wrong("inputs_unchanged", says="an input tensor has been changed")
def runs_on_the_given_inputs(model, *inputs):
    traced = replaced(model)
    prove(traced, inputs, tried=inputs)
    return traced


@breaks("including its `BatchNorm` statistics,", case="batch norm, and a block called twice")
@wrong("input_unchanged", says="its weight `body.0.running_mean` has different values")
def runs_on_the_module_itself(model, *inputs):
    traced = replaced(model)
    prove(traced, inputs, module=traced)
    return traced
