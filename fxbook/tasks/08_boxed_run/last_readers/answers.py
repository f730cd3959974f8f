"""Answers to 08-last-readers: the node after which each value can be freed."""

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong


@right
class WalksBackwards:
    def __call__(self, graph):
        last = {}
        for node in reversed(graph.nodes):
            if node.op != "output":
                last.setdefault(node.name, node.name)
            for read in node.all_input_nodes:
                last.setdefault(read.name, node.name)
        return last


@right
def looks_at_all_later_nodes(graph):
    """Does not read ``users``."""
    order, last = list(graph.nodes), {}
    for place, node in enumerate(order[:-1]):
        last[node.name] = node.name
        for later in order[place + 1 :]:
            if node in later.all_input_nodes:
                last[node.name] = later.name
    return last


@right
def counts_the_remaining_uses(graph):
    left = {node: len(node.users) for node in graph.nodes}
    last = {node: node for node, count in left.items() if count == 0 and node.op != "output"}
    for node in graph.nodes:
        for read in node.all_input_nodes:
            left[read] -= 1
            if left[read] == 0:
                last[read] = node
    return {read.name: node.name for read, node in last.items()}


@right
def maps_over_the_arguments(graph):
    last = {}

    def note(read):
        last[read] = current.name
        return read

    for current in graph.nodes:
        if current.op != "output":
            last[current] = current.name
        fx.node.map_arg((current.args, current.kwargs), note)
    return {node.name: name for node, name in last.items()}


@breaks("graphs whose nodes were moved after tracing.", case="a graph whose nodes were moved")
@wrong("ends_at_last_user", says="the answer for `second` is `mul_1`, but another user of it comes later")
def takes_the_last_entry_of_users(graph):
    return {node.name: (list(node.users) or [node])[-1].name for node in graph.nodes if node.op != "output"}


@breaks("A node without users gets its own name", case="values without users")
@wrong("ends_at_last_user", says="No node uses `mask`: its answer should be `mask` itself, not `output`")
def keeps_unused_values_to_the_end(graph):
    return {node.name: max(node.users).name if node.users else "output" for node in graph.nodes if node.op != "output"}


@breaks("except `output`", case="the attention of the chapter")
@wrong("ends_at_last_user", says="`output` is a key of the answer, but should not be")
def has_an_entry_for_output(graph):
    return {node.name: max(node.users, default=node).name for node in graph.nodes}


@breaks("Return a dict", case="the attention of the chapter")
@wrong("ends_at_last_user", says="not a dict with node names")
def returns_a_list_of_pairs(graph):
    return [(node.name, max(node.users, default=node).name) for node in graph.nodes if node.op != "output"]


@breaks("that uses it.", case="values used in lists and by keyword")
@wrong("ends_at_last_user", says="the answer for `first` is `add`, but another user of it comes later")
def looks_at_positional_arguments_only(graph):
    last = {node.name: node.name for node in graph.nodes if node.op != "output"}
    for node in graph.nodes:
        last |= {read.name: node.name for read in node.args if isinstance(read, fx.Node)}
    return last


@breaks("the last node in the list", case="a value used in a slice, and a result used twice")
@wrong("ends_at_last_user", says="the answer for `relu` is `getitem`, but another user of it comes later in the list")
def counts_output_only_if_there_is_no_other_user(graph):
    last = {}
    for node in graph.nodes:
        if node.op != "output":
            others = [user for user in node.users if user.op != "output"]
            last[node.name] = max(others or node.users, default=node).name
    return last


@breaks("the name of every node", case="a graph that fetches a weight")
@wrong("ends_at_last_user", says="(a graph that fetches a weight): node `scale` is not a key of the answer")
def leaves_out_weights(graph):
    steps = [node for node in graph.nodes if node.op == "placeholder" or node.op.startswith("call")]
    return {node.name: max(node.users, default=node).name for node in steps}


@wrong("graph_left_alone", says="Your code has changed the graph that it was given: node `square`")
def removes_nodes_without_users(graph):
    last = {node.name: max(node.users, default=node).name for node in graph.nodes if node.op != "output"}
    graph.eliminate_dead_code()
    return last


@wrong("ends_at_last_user", says="the answer for `mul` is `mul_1`, but another user of it comes later in the list")
def counts_each_occurrence(graph):
    """A node that uses a value twice is one user."""
    left = {node: len(node.users) for node in graph.nodes}
    last = {node.name: node.name for node in graph.nodes if node.op != "output"}

    def count(read):
        left[read] -= 1
        if left[read] == 0:
            last[read.name] = current.name
        return read

    for current in graph.nodes:
        fx.node.map_arg((current.args, current.kwargs), count)
    return last


@wrong("ends_at_last_user", says="The answer for `out` is `out` itself, as if nothing used it, but `output` does.")
def never_counts_output(graph):
    steps = [node for node in graph.nodes if node.op != "output"]
    return {node.name: max([node, *(user for user in node.users if user.op != "output")]).name for node in steps}
