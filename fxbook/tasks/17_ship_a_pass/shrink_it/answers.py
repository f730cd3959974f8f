"""Answers to 17-shrink-it: remove calls while the pass still raises an error."""

import copy

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

LEFT = "17_ship_a_pass#what-a-pass-must-keep-is-a-list-of-functions"


def is_call(node):
    return node.op.startswith("call")


def erase_unused(graph):
    for node in reversed(graph.nodes):
        if not node.users and node.op not in ("placeholder", "output"):
            graph.erase_node(node)


def without(module, name, place):
    draft = copy.deepcopy(module)
    node = next((node for node in draft.graph.nodes if node.name == name), None)
    if node is None or place >= len(node.all_input_nodes):
        return None
    node.replace_all_uses_with(node.all_input_nodes[place])
    erase_unused(draft.graph)
    draft.recompile()
    return draft


def drafts(module, backwards=True, inputs=lambda node: node.all_input_nodes):
    """For each call and each of its inputs, a copy of the module in which the input replaces the call."""
    nodes = list(module.graph.nodes)
    for node in reversed(nodes) if backwards else nodes:
        for value in inputs(node) if is_call(node) else ():
            yield without(module, node.name, node.all_input_nodes.index(value))


def shrunk(module, fails, erase=True, **parts):
    """Removes one call at a time, and starts again after each removal; the parameters are for wrong answers."""
    kept = copy.deepcopy(module)
    if erase:
        erase_unused(kept.graph)
        kept.recompile()
    while smaller := next((draft for draft in drafts(kept, **parts) if fails(copy.deepcopy(draft))), None):
        kept = smaller
    return kept


@right
def undoes_steps_in_one_graph(module, fails):
    kept = copy.deepcopy(module)
    erase_unused(kept.graph)
    again = True
    while again:
        again = False
        for node in reversed(list(kept.graph.nodes)):
            if not is_call(node) or not node.users:
                continue
            for value in node.all_input_nodes:
                former = {user: (user.args, user.kwargs) for user in node.users}
                node.replace_all_uses_with(value)
                draft = copy.deepcopy(kept)
                erase_unused(draft.graph)
                if fails(draft):
                    again = True
                    break
                for user, (args, kwargs) in former.items():
                    user.args, user.kwargs = args, kwargs
        erase_unused(kept.graph)
    kept.recompile()
    return kept


@right
def tries_pairs_of_neighbours(module, fails):
    """For each call that uses another call, tries a graph of these two calls alone."""
    for node in module.graph.nodes:
        for value in node.all_input_nodes:
            if not (is_call(node) and is_call(value)):
                continue
            draft = copy.deepcopy(module)
            ours = {one.name: one for one in draft.graph.nodes}
            second, first = ours[node.name], ours[value.name]
            for user, one in [(call, one) for call in (first, second) for one in call.all_input_nodes]:
                stays = one
                while is_call(stays) and stays is not first:
                    stays = stays.all_input_nodes[0]
                user.replace_input_with(one, stays)
            draft.graph.output_node().args = (second,)
            erase_unused(draft.graph)
            draft.recompile()
            if fails(copy.deepcopy(draft)):
                return draft
    return module


class Skips(fx.Transformer):
    """Leaves out one call. The nodes of the new graph may have other names."""

    def __init__(self, module, name, place):
        super().__init__(module)
        self.name, self.place = name, place

    def run_node(self, n):
        return self.env[n.all_input_nodes[self.place]] if n.name == self.name else super().run_node(n)


@right
def transforms_the_module(module, fails):
    kept = fx.Transformer(module).transform()
    erase_unused(kept.graph)
    for node in reversed(kept.graph.nodes):
        for place in range(len(node.all_input_nodes) if is_call(node) else 0):
            draft = Skips(kept, node.name, place).transform()
            erase_unused(draft.graph)
            draft.recompile()
            if fails(copy.deepcopy(draft)):
                return transforms_the_module(draft, fails)
    kept.recompile()
    return kept


@right
def copies_what_is_kept(module, fails):
    def built(names, source):
        graph, table = fx.Graph(), {}
        for node in source.graph.nodes:
            if is_call(node) and node.name not in names:
                table[node] = table[node.all_input_nodes[0]]
            else:
                table[node] = graph.node_copy(node, table.__getitem__)
        result = fx.GraphModule(source, graph)
        erase_unused(result.graph)
        result.recompile()
        return result

    whole = copy.deepcopy(module)
    erase_unused(whole.graph)
    names = [node.name for node in whole.graph.nodes if is_call(node)]
    for name in [*names]:
        fewer = [other for other in names if other != name]
        if fails(built(fewer, whole)):
            names = fewer
    return shrunk(built(names, whole), fails)


