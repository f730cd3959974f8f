"""Answers to 01-rotate-half."""

import operator

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

IN_PLACE = "01_node_creation#four-spellings-of-add"


LEFT, RIGHT = (..., slice(None, 2)), (..., slice(2, None))


def started():
    graph = fx.Graph()
    return graph, graph.placeholder("x")


def halves(graph, x):
    return (graph.call_function(operator.getitem, (x, half)) for half in (LEFT, RIGHT))


@right
def splits_a_proxy():
    graph, x = started()
    pieces = fx.Proxy(x).split(2, -1)
    graph.output(torch.cat([pieces[1].negative(), pieces[0]], -1).node)
    return graph


@right
def traces_the_line():
    return fx.symbolic_trace(lambda x: torch.cat([-x[..., 2:], x[..., :2]], dim=-1))


@right
def builds_backwards_from_the_output():
    """Makes the users of a node before the node itself."""
    graph = fx.Graph()
    output = graph.output(None)
    with graph.inserting_before(output):
        joined = graph.call_function(torch.cat)
    with graph.inserting_before(joined):
        turned = graph.call_function(operator.sub)
    with graph.inserting_before(turned):
        x = graph.placeholder("x")
        first, last = halves(graph, x)
    turned.args = (0.0, last)
    joined.args, joined.kwargs = ([turned, first],), {"dim": 2}
    output.args = (joined,)
    return graph


@right
def traces_a_module_that_writes_into_a_new_tensor():
    class Rotating(torch.nn.Module):
        def forward(self, x):
            first, last = x.split(2, dim=-1)[0], x.narrow(-1, 2, 2)
            return torch.concatenate((torch.neg(last, out=torch.empty_like(last)), first), -1)

    return fx.symbolic_trace(Rotating())


def negated(graph, half):
    return graph.call_function(operator.neg, (half,))


def joined(graph, turned, first):
    return graph.call_function(torch.cat, ([turned, first],), {"dim": -1})


def rotated(turn=negated, join=joined, cut=halves):
    """The right graph, with parameters for its parts."""
    graph, x = started()
    first, last = cut(graph, x)
    graph.output(join(graph, turn(graph, last), first))
    return graph


@wrong(
    "brackets_take_two",
    node="getitem",
    says="has 3 arguments: the code for `[]` uses two and drops the rest",
    read="when_it_breaks/01_node_creation#too-many-arguments-for-an-operator",
)
def spreads_the_index_out():
    return rotated(cut=lambda graph, x: [graph.call_function(operator.getitem, (x, *half)) for half in (LEFT, RIGHT)])


@breaks("the four columns are its last dimension.", case="rotation")
@wrong("in_last_dimension", node="getitem", says="slices dimension 1 of `x`, which has 3")
def slices_the_second_dimension():
    parts = slice(None, 2), slice(2, None)
    return rotated(
        cut=lambda graph, x: [graph.call_function(operator.getitem, (x, (slice(None), part))) for part in parts]
    )


@breaks("Build the graph of `torch.cat([", case="rotation")
@wrong("pieces_in_a_list", node="cat", says="gets its pieces as separate arguments: it takes one list")
def passes_the_pieces_one_by_one():
    return rotated(join=lambda graph, *pieces: graph.call_function(torch.cat, pieces, {"dim": -1}))


@breaks("-x[..., 2:], x[..., :2]]", case="rotation")
@wrong("negated_half_first", node="cat", says="joins `getitem` first: the negated half should come first")
def keeps_the_order_of_the_halves():
    return rotated(join=lambda graph, turned, first: joined(graph, first, turned))


@wrong("two_halves", node="getitem", says="takes columns that are not one of the halves, `:2` and `2:`")
def takes_every_second_column():
    parts = (..., slice(0, None, 2)), (..., slice(1, None, 2))
    return rotated(cut=lambda graph, x: [graph.call_function(operator.getitem, (x, part)) for part in parts])


@wrong("has_node", says="The graph has no `output` node", read="when_it_breaks/01_node_creation#no-output-node")
def forgets_the_output():
    graph, x = started()
    first, last = halves(graph, x)
    joined(graph, negated(graph, last), first)
    return graph


@breaks("has the shape `(batch, tokens, 4)`;", case="a batch of a different shape")
@wrong("same_result", node="view", says="running the result raises RuntimeError: shape '[2, 3, 4]' is invalid")
def hard_codes_the_shape_of_one_batch():
    return rotated(join=lambda graph, *pieces: graph.call_method("view", (joined(graph, *pieces), 2, 3, 4)))


@breaks("The input is called `x`", case="rotation")
@wrong("placeholders", node="queries", says="Input 1 is called `queries`, not `x`")
def names_the_input_for_its_use():
    return fx.symbolic_trace(lambda queries: torch.cat([-queries[..., 2:], queries[..., :2]], dim=-1))


@wrong("no_dead_nodes", node="add", says="is dead: no node uses its result")
def leaves_a_trial_behind():
    def join(graph, *pieces):
        graph.call_function(operator.add, pieces)
        return joined(graph, *pieces)

    return rotated(join=join)


@wrong("lints", node="neg", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def inserts_everything_after_the_input():
    """Each new node comes directly after ``x``, before the nodes that were created earlier."""
    graph, x = started()
    with graph.inserting_after(x):
        first, last = halves(graph, x)
        turned = negated(graph, last)
    graph.output(joined(graph, turned, first))
    return graph


@breaks("which rotary position embeddings apply", case="rotation")
@wrong("nothing_detached", node="detach", says="cuts off gradients, but the expression does not")
def detaches_a_half():
    return rotated(lambda graph, half: negated(graph, graph.call_method("detach", (half,))))


@breaks("Return the `fx.Graph` or a `GraphModule` built from it.", case="rotation")
@wrong("right kind", says="Your function returns an object of class Node, not an fx.Graph or an fx.GraphModule")
def returns_the_last_node():
    return rotated().output_node()


@breaks("[-x[..., 2:]", case="rotation")
@wrong("input_stays", node="neg_", says="works in place: it changes the tensor passed as `x`", read=IN_PLACE)
def negates_a_slice_in_place():
    return rotated(lambda graph, half: graph.call_method("neg_", (half,)))
