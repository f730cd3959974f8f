"""Answers to 11-what-is-saved: what the forward graph computes for the backward graph, and its size in bytes."""

from fxbook.tasks.answering import breaks, right, wrong

GPT2, DTYPES = "the activation of GPT-2", "three dtypes, and a view"


def placeholders(module):
    return module.graph.find_nodes(op="placeholder")


def size(nodes):
    return sum(node.meta["val"].nbytes for node in nodes)


def names(nodes):
    return [node.name for node in nodes]


def wanted(forward, backward):
    gets = set(names(placeholders(backward)))
    return [node for node in forward.graph.nodes if node.op == "call_function" and node.name in gets]


@right
def counts_elements_times_their_size(forward, backward):
    saved = wanted(forward, backward)
    values = [node.meta["val"] for node in saved]
    return names(saved), sum(value.numel() * value.element_size() for value in values)


@right
def goes_by_the_backward_graph(forward, backward):
    """Looks up each placeholder, then sorts."""
    known = {node.name: node for node in forward.graph.nodes}
    met = [known[name] for name in names(placeholders(backward)) if name in known]
    saved = sorted(node for node in met if node.op != "placeholder")
    return names(saved), size(saved)


@right
def adds_up_while_it_walks(forward, backward):
    found, total = [], 0
    for node in forward.graph.nodes:
        if node.op.startswith("call") and any(node.name == other.name for other in placeholders(backward)):
            found.append(node.name)
            total += node.meta["val"].nbytes
    return tuple(found), total


@right
class Walks:
    def __call__(self, forward, backward):
        self.gets = dict.fromkeys(names(placeholders(backward)))
        saved = list(filter(self.is_saved, forward.graph.nodes))
        return list(map(str, saved)), float(size(saved))

    def is_saved(self, node):
        return node.op not in ("placeholder", "output") and node.name in self.gets


@breaks("that the forward graph computes", case=GPT2)
@wrong("names_what_is_saved", says="`tangents_1` is in the list, but no node of the forward graph has this name.")
def takes_all_that_the_backward_graph_gets(forward, backward):
    inputs = set(names(placeholders(forward)))
    saved = [node for node in placeholders(backward) if node.name not in inputs]
    return names(saved), size(saved)


@breaks("Inputs of the forward graph do not count.", case=GPT2)
@wrong("names_what_is_saved", says="is in the list, but it is an input of the forward graph")
def counts_inputs_too(forward, backward):
    gets = set(names(placeholders(backward)))
    saved = [node for node in forward.graph.nodes if node.name in gets]
    return names(saved), size(saved)


@breaks("in the order of the forward graph", case=GPT2)
@wrong("names_what_is_saved", says="each of them once, in the order of the forward graph")
def keeps_the_order_of_the_backward_graph(forward, backward):
    computed = names(wanted(forward, backward))
    return [name for name in names(placeholders(backward)) if name in computed], size(wanted(forward, backward))


@breaks("Return a pair:", case=GPT2)
@wrong("names_what_is_saved", says="The answer is not a pair")
def returns_the_names_alone(forward, backward):
    return names(wanted(forward, backward))


@wrong("counts_the_bytes", says="The names are right, but the number of bytes is not: ")
def counts_elements(forward, backward):
    saved = wanted(forward, backward)
    return names(saved), sum(node.meta["val"].numel() for node in saved)


@breaks("the sum of the bytes of their values.", case=DTYPES)
@wrong("counts_the_bytes", says=f"({DTYPES}): the names are right, but the number of bytes is not: ")
def takes_four_bytes_for_each(forward, backward):
    saved = wanted(forward, backward)
    return names(saved), sum(4 * node.meta["val"].numel() for node in saved)


@wrong("input_unchanged", says="The model that was given has been changed")
def erases_what_is_not_saved(forward, backward):
    saved = wanted(forward, backward)
    output = forward.graph.output_node()
    output.args = (tuple(saved),)
    return names(saved), size(saved)


@wrong("ends well", says="KeyError: 'example_value'", read="when_it_breaks/11_compile_backend#keyerror-example_value")
def asks_for_the_values_of_dynamo(forward, backward):
    """A graph of ATen operators has the values under a different key."""
    saved = wanted(forward, backward)
    return names(saved), sum(node.meta["example_value"].nbytes for node in saved)


@breaks("the names of the nodes", case=GPT2)
@wrong("names_what_is_saved", says="The list holds the node `mul`: the task asks for names, as strings")
def returns_nodes(forward, backward):
    saved = wanted(forward, backward)
    return saved, size(saved)


@breaks("and the backward graph gets as inputs", case=DTYPES)
@wrong("names_what_is_saved", says="(three dtypes, and a view): `getitem_1` is missing from the list")
def takes_what_has_a_gradient(forward, backward):
    """Indices are saved too, and they are integers."""
    saved = [node for node in wanted(forward, backward) if node.meta["val"].is_floating_point()]
    return names(saved), size(saved)
