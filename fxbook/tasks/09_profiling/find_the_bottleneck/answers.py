"""Answers to 09-find-the-bottleneck: a selection that comes before the head."""

import copy
import operator

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

WORK = "09_profiling#work-can-be-counted"
REPAIR = "09_profiling#find-it-change-it-measure-again"
KNOWN, OTHER = "the GPT of the exercise", "a GPT with another size and other names"
MIXING = "a GPT that mixes positions"
NORM, EVERY = "a GPT with a norm over positions", "a GPT whose scores are all used"


def traced_with_selection(model):
    traced = fx.symbolic_trace(model)
    [select] = [node for node in traced.graph.nodes if node.args[1:] == ((slice(None), -1),)]
    return traced, select


def is_step(traced, node):
    if node.op == "call_module":
        return isinstance(traced.get_submodule(node.target), (nn.Linear, nn.LayerNorm))
    return node.target is torch.tanh


def may_pass(traced, node):
    return is_step(traced, node) and len(node.users) == 1


def first_step(traced, select):
    """The first of the steps that the selection can be moved above, or the selection itself if there is none."""
    first = select
    while may_pass(traced, first.args[0]):
        first = first.args[0]
    return first


def climbs(traced, select, may_pass=may_pass, move=True):
    """Swaps the selection with the step before it, again and again, as the solution does."""
    while may_pass(traced, step := select.args[0]):
        select.replace_input_with(step, step.args[0])
        select.replace_all_uses_with(step)
        step.replace_input_with(step.args[0], select)
        if move:
            select.append(step)
    traced.recompile()
    return traced


@right
def climbs_by_class_name(model):
    def passes(traced, node):
        held = traced.get_submodule(node.target) if node.op == "call_module" else node.target
        known = type(held).__name__ in ("Linear", "LayerNorm") or held is torch.tanh
        return known and list(node.users) == [node.next]

    return climbs(*traced_with_selection(model), passes)


@right
def inserts_a_new_selection(model, position=-1, erase=True, recompile=True):
    """Inserts a new selection, a method call, before the first of these steps, and erases the old one."""
    traced, select = traced_with_selection(model)
    first = first_step(traced, select)
    if first is not select:
        with traced.graph.inserting_before(first):
            last = traced.graph.call_method("select", (first.args[0], 1, position))
        first.replace_input_with(first.args[0], last)
        select.replace_all_uses_with(select.args[0])
        if erase:
            traced.graph.erase_node(select)
    if recompile:
        traced.recompile()
    return traced


@right
def copies_into_a_new_graph(model):
    traced, select = traced_with_selection(model)
    first = first_step(traced, select)
    if first is select:
        return traced
    graph, env, last = fx.Graph(), {}, None
    for node in traced.graph.nodes:
        if node is first:
            last = graph.call_function(torch.select, (env[node.args[0]], 1, -1))
        if node is select:
            env[node] = env[select.args[0]]
        else:
            inputs = {**env, node.args[0]: last} if node is first else env
            env[node] = graph.node_copy(node, inputs.__getitem__)
    return fx.GraphModule(traced, graph)


@right
def rebuilds_with_a_transformer(model):
    traced, select = traced_with_selection(model)
    first = first_step(traced, select)
    if first is select:
        return traced

    class Earlier(fx.Transformer):
        def run_node(self, node):
            if node is first:
                self.env[first.args[0]], kept = self.env[first.args[0]][:, -1], self.env[first.args[0]]
                value = super().run_node(node)
                self.env[first.args[0]] = kept
                return value
            return self.env[select.args[0]] if node is select else super().run_node(node)

    return Earlier(traced).transform()


@breaks("The result stays the same", case=KNOWN)
@wrong("same_scores", node="output", says="different numbers")
def selects_the_first_position(model):
    return inserts_a_new_selection(model, position=0)


@wrong("recompiled", says="stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(model):
    return inserts_a_new_selection(model, recompile=False)


@wrong("lints", node="norm", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def forgets_to_move_the_step(model):
    return climbs(*traced_with_selection(model), move=False)


@breaks("without this work", case=KNOWN)
@wrong("no_dead_nodes", node="getitem_6", says="is dead")
def leaves_the_old_selection(model):
    return inserts_a_new_selection(model, erase=False)


@breaks("the weights are shared", case=KNOWN)
@wrong("shares_weights", says="`positions` is", node="positions")
def copies_the_model(model):
    return inserts_a_new_selection(copy.deepcopy(model))


@breaks("and `model` does not change", case=MIXING)
@wrong("input_unchanged", says=f"({MIXING}): the model that was given has been changed: `tokens` is now")
def ends_in_eval_mode(model):
    return inserts_a_new_selection(model).eval()


@breaks("a result may have a second user that needs every position.", case=OTHER)
@wrong("same_scores", node="final", says="every position: its user `mean` needs all of them.", read=REPAIR)
def forgets_other_users(model):
    return climbs(*traced_with_selection(model), is_step)


@breaks("Other nodes may not", case=NORM)
@wrong("same_scores", node="norm", says=f"({NORM}): node `norm` no longer gets every position: it is not", read=REPAIR)
def passes_any_norm(model):
    def passes(traced, node):
        norm = node.op == "call_module" and "Norm" in str(traced.get_submodule(node.target))
        return may_pass(traced, node) or (norm and len(node.users) == 1)

    return climbs(*traced_with_selection(model), passes)


@breaks("Other nodes may not", case=MIXING)
@wrong("same_scores", node="add_3", says=f"({MIXING}): node `add_3` no longer gets every position", read=REPAIR)
def passes_additions(model):
    traced, select = traced_with_selection(model)
    waiting = [select]
    while waiting:
        select = waiting.pop()
        step = select.args[0]
        if may_pass(traced, step) or (step.target is operator.add and len(step.users) == 1):
            for operand in step.all_input_nodes:
                with traced.graph.inserting_before(step):
                    waiting.append(traced.graph.call_function(operator.getitem, (operand, select.args[1])))
                step.replace_input_with(operand, waiting[-1])
            select.replace_all_uses_with(step)
            traced.graph.erase_node(select)
    traced.recompile()
    return traced


@breaks("with `[:, -1]`.", case=EVERY)
@wrong("same_scores", node="gate", says="no longer gets every position: its user `getitem", read=REPAIR)
def moves_whatever_is_selected(model):
    traced = fx.symbolic_trace(model)
    for select in traced.graph.find_nodes(op="call_function", target=operator.getitem):
        climbs(traced, select)
    return traced


@breaks(
    "Remove all work that is not needed.",
    "other nodes at the end.",
    "`nn.Linear`, `nn.LayerNorm` and `torch.tanh` treat each position separately.",
    case=OTHER,
)
@wrong(
    "bottleneck_gone", says=f"({OTHER}): the returned module still does 1.3 times the FLOPs", node="to_width", read=WORK
)
def passes_layers_alone(model):
    return climbs(*traced_with_selection(model), lambda traced, n: n.op == "call_module" and may_pass(traced, n))


@wrong("all_in_sight", node="forward", says="Node `forward` calls a function that holds a ")
def hides_the_work_in_a_function(model):
    def forward(tokens):
        return model(tokens)

    graph = fx.Graph()
    graph.output(graph.call_function(forward, (graph.placeholder("tokens"),)))
    return fx.GraphModule(model, graph)
