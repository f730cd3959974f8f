"""Answers to 06-in-place-where-safe."""

import copy
import operator

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from fxbook.tasks.answering import breaks, right, wrong

NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"
SHARED = "when_it_breaks/06_kwargs#silent-another-layer-works-in-place-too"
MAKERS = {operator.add, operator.sub, operator.mul, operator.matmul, nn.functional.linear}
MAKERS |= {nn.Linear, nn.Conv2d, nn.LayerNorm}
METHODS = ("relu", "sigmoid", "tanh")


def called(traced, node):
    return type(traced.get_submodule(node.target)) if node.op == "call_module" else node.target


def made_by_a_maker(traced, value):
    return called(traced, value) in MAKERS


def stores(make=copy.copy, path=lambda node: f"own_{node.name}"):
    """Gives a call its own in-place copy of its layer."""

    def store(traced, node):
        layer = make(traced.get_submodule(node.target))
        layer.inplace = True
        node.target = path(node)
        traced.add_submodule(node.target, layer)

    return store


own_copy = stores()


def set_it(traced, node):
    traced.get_submodule(node.target).inplace = True


def is_layer(traced, node):
    return node.op == "call_module" and hasattr(traced.get_submodule(node.target), "inplace")


def in_place(model, made=made_by_a_maker, users=1, methods=METHODS, set_layer=own_copy, functions=True):
    traced = fx.symbolic_trace(model)
    for node in list(traced.graph.nodes):
        value = next(iter(node.all_input_nodes), None)
        if value is None or len(value.users) > users or not made(traced, value):
            continue
        if functions and "inplace" in node.kwargs:
            node.update_kwarg("inplace", True)
        elif node.op == "call_method" and node.target in methods:
            node.target += "_"
        elif is_layer(traced, node) and set_layer:
            set_layer(traced, node)
    traced.recompile()
    return traced


@right
def decides_first_then_copies_the_graph(model):
    traced = fx.symbolic_trace(model)
    safe = set()
    for node in traced.graph.nodes:
        match node.all_input_nodes:
            case [value] if tuple(value.users) == (node,) and value.op != "output" and called(traced, value) in MAKERS:
                safe.add(node)
    graph, copies, root = fx.Graph(), {}, {}
    for node in traced.graph.nodes:
        new = copies[node] = graph.node_copy(node, copies.__getitem__)
        if node.op == "call_module":
            layer = traced.get_submodule(node.target)
            if node in safe and hasattr(layer, "inplace"):
                layer, new.target = copy.deepcopy(layer), f"safe_{node.name}"
                layer.inplace = True
            root[new.target] = layer
        elif node.op == "get_attr":
            root[node.target] = model.get_parameter(node.target)
        elif node in safe and "inplace" in node.kwargs:
            new.kwargs = {**new.kwargs, "inplace": True}
        elif node in safe and node.op == "call_method" and node.target in METHODS:
            new.target += "_"
    return fx.GraphModule(root, graph)


@right
class SubclassesPassBase(PassBase):
    def __call__(self, model):
        return super().__call__(fx.symbolic_trace(model))

    def call(self, traced):
        changed = [node for node in traced.graph.nodes if self.is_safe(traced, node) and self.write(traced, node)]
        return PassResult(traced, bool(changed))

    def is_safe(self, traced, node):
        [value, *others] = [*node.all_input_nodes, None]
        return value is not None and others == [None] and len(value.users) == 1 and made_by_a_maker(traced, value)

    def write(self, traced, node):
        if is_layer(traced, node):
            own_copy(traced, node)
        elif "inplace" in node.kwargs:
            node.update_kwarg("inplace", True)
        elif node.op == "call_method" and node.target in METHODS:
            node.op, node.target = "call_function", getattr(torch, f"{node.target}_")
        else:
            return False
        traced.recompile()
        return True


