"""Answers to 13-name-the-weights: attributes of a retraced graph, by the tensors that they hold."""

import torch

from fxbook.tasks.answering import breaks, right, wrong

LLAMA, MANY = "a block of Llama", "weights of many kinds"


def fetched(lowered):
    return {node.target: getattr(lowered, node.target) for node in lowered.graph.find_nodes(op="get_attr")}


def held(module):
    return [*module.named_parameters(), *module.named_buffers()]


@right
def compares_by_is(traced, lowered):
    return {
        target: next(name for name, one in held(traced) if one is tensor) for target, tensor in fetched(lowered).items()
    }


@right
def walks_all_nodes(traced, lowered):
    found = {}
    for node in lowered.graph.nodes:
        if node.op == "get_attr":
            for name, one in held(traced):
                if one is getattr(lowered, node.target):
                    found[node.target] = name
    return found


@right
def walks_through_the_modules(traced, lowered):
    names = {}
    for path, module in traced.named_modules():
        for name, one in (module._parameters | module._buffers).items():
            names[id(one)] = f"{path}.{name}".lstrip(".")
    return {target: names[id(tensor)] for target, tensor in fetched(lowered).items()}


@right
def takes_the_attributes_of_the_new_module(traced, lowered):
    names = {id(one): name for name, one in held(traced)}
    return {name: names[id(one)] for name, one in fetched(lowered).items() if one is not None}


@wrong("named_rightly", says="is not the tensor `layers.")
def compares_the_numbers(traced, lowered):
    return {
        target: next(n for n, one in held(traced) if one.shape == tensor.shape and torch.equal(one, tensor))
        for target, tensor in fetched(lowered).items()
    }


@breaks("Each of these tensors is a parameter or a buffer of `traced`,", case=MANY)
@wrong("ends well", says="(weights of many kinds): your code raises KeyError")
def forgets_the_buffers_of_modules_inside(traced, lowered):
    own = [*traced.named_parameters(), *traced.named_buffers(recurse=False)]
    names = {id(one): name for name, one in own}
    return {target: names[id(tensor)] for target, tensor in fetched(lowered).items()}


@breaks("maps each attribute", case=LLAMA)
@wrong("named_rightly", says="the keys must be the attributes of `lowered`")
def maps_the_other_way(traced, lowered):
    return {name: target for target, name in compares_by_is(traced, lowered).items()}


@breaks("to the name of the same tensor in `traced`", case=LLAMA)
@wrong("named_rightly", says="is not the name of a tensor that `lowered` fetches")
def keeps_the_new_names(traced, lowered):
    return {target: target for target in fetched(lowered)}


@breaks("Return a dict", case=LLAMA)
@wrong("named_rightly", says="The answer is not a dict with attribute names as keys")
def returns_a_list(traced, lowered):
    return [(target, name) for target, name in compares_by_is(traced, lowered).items()]


@breaks("Return {attribute of lowered: name in traced}.", case=LLAMA)
@wrong("named_rightly", says="is a tensor, not a name")
def returns_the_tensors(traced, lowered):
    return fetched(lowered)


@breaks("Change neither module.", case=LLAMA)
@wrong("input_unchanged", says="has been changed")
def renames_in_place(traced, lowered):
    found = compares_by_is(traced, lowered)
    for target, name in found.items():
        setattr(traced, target.replace("constant", "renamed"), dict(held(traced))[name])
    return found


@breaks("Change neither module.", case=LLAMA)
@wrong("input_unchanged", says="has a new attribute `path`")
def writes_the_names_on_the_tensors(traced, lowered):
    for name, one in held(traced):
        one.path = name
    return {target: tensor.path for target, tensor in fetched(lowered).items()}


@breaks("Change neither module.", case=LLAMA)
@wrong("lowered_unchanged", says="`lowered` has been changed")
def renames_in_the_new_module(traced, lowered):
    found = compares_by_is(traced, lowered)
    for node in lowered.graph.find_nodes(op="get_attr"):
        name = found[node.target].replace(".", "_")
        setattr(lowered, name, getattr(lowered, node.target))
        node.target = name
    lowered.recompile()
    return found


@breaks("each attribute that the graph of `lowered` fetches", case=MANY)
@wrong("named_rightly", says="`_param_constant2_1` is in the answer, but the graph of `lowered` does not fetch it.")
def keys_are_the_names_of_nodes(traced, lowered):
    found = compares_by_is(traced, lowered)
    return {node.name: found[node.target] for node in lowered.graph.find_nodes(op="get_attr")}


@breaks("that the graph of `lowered` fetches", case=MANY)
@wrong("named_rightly", says="is in the answer, but the graph of `lowered` does not fetch it")
def goes_by_what_the_new_module_holds(traced, lowered):
    names = {id(one): name for name, one in held(traced)}
    return {target: names[id(tensor)] for target, tensor in held(lowered)}


@wrong("ends well", says=f"({MANY}): your code raises KeyError")
def looks_in_the_state_dict(traced, lowered):
    names = {id(one): name for name, one in traced.state_dict(keep_vars=True).items()}
    return {target: names[id(tensor)] for target, tensor in fetched(lowered).items()}
