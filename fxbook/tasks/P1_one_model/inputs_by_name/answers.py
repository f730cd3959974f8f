"""Answers to P1-inputs-by-name: the list that a boxed run takes, made from a dict."""

import inspect
import itertools

from fxbook.tasks.answering import breaks, right, wrong

BOX = "08_boxed_run#a-box-that-is-emptied"
FAULTS = "07_placeholder#runtimeerror-expected-positional-argument-for-parameter-mask-but-one-was-not-passed-in"


def inputs_of(traced):
    return traced.graph.find_nodes(op="placeholder")


def faults(traced, values):
    names = [node.target for node in inputs_of(traced)]
    missing = [node.target for node in inputs_of(traced) if node.target not in values and not node.args]
    return missing, [name for name in values if name not in names]


def reject(traced, values, kind=TypeError):
    missing, unknown = faults(traced, values)
    if missing or unknown:
        raise kind(f"missing: {', '.join(missing) or 'none'}; unknown: {', '.join(unknown) or 'none'}")


def pop_all(traced, values):
    return [values.pop(n.target) if n.target in values else n.args[0] for n in inputs_of(traced)]


@right
def begins_with_the_defaults(traced, values):
    defaults = {node.target: node.args[0] for node in inputs_of(traced) if node.args}
    given = {**defaults, **values}
    names = [node.target for node in inputs_of(traced)]
    wrong_names = set(names) ^ set(given)
    if wrong_names:
        raise TypeError("at fault: " + " ".join(sorted(wrong_names)))
    values.clear()
    return [given[name] for name in names]


@right
def walks_over_all_nodes(traced, values):
    missing, found = [], []
    known = set()
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            known.add(node.target)
            if node.target in values:
                found.append(values[node.target])
            elif len(node.args):
                found.append(node.args[0])
            else:
                missing.append(f"missing {node.target}")
    missing += [f"unknown {name}" for name in sorted(set(values) - known)]
    if missing:
        raise TypeError("\n".join(missing))
    for name in list(values):
        del values[name]
    return found


@right
def reads_defaults_from_the_signature(traced, values):
    parameters = inspect.signature(traced.forward).parameters
    names = {node.target: node.name for node in inputs_of(traced)}
    reject(traced, values)
    items = []
    for target, name in names.items():
        default = parameters[name if name in parameters else target].default
        items.append(values.pop(target) if target in values else default)
    return items


@right
def restores_the_dict_after_an_error(traced, values):
    kept = dict(values)
    try:
        items = [values.pop(n.target, *n.args) for n in inputs_of(traced)]
        if values:
            raise KeyError
    except KeyError:
        values.clear()
        values.update(kept)
        reject(traced, values)
    return items


@breaks("in graph order.", case="all inputs, in any order")
@wrong("list_in_order", says="of the list is the value of")
def keeps_the_order_of_the_dict(traced, values):
    reject(traced, values)
    defaults = [node.args[0] for node in inputs_of(traced) if node.target not in values]
    items = [*values.values(), *defaults]
    values.clear()
    return items


@breaks("with one item for each input of the graph,", case="an unused input, an input after a call")
@wrong("list_in_order", says="he list has 5 items, not one for each of the 6 inputs")
def stops_at_the_first_call(traced, values):
    reject(traced, values)
    inputs = itertools.takewhile(lambda node: node.op == "placeholder", traced.graph.nodes)
    return [values.pop(n.target) if n.target in values else n.args[0] for n in inputs]


@breaks("The function returns a list", case="all inputs, in any order")
@wrong("list_in_order", says="Your function returns an object of class tuple, not a list")
def returns_a_tuple(traced, values):
    reject(traced, values)
    return tuple(pop_all(traced, values))


@breaks(
    "The name of an input is the target of its placeholder;",
    "the name of the node may differ.",
    case="names of built-in functions",
)
@wrong("list_in_order", says="othing is wrong with the inputs, but your function raises TypeError with")
def uses_node_names(traced, values):
    inputs = inputs_of(traced)
    unknown = [name for name in values if name not in [node.name for node in inputs]]
    missing = [node.name for node in inputs if node.name not in values and not node.args]
    if unknown or missing:
        raise TypeError(f"missing: {missing}; unknown: {unknown}")
    return [values.pop(n.name) if n.name in values else n.args[0] for n in inputs]


@breaks("An input that is left out gets its default.", case="values that are `None` or 0")
@wrong("list_in_order", says="of the list is a number, not that of `sum`")
def treats_none_as_left_out(traced, values):
    reject(traced, values)
    found = {node.target: values.pop(node.target, None) for node in inputs_of(traced)}
    return [n.args[0] if n.args and found[n.target] is None else found[n.target] for n in inputs_of(traced)]


@breaks("Afterwards `values` is empty, so only the list holds the tensors.", case="all inputs, in any order")
@wrong("dict_is_emptied", says="The dict still holds", read=BOX)
def leaves_the_dict_full(traced, values):
    reject(traced, values)
    return [values.get(n.target, n.args[0] if n.args else None) for n in inputs_of(traced)]


@breaks("In that case, `values` keeps all its items.", case="no `mean`")
@wrong("dict_is_emptied", says="An error is raised, but the dict has changed", read=BOX)
def pops_before_it_raises(traced, values):
    given = dict(values)
    values.clear()
    reject(traced, given)
    return pop_all(traced, given)


@breaks("or names are unknown,", case="`sdt` in place of `std`")
@wrong(
    "errors_name_the_faults", says="No error is raised, although these names are missing or unknown: `sdt`", read=FAULTS
)
def ignores_unknown_names(traced, values):
    missing, _ = faults(traced, values)
    if missing:
        raise TypeError(", ".join(missing))
    items = pop_all(traced, values)
    values.clear()
    return items


@breaks("If inputs without a default are missing,", case="no `mean`")
@wrong(
    "errors_name_the_faults",
    says="No error is raised, although these names are missing or unknown: `mean`",
    read=FAULTS,
)
def uses_none_for_missing_inputs(traced, values):
    _, unknown = faults(traced, values)
    if unknown:
        raise TypeError(", ".join(unknown))
    return [values.pop(n.target, n.args[0] if n.args else None) for n in inputs_of(traced)]


@breaks("it raises a `TypeError`.", case="no `mean`")
@wrong("errors_name_the_faults", says="Your function raises ValueError", read=FAULTS)
def raises_a_value_error(traced, values):
    reject(traced, values, ValueError)
    return pop_all(traced, values)


@breaks("The message names each of these,", case="the last two inputs missing")
@wrong("errors_name_the_faults", says="`mask` is missing, but the message does not name it: len", read=FAULTS)
def names_only_the_first_missing_input(traced, values):
    missing, unknown = faults(traced, values)
    if unknown:
        reject(traced, values)
    for name in missing:
        raise TypeError(f"{name} has no value")
    return pop_all(traced, values)


@breaks("and no other input of the graph.", case="no `mean`")
@wrong("errors_name_the_faults", says="which is neither missing nor unknown", read=FAULTS)
def lists_every_input(traced, values):
    missing, unknown = faults(traced, values)
    if missing or unknown:
        raise TypeError(f"got {list(values)}, needs {[node.target for node in inputs_of(traced)]}")
    return pop_all(traced, values)
