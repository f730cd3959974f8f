"""Answers to 00-readers: the nodes that read a node."""

from torch import fx

from fxbook.tasks.answering import right, wrong

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


# ---- wrong -----------------------------------------------------------------------------------------------------------


@wrong("readers", says="`cat` uses `block`, inside a list, and is not in the answer")
def looks_at_plain_arguments_only(traced, name):
    [read] = [node for node in traced.graph.nodes if node.name == name]
    return [node.name for node in traced.graph.nodes if any(value is read for value in node.args)]


@wrong("readers", says="`mul` uses `block`, by name, and is not in the answer")
def forgets_the_keywords(traced, name):
    found = []
    for node in traced.graph.nodes:
        fx.node.map_arg(node.args, lambda read, reader=node: found.append(reader.name) if read.name == name else None)
    return list(dict.fromkeys(found))


@wrong("readers", says="`cat` uses `block`, inside a list, and is not in the answer")
def takes_the_next_in_the_list(traced, name):
    return [node.next.name for node in traced.graph.nodes if node.name == name]


@wrong("readers", says="`hidden` is in the answer: it is what `relu` uses")
def goes_the_wrong_way(traced, name):
    return [read.name for node in traced.graph.nodes if node.name == name for read in node.all_input_nodes]


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


@wrong("readers", says="`add` is in the answer more than once")
def counts_the_uses(traced, name):
    found = []
    for node in traced.graph.nodes:
        read = (node.args, node.kwargs)
        fx.node.map_arg(read, lambda read, reader=node: found.append(reader.name) if read.name == name else None)
    return found


@wrong("readers", says="`output` is in the answer, but does not use `cat` itself")
def searches_the_printed_text(traced, name):
    return [node.name for node in traced.graph.nodes if name in f"{node.args} {node.kwargs}"]


@wrong("readers", says="The answer is a number: a list of names was asked")
def returns_their_number(traced, name):
    return next(len(node.users) for node in traced.graph.nodes if node.name == name)


@wrong("readers", says="the answer is empty: `cat` is the name of a node, its target is `torch.cat`")
def looks_for_the_target(traced, name):
    return [user.name for node in traced.graph.nodes if node.target == name for user in node.users]
