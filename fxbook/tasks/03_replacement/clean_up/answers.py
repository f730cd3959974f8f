"""Answers to 03-clean-up."""

import copy
import operator

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

LEFT_OVER = "03_replacement#a-function-by-a-module-a-module-by-a-function"
PURE = (operator.and_, operator.or_)


def named_in_place(node):
    name = getattr(node.target, "__name__", str(node.target))
    return node.target not in PURE and name.endswith("_") and not name.endswith("__")


def by_keyword(node):
    return "out" in node.kwargs or bool(node.kwargs.get("inplace"))


def module_has_effect(traced, node):
    module = traced.get_submodule(node.target)
    return getattr(module, "inplace", False) or getattr(module, "running_mean", None) is not None


def has_effect(traced, node):
    if node.op == "call_module":
        return module_has_effect(traced, node)
    return node.is_impure() or (node.op.startswith("call") and (named_in_place(node) or by_keyword(node)))


def finish(traced, rule):
    traced.graph.eliminate_dead_code(is_impure_node=rule)
    traced.delete_all_unused_submodules()
    traced.recompile()


@right
def erases_by_hand_from_the_end(traced):
    for node in reversed(traced.graph.nodes):
        if not node.users and not has_effect(traced, node):
            traced.graph.erase_node(node)
    called = sorted({node.target for node in traced.graph.nodes if node.op == "call_module"})
    for path, _ in list(traced.named_modules()):
        if path and path not in called and not any(target.startswith(f"{path}.") for target in called):
            traced.delete_submodule(path)
    traced.graph.lint()
    traced.recompile()


@right
def marks_what_is_needed_and_erases_the_rest(traced):
    waiting = [node for node in traced.graph.nodes if has_effect(traced, node)]
    needed = set()
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += node.all_input_nodes
    for node in reversed(list(traced.graph.nodes)):
        if node not in needed:
            traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced


@right
def copies_what_is_needed_into_a_new_graph(traced):
    needed, new, values = set(), fx.Graph(), {}
    for node in reversed(traced.graph.nodes):
        if node in needed or has_effect(traced, node):
            needed.update((node, *node.all_input_nodes))
    for node in traced.graph.nodes:
        if node in needed:
            values[node] = new.node_copy(node, values.__getitem__)
    traced.graph = new
    traced.delete_all_unused_submodules()


class _Needed(fx.Transformer):
    """Runs only the nodes that are needed."""

    def __init__(self, module):
        super().__init__(module)
        self.needed = set()
        for node in reversed(module.graph.nodes):
            if has_effect(module, node) or not self.needed.isdisjoint(node.users):
                self.needed.add(node)

    def run_node(self, n):
        return super().run_node(n) if n in self.needed else None


@right
def transforms_only_what_is_needed(traced):
    traced.graph = _Needed(traced).transform().graph
    traced.delete_all_unused_submodules()


NOT_THERE = "when_it_breaks/01_node_creation#references-nonexistent-attribute"
EFFECT = "03_replacement#what-removing-dead-code-deletes"


@breaks("each node for which `node.is_impure()` is true;", case="dead branches, and calls that write in place")
@wrong("output_last", says="The graph has no `output` node")
def forgets_the_default_rule(traced):
    finish(traced, lambda node: node.op == "call_module" or named_in_place(node) or by_keyword(node))


@breaks("its `running_mean` exists and is not `None`.", case="effects through keywords and in modules")
@wrong("nothing_dead", node="stateless_norm", says="is left: no node uses its result")
def tests_only_that_the_attribute_exists(traced):
    def rule(node):
        if node.op != "call_module":
            return has_effect(traced, node)
        module = traced.get_submodule(node.target)
        return getattr(module, "inplace", False) or hasattr(module, "running_mean")

    finish(traced, rule)


@breaks("except `operator.and_` and `operator.or_`, which are pure;", case="effects through keywords and in modules")
@wrong("nothing_dead", node="or_", says="is left: no node uses its result")
def keeps_every_name_with_an_underscore(traced):
    def rule(node):
        name = getattr(node.target, "__name__", str(node.target))
        named = node.op.startswith("call_") and name.endswith("_") and not name.endswith("__")
        return has_effect(traced, node) or named

    finish(traced, rule)


@breaks("each call to a module that has `inplace` set", case="effects through keywords and in modules")
@wrong("effects_kept", says="`rectify` is missing: it writes in place", read=EFFECT)
def forgets_in_place_modules(traced):
    def rule(node):
        if node.op == "call_module":
            return getattr(traced.get_submodule(node.target), "running_mean", None) is not None
        return has_effect(traced, node)

    finish(traced, rule)


@breaks("Keep the inputs", case="effects through keywords and in modules")
@wrong("inputs_kept", says="nput `unused` is missing: callers can no longer pass it")
def erases_unused_inputs_too(traced):
    for node in reversed(traced.graph.nodes):
        unread = not node.users and node.op != "output"
        if unread and (node.op == "placeholder" or not has_effect(traced, node)):
            traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()


@breaks(
    "erase every node",
    "and delete every submodule that is no longer called.",
    case="dead branches, and calls that write in place",
)
@wrong("no_leftovers", says="still holds the submodule `auxiliary`", read=LEFT_OVER)
def forgets_the_submodules(traced):
    traced.graph.eliminate_dead_code(is_impure_node=lambda node: has_effect(traced, node))
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    traced.graph.eliminate_dead_code(is_impure_node=lambda node: has_effect(traced, node))
    traced.delete_all_unused_submodules()


@breaks("Edit the model in place.", case="dead branches, and calls that write in place")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    erases_by_hand_from_the_end(traced)
    return traced


@wrong("edited", says="it was traced or built again")
def edits_a_new_trace(traced):
    return marks_what_is_needed_and_erases_the_rest(fx.symbolic_trace(traced))


@wrong("same_result", node="output", says="The result is not the one asked for: it is a sequence, not a tensor")
def returns_the_effects_too(traced):
    output = traced.graph.output_node()
    effects = [node for node in traced.graph.nodes if node is not output and has_effect(traced, node)]
    output.args = ((*output.args, *effects),)
    traced.graph.eliminate_dead_code()
    traced.delete_all_unused_submodules()
    traced.recompile()


@breaks("each call with the keyword `out`, even `out=None`", case="effects through keywords and in modules")
@wrong("effects_kept", says="`mul_2` is missing: it has the keyword `out`", read=EFFECT)
def ignores_out_if_it_is_none(traced):
    def rule(node):
        if node.op == "call_module" or "out" not in node.kwargs:
            return has_effect(traced, node)
        return node.kwargs["out"] is not None

    finish(traced, rule)


@breaks("that is no longer called.", case="effects through keywords and in modules")
@wrong("lints", node="twice_0", says="nonexistent attribute 0 of twice", read=NOT_THERE)
def deletes_the_module_of_every_erased_node(traced):
    """Another node may call the module."""
    called = {node: node.target for node in traced.graph.nodes if node.op == "call_module"}
    traced.graph.eliminate_dead_code(is_impure_node=lambda node: has_effect(traced, node))
    for path in {target for node, target in called.items() if node not in set(traced.graph.nodes)}:
        traced.delete_submodule(path)
    traced.recompile()
