"""Answers to 16-what-crosses: the values that are made before the cut and used after it."""

from fxbook.tasks.answering import breaks, right, wrong


def split_at(graph, cut):
    """The nodes before the cut, and the nodes after it."""
    order = list(graph.nodes)
    place = [node.name for node in order].index(cut)
    return order[:place], order[place:]


@right
def keeps_a_state_while_walking(graph, cut):
    made, found, is_behind = set(), [], False
    for node in graph.nodes:
        is_behind = is_behind or node.name == cut
        if not is_behind and node.op != "get_attr":
            made.add(node)
        elif is_behind:
            found += [arg.name for arg in node.all_input_nodes if arg in made and arg.name not in found]
    return found


@right
def walks_backwards(graph, cut):
    """A liveness analysis: going backwards, a value is live from its last use to the node that makes it."""
    live = set()
    for node in reversed(graph.nodes):
        live.discard(node)
        live.update(node.all_input_nodes)
        if node.name == cut:
            break
    return [node.name for node in live if node.op != "get_attr"]


@right
def follows_next(graph, cut):
    node, behind = graph.find_nodes(op="output")[0], []
    while node.name != cut:
        behind.append(node)
        node = node.prev
    behind.append(node)
    crossing = [arg for node in behind for arg in node.all_input_nodes if arg not in behind]
    return list(dict.fromkeys(arg.name for arg in crossing if arg.op != "get_attr"))


@right
def looks_up_the_last_use(graph, cut):
    before, _ = split_at(graph, cut)
    lasts = {node: max(node.users, default=node) for node in before if node.op != "get_attr"}
    return {node.name for node, last in lasts.items() if last not in before}


@breaks("Return the names of the nodes whose values cross the cut.", case="a block with skip connections")
@wrong("names_what_crosses", says="but is missing from the answer")
def takes_the_arguments_of_the_cut(graph, cut):
    [node] = [node for node in graph.nodes if node.name == cut]
    return [arg.name for arg in node.all_input_nodes if arg.op != "get_attr"]


@breaks(
    "A weight that a `get_attr` node fetches does not count, since each part has its own weights.",
    case="a block with skip connections",
)
@wrong("names_what_crosses", says="does not cross the cut")
def counts_weights(graph, cut):
    before, behind = split_at(graph, cut)
    return [node.name for node in before if set(node.users) & set(behind)]


@breaks("An input of the graph counts as a value.", case="a block with skip connections")
@wrong("names_what_crosses", says="but is missing from the answer")
def forgets_the_inputs(graph, cut):
    before, behind = split_at(graph, cut)
    calls = [node for node in before if node.op.startswith("call")]
    return [node.name for node in calls if set(node.users) & set(behind)]


@breaks("the node `cut` itself", case="a block with skip connections")
@wrong("names_what_crosses", says="but is missing from the answer")
def forgets_the_node_itself(graph, cut):
    before, behind = split_at(graph, cut)
    return [node.name for node in before if node.op != "get_attr" and set(node.users) & set(behind[1:])]


@breaks("The output counts as a later node.", case="a value made early and returned")
@wrong("names_what_crosses", says="but is missing from the answer")
def forgets_the_output(graph, cut):
    before, behind = split_at(graph, cut)
    users = {node for node in behind if node.op != "output"}
    return [node.name for node in before if node.op != "get_attr" and set(node.users) & users]


@breaks("or a later node uses it.", case="a block with skip connections")
@wrong("names_what_crosses", says="does not cross the cut")
def includes_values_without_later_users(graph, cut):
    before, _ = split_at(graph, cut)
    return [node.name for node in before if node.op != "get_attr"]


@breaks("Such a value comes from a node before the cut,", case="a block with skip connections")
@wrong("names_what_crosses", says="does not cross the cut")
def includes_values_made_later(graph, cut):
    _, behind = split_at(graph, cut)
    used = {arg for node in behind for arg in node.all_input_nodes if arg.op != "get_attr"}
    return [node.name for node in used]


@breaks("each once,", case="a value made early and returned")
@wrong("names_what_crosses", says="is in the answer more than once")
def lists_a_value_for_each_user(graph, cut):
    before, behind = split_at(graph, cut)
    made = [node for node in before if node.op != "get_attr"]
    return [node.name for node in made for user in node.users if user in behind]


@breaks("Return a list of the names of the values that cross the cut", case="a block with skip connections")
@wrong("names_what_crosses", says="is not a list of names")
def returns_a_count(graph, cut):
    before, behind = split_at(graph, cut)
    return len([node for node in before if node.op != "get_attr" and set(node.users) & set(behind)])


@breaks("Such a value comes from a node before the cut,", case="a value made early and returned")
@wrong("names_what_crosses", says="but is missing from the answer")
def forgets_methods(graph, cut):
    before, behind = split_at(graph, cut)
    made = [node for node in before if node.op in ("placeholder", "call_function", "call_module")]
    return [node.name for node in made if set(node.users) & set(behind)]


@breaks("A weight that a `get_attr` node fetches does not count,", case="a value made early and returned")
@wrong("names_what_crosses", says="but is missing from the answer")
def leaves_out_what_is_computed_from_weights(graph, cut):
    before, behind = split_at(graph, cut)
    weights = set()
    for node in before:
        if node.op == "get_attr" or (node.all_input_nodes and weights.issuperset(node.all_input_nodes)):
            weights.add(node)
    return [node.name for node in before if node not in weights and set(node.users) & set(behind)]