@breaks("Go on", case="a call that can be removed once others are gone")
@wrong("nothing_left_to_remove", says="can still be removed")
def sweeps_once_from_the_front(module, fails):
    kept = copy.deepcopy(module)
    erase_unused(kept.graph)
    for node in list(kept.graph.nodes):
        for place in range(len(node.all_input_nodes)):
            draft = without(kept, node.name, place) if is_call(node) else None
            if draft is not None and fails(copy.deepcopy(draft)):
                kept = draft
                break
    return kept


@breaks("Go on until no single call can be removed.", case="the activation of GPT-2")
@wrong("nothing_left_to_remove", says="can still be removed")
def removes_one_call(module, fails):
    return next((draft for draft in drafts(module) if fails(copy.deepcopy(draft))), copy.deepcopy(module))


@breaks("Recompile the result.", case="the activation of GPT-2")
@wrong("compiled_anew", says="The compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_compile(module, fails):
    kept = shrunk(module, fails)
    dead = kept.graph.call_function(torch.neg, (next(iter(kept.graph.nodes)),))
    kept.recompile()
    kept.graph.erase_node(dead)
    return kept


@breaks("the users of a removed call use one of its input nodes instead.", case="inputs in a list and by keyword")
@wrong("nothing_left_to_remove", says="(inputs in a list and by keyword): node `cat` can still be removed")
def overlooks_keywords_and_lists(module, fails):
    return shrunk(module, fails, inputs=lambda node: [value for value in node.args if isinstance(value, fx.Node)])


@breaks("Leave no calls without users.", case="two calls, and a call that nothing uses")
@wrong("each_call_is_used", says="(two calls, and a call that nothing uses): node `arange` has no users, but is still")
def keeps_a_call_that_was_unused_before(module, fails):
    return shrunk(module, fails, erase=False, backwards=False)


@breaks("Leave the given module unchanged.", case="two calls, and a call that nothing uses")
@wrong("given_left_alone", says="(two calls, and a call that nothing uses): a graph that was passed", read=LEFT)
def erases_in_the_given_module(module, fails):
    erase_unused(module.graph)
    return shrunk(module, fails)


@wrong("ends well", says="`fails` was called with an object of class NoneType")
def passes_none_to_fails(module, fails):
    kept = shrunk(module, fails)
    fails(without(kept, "gone", 0))
    return kept


@breaks("for which `fails` is still true.", case="the activation of GPT-2")
@wrong("still_fails", says="`fails` is false for the module that was returned")
def goes_one_step_too_far(module, fails):
    kept = shrunk(module, fails)
    return next(drafts(kept))


@breaks("Return a small `GraphModule`", case="the activation of GPT-2")
@wrong("returns_a_module", says="an object of class Graph")
def returns_the_graph(module, fails):
    return shrunk(module, fails).graph


@breaks("the users of a removed call use one of its input nodes instead.", case="inputs in a list and by keyword")
@wrong("users_use_inputs", says="in the answer: users of a removed call should use one of its inputs")
def uses_the_node_before(module, fails):
    """Replaces a call with the node before it in the list, whether the call uses that node or not."""
    kept, again = copy.deepcopy(module), True
    erase_unused(kept.graph)
    while again:
        again = False
        for name in [node.name for node in reversed(kept.graph.nodes) if is_call(node)]:
            draft = copy.deepcopy(kept)
            for node in draft.graph.nodes:
                if node.name == name:
                    node.replace_all_uses_with(node.prev)
            erase_unused(draft.graph)
            draft.recompile()
            if len(draft.graph.nodes) < len(kept.graph.nodes) and fails(copy.deepcopy(draft)):
                kept, again = draft, True
    return kept


@wrong("only_removes", says="is missing from the answer: remove only calls")
def erases_unused_inputs(module, fails):
    kept = shrunk(module, fails)
    for node in kept.graph.find_nodes(op="placeholder"):
        if not node.users:
            kept.graph.erase_node(node)
    kept.recompile()
    return kept


@breaks(
    "Make it from the given module by removing calls:",
    "the users of a removed call use one of its input nodes instead.",
    case="the activation of GPT-2",
)
@wrong("only_removes", says="is new: only remove calls")
def adds_a_call(module, fails):
    kept = shrunk(module, fails)
    last = kept.graph.output_node()
    with kept.graph.inserting_before(last):
        last.args = (kept.graph.call_function(torch.relu, (last.all_input_nodes[0],)),)
    kept.recompile()
    return kept
