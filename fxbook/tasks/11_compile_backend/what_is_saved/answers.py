"""Answers to 11-what-is-saved: the values that the forward graph saves for the backward graph, and their bytes."""

from fxbook.tasks.answering import breaks, right, wrong

GPT2, DTYPES = "the activation of GPT-2", "three dtypes, and a view"


def placeholders(module):
    return module.graph.find_nodes(op="placeholder")


def size(nodes):
    return sum(node.meta["val"].nbytes for node in nodes)


def names(nodes):
    return [node.name for node in nodes]


def saved_nodes(forward, backward):
    gets = set(names(placeholders(backward)))
    return [node for node in forward.graph.nodes if node.op == "call_function" and node.name in gets]


@right
def multiplies_elements_by_their_size(forward, backward):
    saved = saved_nodes(forward, backward)
    values = [node.meta["val"] for node in saved]
    return names(saved), sum(value.numel() * value.element_size() for value in values)


@right
def begins_with_the_backward_graph(forward, backward):
    """Looks up the inputs of the backward graph, then sorts them."""
    known = {node.name: node for node in forward.graph.nodes}
    met = [known[name] for name in names(placeholders(backward)) if name in known]
    saved = sorted(node for node in met if node.op != "placeholder")
    return names(saved), size(saved)


@right
def adds_up_in_a_loop(forward, backward):
    found, total = [], 0
    for node in forward.graph.nodes:
        if node.op.startswith("call") and any(node.name == other.name for other in placeholders(backward)):
            found.append(node.name)
            total += node.meta["val"].nbytes
    return tuple(found), total


@right
def filters_the_nodes(forward, backward):
    gets = dict.fromkeys(names(placeholders(backward)))
    saved = list(
        filter(lambda node: node.op not in ("placeholder", "output") and node.name in gets, forward.graph.nodes)
    )
    return list(map(str, saved)), float(size(saved))


@breaks("that the forward graph computes", case=GPT2)
@wrong("names_what_is_saved", says="`tangents_1` is in the list, but no node of the forward graph has this name.")
def lists_all_inputs_of_the_backward_graph(forward, backward):
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
@wrong("names_what_is_saved", says="each name once, in the order of the forward graph")
def keeps_the_order_of_the_backward_graph(forward, backward):
    computed = names(saved_nodes(forward, backward))
    return [name for name in names(placeholders(backward)) if name in computed], size(saved_nodes(forward, backward))


@breaks("Return a pair:", case=GPT2)
@wrong("names_what_is_saved", says="The answer is not a pair")
def returns_the_names_alone(forward, backward):
    return names(saved_nodes(forward, backward))


@breaks("the total size of their values in bytes.", case=DTYPES)
@wrong("counts_the_bytes", says=f"({DTYPES}): the names are right, but the number of bytes is not: ")
def counts_four_bytes_for_each_element(forward, backward):
    saved = saved_nodes(forward, backward)
    return names(saved), sum(4 * node.meta["val"].numel() for node in saved)


@wrong("input_unchanged", says="The model that was given has been changed")
def makes_the_graph_return_what_is_saved(forward, backward):
    saved = saved_nodes(forward, backward)
    output = forward.graph.output_node()
    output.args = (tuple(saved),)
    return names(saved), size(saved)


@wrong("ends well", says="KeyError: 'example_value'", read="when_it_breaks/11_compile_backend#keyerror-example_value")
def looks_for_example_value(forward, backward):
    """Graphs of ATen operators have the values under another key."""
    saved = saved_nodes(forward, backward)
    return names(saved), sum(node.meta["example_value"].nbytes for node in saved)


@breaks("the names of the nodes", case=GPT2)
@wrong("names_what_is_saved", says="The list contains the node `mul`: it should contain names, as strings")
def returns_nodes(forward, backward):
    saved = saved_nodes(forward, backward)
    return saved, size(saved)


@breaks("and the backward graph gets as inputs", case=DTYPES)
@wrong("names_what_is_saved", says="(three dtypes, and a view): `getitem_1` is missing from the list")
def lists_only_floating_point_values(forward, backward):
    """Leaves out indices, which are saved, too."""
    saved = [node for node in saved_nodes(forward, backward) if node.meta["val"].is_floating_point()]
    return names(saved), size(saved)