@right
def keeps_its_copies_in_one_container_and_calls_the_functions_that_end_in_an_underscore(model):
    traced = in_place(model, set_layer=stores(path=lambda node: f"copies_in_place.{node.name}"))
    for node in traced.graph.nodes:
        function = getattr(nn.functional, f"{getattr(node.target, '__name__', '')}_", None)
        if node.kwargs.get("inplace") and function is not None:
            node.target = function
            node.kwargs = {name: value for name, value in node.kwargs.items() if name != "inplace"}
    traced.recompile()
    return traced


@right
class Overwriting(fx.Transformer):
    def safe(self):
        value = next(iter(self.node.all_input_nodes), None)
        return value is not None and len(value.users) == 1 and made_by_a_maker(self.module, value)

    def run_node(self, n):
        self.node = n
        return super().run_node(n)

    def call_function(self, target, args, kwargs):
        if "inplace" in kwargs and self.safe():
            kwargs = {**kwargs, "inplace": True}
        return super().call_function(target, args, kwargs)

    def call_method(self, target, args, kwargs):
        return super().call_method(f"{target}_" if target in METHODS and self.safe() else target, args, kwargs)

    def call_module(self, target, args, kwargs):
        layer = self.module.get_submodule(target)
        if hasattr(layer, "inplace") and self.safe():
            layer, target = copy.copy(layer), f"{self.node.name}_overwriting"
            layer.inplace = True
            self.module.add_submodule(target, layer)
        return super().call_module(target, args, kwargs)


@breaks("no other node uses that value.", case="views, a parameter, values with other users")
@wrong("nothing_unsafe", node="elu", says="node `elu` works in place, but `output` uses `mul` too.")
def checks_only_the_maker(model):
    return in_place(model, users=99)


@breaks("The given model stays as it is", case="the block")
@wrong("input_unchanged", says="the attribute `inplace` of `act` has changed.", read=SHARED)
def sets_the_shared_layer(model):
    return in_place(model, set_layer=set_it)


@breaks("the result shares its weights.", case="the block")
@wrong("shares_weights", node="up", says="`up.weight` is not the object that the model holds")
def copies_the_model_first(model):
    return in_place(copy.deepcopy(model), set_layer=set_it)


@breaks("a layer in `torch.nn` that has an attribute `inplace`", case="the block")
@wrong("nothing_missed", node="act_1", says="Node `act_1` does not work in place, although that is safe for")
def changes_functions_only(model):
    return in_place(model, methods=(), set_layer=None)


@wrong("keywords_kept", node="leaky_relu", says="has lost `negative_slope`.", read="06_kwargs#both-are-frozen-assign")
def loses_the_other_keywords(model):
    traced = in_place(model)
    for node in traced.graph.nodes:
        if node.kwargs.get("inplace"):
            node.kwargs = {"inplace": True}
    traced.recompile()
    return traced


@wrong(
    "recompiled", says="The graph has changed, but the compiled code is stale", read="00_first_graph#change-one-node"
)
def forgets_to_recompile(model):
    traced = fx.symbolic_trace(model)
    for node in traced.graph.find_nodes(op="call_method", target="relu"):
        node.target = "relu_"
    return traced


@breaks("Values from other calls do not count as safe here.", case="values that none of `MAKERS` made")
@wrong("nothing_unsafe", node="elu", says="node `elu` works in place, but `truediv = operator.truediv(x, 2)` calls")
def counts_every_operator_as_a_maker(model):
    return in_place(
        model, made=lambda traced, value: called(traced, value) in {*MAKERS, operator.truediv, operator.neg}
    )


@breaks("one of the methods `relu`, `sigmoid` and `tanh`:", case="layers with the names of nodes and methods")
@wrong("nothing_missed", node="tanh", says="does not work in place, although that is safe for `mul = operator")
def changes_only_one_method(model):
    return in_place(model, methods=("relu",))


@breaks("and nowhere else.", "every node that is not an activation.", case="values that none of `MAKERS` made")
@wrong("nothing_unsafe", node="abs_1", says="node `abs_1` works in place, but is not an activation.")
def uses_every_in_place_method(model):
    return in_place(model, methods=[name[:-1] for name in dir(torch.Tensor) if name[-1] == "_" and name[-2] != "_"])


