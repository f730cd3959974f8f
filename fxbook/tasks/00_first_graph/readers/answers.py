"""Answers to 00-readers: the nodes that read a node."""

import collections
import copy
import re

from torch import fx
from torch.utils import _pytree as pytree

from fxbook.tasks.answering import breaks, right, wrong

# ---- right -----------------------------------------------------------------------------------------------------------


@right
def asks_every_node_for_its_inputs(traced, name):
    return [node.name for node in traced.graph.nodes if name in [read.name for read in node.all_input_nodes]]


@right
def returns_the_users_as_they_are(traced, name):
    return next(node for node in traced.graph.nodes if node.name == name).users


@right
class MapsOverTheArguments:
    """Collects every node that stands anywhere among the arguments."""

    def __call__(self, traced, name):
        found = set()
        for node in traced.graph.nodes:
            fx.node.map_arg((node.args, node.kwargs), lambda read, reader=node: self.note(read, reader, name, found))
        return found

    def note(self, read, reader, name, found):
        if read.name == name:
            found.add(reader)
        return read


@right
def turns_the_inputs_of_all_nodes_around(traced, name):
    found = collections.defaultdict(list)
    for node in traced.graph.nodes:
        for read in node.all_input_nodes:
            found[read.name].append(node.name)
    return found[name]


@right
def sees_which_nodes_of_a_copy_change(traced, name):
    """Gives a copy of the graph another node to use, and is told who uses it."""
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


@right
def returns_names_as_keys_of_a_dict(traced, name):
    by_name = {node.name: node for node in traced.graph.nodes}
    return {user.name: user for user in by_name[name].users}.keys()


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("inside a list", case="`block` of a dense block")
@wrong("readers", says="`cat` uses `block`, inside a list, and is not in the answer")
def looks_at_plain_arguments_only(traced, name):
    [read] = [node for node in traced.graph.nodes if node.name == name]
    return [node.name for node in traced.graph.nodes if any(value is read for value in node.args)]


@breaks("by name", case="`block` of a dense block")
@wrong("readers", says="`mul` uses `block`, by name, and is not in the answer")
def forgets_the_keywords(traced, name):
    found = []
    for node in traced.graph.nodes:
        fx.node.map_arg(node.args, lambda read, reader=node: found.append(reader.name) if read.name == name else None)
    return list(dict.fromkeys(found))


@wrong("readers", says="`cat` uses `block`, inside a list, and is not in the answer")
def takes_the_next_in_the_list(traced, name):
    return [node.next.name for node in traced.graph.nodes if node.name == name]


@breaks(
    "the nodes that use its result",
    'For `"relu"` of `Classifier` the answer is `["head"]`.',
    case="`relu` of the classifier",
)
@wrong("readers", says="`hidden` is in the answer: it is what `relu` uses")
def goes_the_wrong_way(traced, name):
    return [read.name for node in traced.graph.nodes if node.name == name for read in node.all_input_nodes]


@breaks("that use its result", case="`relu` of the classifier")
@wrong("readers", says="`truediv` is in the answer, but does not use `relu` itself")
def goes_on_to_the_readers_of_readers(traced, name):
    reached = [name]
    for node in traced.graph.nodes:
        if any(read.name in reached for read in node.all_input_nodes):
            reached.append(node.name)
    return reached[1:]


@wrong("readers", says="`output` uses `cat_1`, and is not in the answer")
def leaves_out_the_output(traced, name):
    [node] = [node for node in traced.graph.nodes if node.name == name]
    return [user.name for user in node.users if user.op != "output"]


@breaks("each once", "or twice.", case="`block` of a dense block")
@wrong("readers", says="`add` is in the answer more than once")
def counts_the_uses(traced, name):
    found = []
    for node in traced.graph.nodes:
        read = (node.args, node.kwargs)
        fx.node.map_arg(read, lambda read, reader=node: found.append(reader.name) if read.name == name else None)
    return found


