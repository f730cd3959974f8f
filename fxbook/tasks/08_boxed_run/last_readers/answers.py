"""Answers to 08-last-readers: after which node a value can be freed."""

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

# ---- right -----------------------------------------------------------------------------------------------------------


@right
class FirstMetFromBelow:
    def __call__(self, graph):
        last = {}
        for node in reversed(graph.nodes):
            if node.op != "output":
                last.setdefault(node.name, node.name)
            for read in node.all_input_nodes:
                last.setdefault(read.name, node.name)
        return last


@right
def looks_at_all_that_comes_later(graph):
    """It does not look at ``users``."""
    order, last = list(graph.nodes), {}
    for place, node in enumerate(order[:-1]):
        last[node.name] = node.name
        for later in order[place + 1 :]:
            if node in later.all_input_nodes:
                last[node.name] = later.name
    return last


@right
def counts_the_uses_that_are_left(graph):
    left = {node: len(node.users) for node in graph.nodes}
    last = {node: node for node, count in left.items() if count == 0 and node.op != "output"}
    for node in graph.nodes:
        for read in node.all_input_nodes:
            left[read] -= 1
            if left[read] == 0:
                last[read] = node
    return last


@right
def walks_through_the_arguments(graph):
    last = {}

    def note(read):
        last[read] = current.name
        return read

    for current in graph.nodes:
        if current.op != "output":
            last[current] = current.name
        fx.node.map_arg((current.args, current.kwargs), note)
    return {node.name: name for node, name in last.items()}


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("graphs whose nodes were moved after tracing.", case="a graph whose nodes were moved")
@wrong(
    "ends_at_last_user",
    says="(a graph whose nodes were moved): node `mul_1` uses `second`, but another user comes later",
)
def takes_the_last_of_users(graph):
    return {node.name: (list(node.users) or [node])[-1].name for node in graph.nodes if node.op != "output"}


@breaks("A node without users gets its own name", case="values without users")
@wrong("ends_at_last_user", says="No node uses `mask`: its answer should be `mask` itself, not `output`")
def lets_the_unused_live_to_the_end(graph):
    return {node.name: max(node.users).name if node.users else "output" for node in graph.nodes if node.op != "output"}


@breaks("except `output`.", case="the attention of the chapter")
@wrong("ends_at_last_user", says="`output` is in the answer, but should not be")
def has_an_entry_for_output(graph):
    return {node.name: max(node.users, default=node).name for node in graph.nodes}


@breaks("Return a dict.", case="the attention of the chapter")
@wrong("ends_at_last_user", says="not a dict with names")
def returns_a_list_of_pairs(graph):
    return [(node, max(node.users, default=node)) for node in graph.nodes if node.op != "output"]


@breaks("that uses this node.", case="values used in lists and by name")
@wrong("ends_at_last_user", says="node `add` uses `first`, but another user comes later")
def looks_at_plain_arguments_only(graph):
    last = {node.name: node.name for node in graph.nodes if node.op != "output"}
    for node in graph.nodes:
        last |= {read.name: node.name for read in node.args if isinstance(read, fx.Node)}
    return last


SLICE = "(a slice up to a value, and a result used twice)"


@breaks("the last node in the list", case="a slice up to a value, and a result used twice")
@wrong("ends_at_last_user", says=f"{SLICE}: node `getitem` uses `relu`, but another user comes later in the list")
def takes_output_for_a_user_only_where_there_is_no_other(graph):
    last = {}
    for node in graph.nodes:
        if node.op != "output":
            others = [user for user in node.users if user.op != "output"]
            last[node.name] = max(others or node.users, default=node).name
    return last


@breaks("the names of all nodes", case="a graph that fetches a weight")
@wrong(
    "ends_at_last_user",
    says="(a graph that fetches a weight): node `scale` is missing from the answer",
)
def leaves_out_weights(graph):
    steps = [node for node in graph.nodes if node.op == "placeholder" or node.op.startswith("call")]
    return {node.name: max(node.users, default=node).name for node in steps}


@wrong("graph_left_alone", says="The graph that was passed has been changed: node `square`")
def removes_what_has_no_users(graph):
    last = {node.name: max(node.users, default=node).name for node in graph.nodes if node.op != "output"}
    graph.eliminate_dead_code()
    return last


@wrong("ends well", says="max")
def asks_for_the_last_of_no_users(graph):
    return {node.name: max(node.users).name for node in graph.nodes if node.op != "output"}
