"""Answers to 00-readers."""

import copy

from torch import fx
from torch.utils import _pytree as pytree

from fxbook.tasks.answering import breaks, right, wrong


@right
class MapsOverTheArguments:
    """Collects each node that has the value somewhere among its arguments."""

    def __call__(self, traced, name):
        found = set()
        for node in traced.graph.nodes:
            fx.node.map_arg((node.args, node.kwargs), lambda read, user=node: self.record(read, user, name, found))
        return found

    def record(self, read, user, name, found):
        if read.name == name:
            found.add(user)
        return read


@right
def sees_which_nodes_of_a_copy_change(traced, name):
    """Replaces the node in a copy of the graph; ``replace_all_uses_with`` returns its former users."""
    graph = copy.deepcopy(traced).graph
    node = next(node for node in graph.nodes if node.name == name)
    with graph.inserting_before(node):
        other = graph.placeholder("other")
    return node.replace_all_uses_with(other)


@right
def searches_by_hand(traced, name):
    def holds(value):
        match value:
            case fx.Node():
                return value.name == name
            case list() | tuple():
                return any(map(holds, value))
            case dict():
                return any(map(holds, value.values()))
            case slice():
                return any(map(holds, (value.start, value.stop, value.step)))
        return False

    return {node.name for node in traced.graph.nodes if holds(node.args) or holds(node.kwargs)}


@right
def walks_back_from_the_output(traced, name):
    node = traced.graph.output_node()
    while node.name != name:
        node = node.prev
    return tuple(user.name for user in node.users)


@breaks(
    "the nodes that use its result",
    'For `"relu"` in `Classifier` the answer is `["head"]`.',
    case="`relu` of the classifier",
)
@wrong("readers", says="`hidden` is in the answer, but is an input of `relu`")
def returns_the_inputs(traced, name):
    return [read.name for node in traced.graph.nodes if node.name == name for read in node.all_input_nodes]


@wrong("readers", says="`output` uses `cat_1`, but is not in the answer")
def skips_the_output(traced, name):
    [node] = [node for node in traced.graph.nodes if node.name == name]
    return [user.name for user in node.users if user.op != "output"]


@breaks("each once", "and more than once.", case="`block` of a dense block")
@wrong("readers", says="`add` is in the answer more than once")
def counts_the_uses(traced, name):
    found = []
    for node in traced.graph.nodes:
        read = (node.args, node.kwargs)
        fx.node.map_arg(read, lambda read, user=node: found.append(user.name) if read.name == name else None)
    return found


@breaks("A node can use a value by position", case="`cat` of a dense block")
@wrong("readers", says="`output` is in the answer, but does not use `cat` directly")
def searches_the_printed_text(traced, name):
    return [node.name for node in traced.graph.nodes if name in f"{node.args} {node.kwargs}"]


@breaks("return the names of the nodes", case="`relu` of the classifier")
@wrong("readers", says="The answer is a number, not a list of names")
def returns_the_number_of_users(traced, name):
    return next(len(node.users) for node in traced.graph.nodes if node.name == name)


@breaks("Given a traced module and the name of a node", case="`cat` of a dense block")
@wrong("readers", says="the answer is empty: `cat` is a node name, and that node's target is `torch.cat`")
def looks_for_the_target(traced, name):
    return [user.name for node in traced.graph.nodes if node.target == name for user in node.users]


@breaks("a dict or a slice", case="`size` of slices")
@wrong("readers", says="`getitem` uses `size`, inside a slice, but is not in the answer")
def flattens_the_arguments(traced, name):
    """For pytree, a slice is a leaf."""
    for node in traced.graph.nodes:
        leaves = pytree.tree_leaves((node.args, node.kwargs))
        if any(isinstance(leaf, fx.Node) and leaf.name == name for leaf in leaves):
            yield node.name


@breaks("by name, inside a list", case="`tanh` of a squashing block")
@wrong("readers", says="`cat` uses `tanh`, by name, but is not in the answer")
def misses_lists_passed_by_name(traced, name):
    def holds(value):
        match value:
            case fx.Node():
                return value.name == name
            case list() | tuple():
                return any(map(holds, value))
            case dict():
                return any(map(holds, value.values()))
            case slice():
                return holds((value.start, value.stop, value.step))

    [read] = [node for node in traced.graph.nodes if node.name == name]
    for node in traced.graph.nodes:
        if holds(node.args) or any(value is read for value in node.kwargs.values()):
            yield node.name


@breaks("the names of the nodes", case="`exp`, which has no users")
@wrong("readers", says="the answer is None, not a list of names")
def returns_nothing_for_no_users(traced, name):
    [node] = [node for node in traced.graph.nodes if node.name == name]
    return [user.name for user in node.users] or None


@breaks("Given a traced module", case="a random node of a model with random layers")
@wrong("readers", says=" is in the answer, but does not use `")
def traces_the_module_once_more(traced, name):
    nodes = {node.name: node for node in fx.symbolic_trace(traced).graph.nodes}
    return [user.name for user in nodes[name].users]


@wrong("input_unchanged", says="the model that was given has been changed: its graph was edited, at node `exp`")
def cleans_up_afterwards(traced, name):
    [node] = [node for node in traced.graph.nodes if node.name == name]
    names = [user.name for user in node.users]
    traced.graph.eliminate_dead_code()
    traced.recompile()
    return names
