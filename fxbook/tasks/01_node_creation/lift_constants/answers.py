"""Answers to 01-lift-constants."""

import copy

import torch
from torch import fx, nn
from torch.fx.experimental.const_fold import get_unique_attr_name_in_module
from torch.utils import _pytree as pytree

from fxbook.tasks.answering import breaks, right, wrong

A_LIST = "when_it_breaks/01_node_creation#a-list-assigned-to-nodeargs"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"


def lifting(gm, named, stored=nn.Module.register_buffer):
    """A function that returns a get_attr for a tensor: ``named`` chooses the name, ``stored`` stores the tensor."""

    def lift(value):
        if not isinstance(value, torch.Tensor):
            return value
        name = named()
        stored(gm, name, value)
        return gm.graph.get_attr(name)

    return lift


def lifted(gm, lift, is_meant=lambda node: True, compiled=True):
    """Apply ``lift`` to every value among the arguments of the chosen nodes."""
    for node in filter(is_meant, list(gm.graph.nodes)):
        with gm.graph.inserting_before(node):
            node.args, node.kwargs = fx.node.map_aggregate((node.args, node.kwargs), lift)
    if compiled:
        gm.recompile()


def free_names(gm, prefix="lifted"):
    """A function that returns a name that the module does not use."""
    names = [f"{prefix}{number}" for number in range(99)]
    return lambda: next(name for name in names if not hasattr(gm, name))


@right
def copies_into_a_new_graph_and_assigns_it(gm):
    graph, copied = fx.Graph(), {}
    named = free_names(gm, "held_")

    def lift(value):
        if isinstance(value, torch.Tensor):
            name = named()
            gm.register_buffer(name, value)
            return graph.create_node("get_attr", name)
        return value

    for node in gm.graph.nodes:
        args, kwargs = fx.node.map_aggregate((node.args, node.kwargs), lift)
        copied[node] = graph.node_copy(node, copied.__getitem__)
        copied[node].args, copied[node].kwargs = fx.node.map_arg((args, kwargs), lambda read: copied.get(read, read))
    gm.graph = graph


@right
def keeps_all_buffers_in_one_submodule(gm):
    """Fetches everything at the top of the graph, and each tensor only once."""
    home = free_names(gm, "constants")()
    gm.add_submodule(home, nn.Module())
    inside = gm.get_submodule(home)
    first = next(node for node in gm.graph.nodes if node.op != "placeholder")
    fetched = {}

    def lift(value):
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in fetched:
            name = f"c{len(fetched)}"
            inside.register_buffer(name, value)
            with gm.graph.inserting_before(first):
                fetched[id(value)] = gm.graph.get_attr(f"{home}.{name}")
        return fetched[id(value)]

    for node in list(gm.graph.nodes):
        node.args, node.kwargs = fx.node.map_aggregate((node.args, node.kwargs), lift)
    gm.recompile()
    return gm


@right
class Lifter:
    """Goes through the arguments without ``map_aggregate``."""

    def __call__(self, gm):
        self.gm, self.number = gm, 0
        for node in reversed(list(gm.graph.nodes)):
            with gm.graph.inserting_before(node):
                node.args, node.kwargs = self.without_tensors(node.args), self.without_tensors(node.kwargs)
        gm.recompile()

    def without_tensors(self, value):
        match value:
            case torch.Tensor():
                while hasattr(self.gm, f"a_constant_of_the_graph_{self.number}"):
                    self.number += 1
                self.gm.register_buffer(f"a_constant_of_the_graph_{self.number}", value)
                return self.gm.graph.get_attr(f"a_constant_of_the_graph_{self.number}")
            case tuple() | list():
                return type(value)(map(self.without_tensors, value))
            case dict():
                return {key: self.without_tensors(item) for key, item in value.items()}
            case _:
                return value


@right
def makes_nodes_at_the_end_and_moves_them(gm):
    for node in list(gm.graph.nodes):

        def lift(value, node=node):
            if not isinstance(value, torch.Tensor):
                return value
            name = get_unique_attr_name_in_module(gm, "lifted")
            gm.register_buffer(name, value)
            new = gm.graph.get_attr(name)
            node.prepend(new)
            return new

        node.args, node.kwargs = pytree.tree_map(lift, (node.args, node.kwargs))
    gm.recompile()


@breaks("and recompiles it.", case="the scale and shift")
@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(gm):
    lifted(gm, lifting(gm, free_names(gm)), compiled=False)