@breaks("only calls to these functions have that keyword;", case="values that none of `MAKERS` made")
@wrong("nothing_unsafe", node="softmax", says="node `softmax` works in place, but is not an activation.")
def sets_the_keyword_on_every_function(model):
    traced = in_place(model)
    for node in traced.graph.nodes:
        is_function = getattr(node.target, "__module__", None) == nn.functional.__name__
        if is_function and made_by_a_maker(traced, node.args[0]) and len(node.args[0].users) == 1:
            node.update_kwarg("inplace", True)
    traced.recompile()
    return traced


@breaks("`torch.relu`;", case="values that none of `MAKERS` made")
@wrong("stays", node="relu_2", says="node `relu_2` calls `torch.relu_`, but `torch.relu` should stay as it was.")
def counts_torch_relu_as_an_activation(model):
    traced = in_place(model)
    for node in traced.graph.find_nodes(op="call_function", target=torch.relu):
        if made_by_a_maker(traced, node.args[0]) and len(node.args[0].users) == 1:
            node.target = torch.relu_
    traced.recompile()
    return traced


@breaks("an activation that works in place already, safe or not;", case="values that none of `MAKERS` made")
@wrong("stays", node="relu", says="node `relu` worked in place and no longer does: it should stay as it was.")
def undoes_what_is_unsafe(model):
    traced = in_place(model)
    for node in traced.graph.nodes:
        if "inplace" in node.kwargs:
            [value] = node.all_input_nodes
            node.update_kwarg("inplace", made_by_a_maker(traced, value) and len(value.users) == 1)
    traced.recompile()
    return traced


@wrong("lints", node="mul", says="The graph is broken: node `mul` uses relu_ before it is defined.", read=NO_ANCHOR)
def makes_new_calls_without_an_anchor(model):
    traced = in_place(model, methods=())
    for node in traced.graph.find_nodes(op="call_method", target="relu"):
        node.replace_all_uses_with(traced.graph.call_function(torch.relu_, node.args))
        traced.graph.erase_node(node)
    traced.recompile()
    return traced


@breaks(
    "for any model that can be traced.",
    "a function in `nn.functional` that takes `inplace`",
    case="submodules, keywords, dropout",
)
@wrong("nothing_missed", node="celu", says="(submodules, keywords, dropout): node `celu` does not work in place")
def changes_methods_and_layers_only(model):
    return in_place(model, functions=False)


@wrong("layers_apart", node="head_act", says="`body_act` and `head_act` both call the same layer", read=SHARED)
def stores_copies_under_the_last_part_of_the_name(model):
    return in_place(model, set_layer=stores(path=lambda node: f"{node.target.rpartition('.')[2]}_in_place"))


def call_the_function(traced, node):
    layer = traced.get_submodule(node.target)
    names = [name for name in dir(nn.functional) if name.replace("_", "") == type(layer).__name__.lower()]
    node.op, node.target = "call_function", getattr(nn.functional, names[0])
    node.args, node.kwargs = (*node.args, *node.kwargs.values()), {"inplace": True}


@breaks("Each layer keeps its settings", case="submodules, keywords, dropout")
@wrong("same_behaviour", node="output", says="(submodules, keywords, dropout): the result does not compute what")
def calls_the_function_of_the_layer(model):
    return in_place(model, set_layer=call_the_function)


@breaks("and its mode.", case="a model in eval mode")
@wrong("settings_kept", node="drop", says="the layer of `drop` is in training mode: the model", read=SHARED)
def makes_a_layer_in_training_mode(model):
    return in_place(model, set_layer=stores(lambda layer: copy.copy(layer).train()))


@wrong(
    "defaults_kept",
    read="07_placeholder#add-move-and-remove-inputs",
    node="shift",
    says="node `shift` has lost its default",
)
def forgets_the_defaults(model):
    traced = in_place(model)
    for node in traced.graph.find_nodes(op="placeholder"):
        node.args = ()
    traced.recompile()
    return traced