@breaks("A node can use a value by position", case="`cat` of a dense block")
@wrong("readers", says="`output` is in the answer, but does not use `cat` itself")
def searches_the_printed_text(traced, name):
    return [node.name for node in traced.graph.nodes if name in f"{node.args} {node.kwargs}"]


@breaks("return the names of the nodes", case="`relu` of the classifier")
@wrong("readers", says="The answer is a number: a list of names was asked")
def returns_their_number(traced, name):
    return next(len(node.users) for node in traced.graph.nodes if node.name == name)


@breaks("Given a traced module and the name of a node", case="`cat` of a dense block")
@wrong("readers", says="the answer is empty: `cat` is the name of a node, its target is `torch.cat`")
def looks_for_the_target(traced, name):
    return [user.name for node in traced.graph.nodes if node.target == name for user in node.users]


@breaks("a dict or a slice", case="`size` of slices")
@wrong("readers", says="`getitem` uses `size`, inside a slice, and is not in the answer")
def flattens_the_arguments(traced, name):
    """To a pytree, a slice is a leaf."""
    for node in traced.graph.nodes:
        leaves = pytree.tree_leaves((node.args, node.kwargs))
        if any(isinstance(leaf, fx.Node) and leaf.name == name for leaf in leaves):
            yield node.name


@breaks("a dict or a slice", case="`tanh` of a squashing block")
@wrong("readers", says="`output` uses `tanh`, inside a dict, and is not in the answer")
def looks_one_level_deep(traced, name):
    for node in traced.graph.nodes:
        values = []
        for value in (*node.args, *node.kwargs.values()):
            match value:
                case list() | tuple():
                    values += value
                case slice():
                    values += [value.start, value.stop, value.step]
                case _:
                    values.append(value)
        if any(isinstance(value, fx.Node) and value.name == name for value in values):
            yield node.name


@breaks("by name, inside a list", case="`tanh` of a squashing block")
@wrong("readers", says="`cat` uses `tanh`, by name, and is not in the answer")
def expects_no_list_by_name(traced, name):
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


@wrong("readers", says="`gelu` is in the answer, but does not use `tanh` itself")
def searches_whole_words(traced, name):
    word = re.compile(rf"\b{name}\b")
    return [node.name for node in traced.graph.nodes if word.search(f"{node.args} {node.kwargs}")]


@breaks("the name of a node", case="`tanh` of a squashing block")
@wrong("readers", says="is in the answer, but does not use `tanh` itself")
def takes_the_first_name_that_begins_alike(traced, name):
    return next(node for node in traced.graph.nodes if node.name.startswith(name)).users


@breaks("the nodes that use its result", case="`tanh` of a squashing block")
@wrong("readers", says="`exp` uses `tanh`, and is not in the answer")
def leaves_out_what_nothing_uses(traced, name):
    [node] = [node for node in traced.graph.nodes if node.name == name]
    return [user for user in node.users if user.users or user.op == "output"]


@wrong("readers", says="`sin` is in the answer more than once")
def returns_targets_for_names(traced, name):
    [node] = [node for node in traced.graph.nodes if node.name == name]
    return [user.target if isinstance(user.target, str) else user.name for user in node.users]


@wrong("readers", says="`output` is in the answer, but does not use `exp` itself")
def falls_back_on_the_output(traced, name):
    [node] = [node for node in traced.graph.nodes if node.name == name]
    return list(node.users) or [traced.graph.output_node()]


@breaks("the names of the nodes", case="`exp`, which nothing uses")
@wrong("readers", says="the answer is None: a list of names was asked")
def returns_nothing_for_no_users(traced, name):
    [node] = [node for node in traced.graph.nodes if node.name == name]
    return [user.name for user in node.users] or None


@wrong("input_unchanged", says="the model that was given has been changed: its graph was edited, at node `exp`")
def cleans_up_afterwards(traced, name):
    [node] = [node for node in traced.graph.nodes if node.name == name]
    names = [user.name for user in node.users]
    traced.graph.eliminate_dead_code()
    traced.recompile()
    return names