@breaks("Tensors can be inside lists (at any depth)", case="nested results, tensors for methods")
@wrong("tensor_free", node="output", says="has a tensor among its arguments")
def looks_into_lists_but_not_into_lists_inside(gm):
    lift = lifting(gm, free_names(gm))

    def lift_items(value):
        return type(value)(map(lift, value)) if isinstance(value, list | tuple) else lift(value)

    for node in list(gm.graph.nodes):
        with gm.graph.inserting_before(node):
            node.args = tuple(map(lift_items, node.args))
            node.kwargs = {name: lift_items(value) for name, value in node.kwargs.items()}
    gm.recompile()


@breaks("each tensor becomes a buffer", case="the padded rows, repaired once more")
@wrong("same_result", node="maximum", says="argument 'other' must be Tensor, not float")
def puts_numbers_in_place_of_scalars(gm):
    lifted(gm, lambda value: value.item() if isinstance(value, torch.Tensor) and value.dim() == 0 else value)
    lifted(gm, lifting(gm, free_names(gm)))


@breaks("a buffer that a `get_attr` fetches.", case="the scale and shift")
@wrong(
    "fetches_buffers",
    node="lifted0",
    says="fetches `lifted0`, which is neither a parameter nor a buffer",
    read="when_it_breaks/01_node_creation#attempted-to-insert-a-get_attr-node-with-no-underlying-reference",
)
def sets_a_plain_attribute(gm):
    lifted(gm, lifting(gm, free_names(gm), setattr))


@breaks("each tensor becomes", case="the scale and shift")
@wrong("no_shared_buffer", node="constant_1", says="both fetch `constant`: one tensor has replaced another")
def stores_all_under_one_name(gm):
    lifted(gm, lifting(gm, lambda: "constant"))


@breaks("The module may already have attributes.", case="the padded rows, repaired once more")
@wrong("own_weights_stay", node="constant_1", says="fetches `constant_0`, a name that the module already uses")
def overwrites_a_buffer_of_the_module(gm):
    numbers = iter(range(99))
    lifted(gm, lifting(gm, lambda: f"constant_{next(numbers)}"))


@breaks("each tensor becomes a buffer", case="nested results, tensors for methods")
@wrong("same_result", node="output", says="its item 2 holds different numbers")
def shares_a_buffer_between_equal_tensors(gm):
    fetched, lift = [], lifting(gm, free_names(gm))

    def lift_once(value):
        if not isinstance(value, torch.Tensor):
            return value
        known = next((node for other, node in fetched if torch.equal(other, value)), None)
        node = known or lift(value)
        fetched.append((value.clone(), node))
        return node

    lifted(gm, lift_once)


@wrong("lints", node="mul", says="uses lifted0 before it is defined", read=NO_ANCHOR)
def fetches_without_an_anchor(gm):
    lift = lifting(gm, free_names(gm))
    for node in list(gm.graph.nodes):
        node.args, node.kwargs = fx.node.map_aggregate((node.args, node.kwargs), lift)
    gm.recompile()


@breaks("edits its graph in place", case="the scale and shift")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(gm):
    gm = copy.deepcopy(gm)
    lifted(gm, lifting(gm, free_names(gm)))
    return gm


@breaks("its graph in place", case="the scale and shift")
@wrong("edited", says="it was traced or built again")
def rebuilds_the_known_graph(gm):
    graph = fx.Graph()
    x = graph.placeholder("x")
    gm.register_buffer("two", torch.tensor(2.0))
    gm.register_buffer("shift", torch.tensor([1.0, 2.0, 3.0]))
    scaled = graph.call_function(torch.mul, (x, graph.get_attr("two")))
    graph.output(graph.call_function(torch.add, (scaled, graph.get_attr("shift"))))
    gm.graph = graph


@wrong("args_are_tuples", node="mul", says="are a list, where torch.fx keeps a tuple", read=A_LIST)
def assigns_a_list_of_arguments(gm):
    lifted(gm, lifting(gm, free_names(gm)))
    for node in gm.graph.nodes:
        if node.op.startswith("call"):
            node.args = [*node.args]
    gm.recompile()


@wrong("no_dead_nodes", node="lifted0", says="is dead: no node uses its result")
def lifts_twice(gm):
    lift = lifting(gm, free_names(gm))
    for node in list(gm.graph.nodes):
        given = (node.args, node.kwargs)
        with gm.graph.inserting_before(node):
            if fx.node.map_aggregate(given, lift) is not given:
                node.args, node.kwargs = fx.node.map_aggregate(given, lift)
    gm.recompile()


@breaks(
    "nodes have tensors among their arguments:",
    "among the results that the module returns",
    case="nested results, tensors for methods",
)
@wrong("tensor_free", node="output", says="has a tensor among its arguments")
def looks_at_calls_only(gm):
    lifted(gm, lifting(gm, free_names(gm)), is_meant=lambda node: node.op.startswith("call"))
