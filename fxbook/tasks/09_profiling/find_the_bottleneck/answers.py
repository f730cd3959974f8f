"""Answers to 09-find-the-bottleneck."""

import copy
import operator

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

WORK = "09_profiling#work-can-be-counted"
LAST = (slice(None), -1)
STEPS = (nn.Linear, nn.LayerNorm)


def traced_with_selection(model):
    traced = fx.symbolic_trace(model)
    [select] = [node for node in traced.graph.nodes if node.args[1:] == (LAST,)]
    return traced, select


def is_step(traced, node):
    if node.op == "call_module":
        return isinstance(traced.get_submodule(node.target), STEPS)
    return node.target is torch.tanh


def alone(node):
    return len(node.users) == 1


def stays(traced, select):
    """Whether the selection can pass nothing."""
    return not is_step(traced, select.args[0]) or len(select.args[0].users) > 1


def foot_of(traced, select):
    """The lowest node that the selection can pass, each read by nobody else."""
    foot = select.args[0]
    while is_step(traced, foot.args[0]) and len(foot.args[0].users) == 1:
        foot = foot.args[0]
    return foot


@right
def inserts_a_new_selection(model):
    """A new selection at the foot of the chain; the old one goes."""
    traced, select = traced_with_selection(model)
    if stays(traced, select):
        return traced
    foot = foot_of(traced, select)
    with traced.graph.inserting_before(foot):
        last = traced.graph.call_method("select", (foot.args[0], 1, -1))
    foot.replace_input_with(foot.args[0], last)
    select.replace_all_uses_with(select.args[0])
    traced.graph.erase_node(select)
    traced.graph.lint()
    traced.recompile()
    return traced


@right
def copies_into_a_new_graph(model):
    traced, select = traced_with_selection(model)
    if stays(traced, select):
        return traced
    foot = foot_of(traced, select)
    graph, env, last = fx.Graph(), {}, None
    for node in traced.graph.nodes:
        if node is foot:
            last = graph.call_function(torch.select, (env[node.args[0]], 1, -1))
        if node is select:
            env[node] = env[select.args[0]]
        else:
            reads = {**env, node.args[0]: last} if node is foot else env
            env[node] = graph.node_copy(node, reads.__getitem__)
    return fx.GraphModule(traced, graph)


@right
def rebuilds_with_a_transformer(model):
    traced, select = traced_with_selection(model)
    if stays(traced, select):
        return traced
    foot = foot_of(traced, select)

    class Earlier(fx.Transformer):
        def run_node(self, node):
            if node is foot:
                self.env[foot.args[0]], kept = self.env[foot.args[0]][:, -1], self.env[foot.args[0]]
                value = super().run_node(node)
                self.env[foot.args[0]] = kept
                return value
            return self.env[select.args[0]] if node is select else super().run_node(node)

    return Earlier(traced).transform()


@breaks("find the node that does this work", case="the GPT of the exercise")
@wrong("bottleneck_gone", node="head", says="node `head` has 8", read=WORK)
def only_traces(model):
    return fx.symbolic_trace(model)


@breaks("The result stays the same", case="the GPT of the exercise")
@wrong("same_scores", node="output", says="other numbers")
def selects_the_first_position(model):
    result = inserts_a_new_selection(model)
    [last] = result.graph.find_nodes(op="call_method", target="select")
    last.args = (last.args[0], 1, 0)
    result.recompile()
    return result


@wrong("recompiled", says="stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(model):
    result = fx.symbolic_trace(model)
    head = next(node for node in result.graph.nodes if node.args[1:] == (LAST,)).args[0]
    with result.graph.inserting_before(head):
        last = result.graph.call_function(torch.select, (head.args[0], 1, -1))
    head.replace_input_with(head.args[0], last)
    head.users.copy()
    [select] = [node for node in result.graph.nodes if node.args[1:] == (LAST,)]
    select.replace_all_uses_with(head)
    result.graph.erase_node(select)
    return result


@breaks("Leave no work that is not needed:", case="a GPT of another size and other names")
@wrong("bottleneck_gone", says="(a GPT of another size and other names)", node="to_width", read=WORK)
def passes_one_layer(model):
    """The selection climbs past what it reads, and no further; in the GPT of the exercise the norm has no FLOPs."""
    traced, select = traced_with_selection(model)
    step = select.args[0]
    select.replace_input_with(step, step.args[0])
    select.replace_all_uses_with(step)
    step.replace_input_with(step.args[0], select)
    select.append(step)
    traced.recompile()
    return traced


@wrong("ends well", says="your code raises KeyError")
def knows_the_names(model):
    traced = fx.symbolic_trace(model)
    nodes = {node.name: node for node in traced.graph.nodes}
    norm, head = nodes["norm"], nodes["head"]
    [select] = head.users
    select.replace_input_with(head, norm)
    select.replace_all_uses_with(head)
    head.replace_input_with(norm, select)
    select.append(head)
    traced.recompile()
    return traced


@wrong("lints", node="head", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def forgets_to_move_the_step(model):
    traced, select = traced_with_selection(model)
    step = select.args[0]
    select.replace_input_with(step, step.args[0])
    select.replace_all_uses_with(step)
    step.replace_input_with(step.args[0], select)
    traced.recompile()
    return traced


@breaks("without this work", case="the GPT of the exercise")
@wrong("no_dead_nodes", node="getitem_6", says="is dead")
def leaves_the_old_selection(model):
    traced, select = traced_with_selection(model)
    foot = foot_of(traced, select)
    with traced.graph.inserting_before(foot):
        last = traced.graph.call_method("select", (foot.args[0], 1, -1))
    foot.replace_input_with(foot.args[0], last)
    select.replace_all_uses_with(select.args[0])
    traced.recompile()
    return traced


@breaks("the weights are shared", case="the GPT of the exercise")
@wrong("shares_weights", says="`positions` is", node="positions")
def copies_the_model(model):
    return inserts_a_new_selection(copy.deepcopy(model))


@breaks("and `model` does not change", case="the GPT of the exercise")
@wrong("input_unchanged", says="has been changed")
def edits_the_model(model):
    model.head = nn.Sequential(nn.Identity(), model.head) if hasattr(model, "head") else model.to_words
    return inserts_a_new_selection_through(model)


def inserts_a_new_selection_through(model):
    traced, select = traced_with_selection(model)
    foot = select.args[0]
    while foot.args[0].op == "call_module" and "layers" not in foot.args[0].target:
        foot = foot.args[0]
    with traced.graph.inserting_before(foot):
        last = traced.graph.call_method("select", (foot.args[0], 1, -1))
    foot.replace_input_with(foot.args[0], last)
    select.replace_all_uses_with(select.args[0])
    traced.graph.erase_node(select)
    traced.recompile()
    return traced


REPAIR = "09_profiling#find-it-change-it-measure-again"
OTHER = "(a GPT of another size and other names): node `final` no longer gets every position"
MIXING = "(a GPT that mixes positions): node `mixing` no longer gets every position"


def climbs(model, may_pass):
    """Swaps the selection with what it reads, as the solution does."""
    traced, select = traced_with_selection(model)
    while may_pass(traced, step := select.args[0]):
        select.replace_input_with(step, step.args[0])
        select.replace_all_uses_with(step)
        step.replace_input_with(step.args[0], select)
        select.append(step)
    traced.recompile()
    return traced


@right
def climbs_by_name_of_class(model):
    def may_pass(traced, node):
        held = traced.get_submodule(node.target) if node.op == "call_module" else node.target
        known = type(held).__name__ in ("Linear", "LayerNorm") or held is torch.tanh
        return known and list(node.users) == [node.next]

    return climbs(model, may_pass)


@breaks("a result may have a second user that needs every position.", case="a GPT of another size and other names")
@wrong("same_scores", node="final", says=f"{OTHER}, and `mean`, which uses it too, needs all.", read=REPAIR)
def forgets_other_readers(model):
    return climbs(model, is_step)


@breaks("Other nodes may not", case="a GPT that mixes positions")
@wrong("same_scores", node="mixing", says=MIXING, read=REPAIR)
def passes_any_module(model):
    def may_pass(traced, node):
        return (node.op == "call_module" or node.target is torch.tanh) and len(node.users) == 1

    return climbs(model, may_pass)


@wrong("right kind", says="an fx.GraphModule was asked")
def returns_the_graph(model):
    return inserts_a_new_selection(model).graph


@breaks("`gpt` can do with less than a quarter of its FLOPs.", case="the GPT of the exercise")
@wrong("bottleneck_gone", node="head", says="times the work that is needed", read=WORK)
def halves_the_work(model):
    """Keeps the second half of the positions."""
    traced, select = traced_with_selection(model)
    foot = foot_of(traced, select)
    with traced.graph.inserting_before(foot):
        half = traced.graph.call_function(operator.getitem, (foot.args[0], (slice(None), slice(-16, None))))
    foot.replace_input_with(foot.args[0], half)
    traced.recompile()
    return traced


@breaks("The check also tries GPTs of different sizes", case="a GPT of another size and other names")
@wrong("same_scores", says="(a GPT of another size and other names)", node="select")
def knows_the_length(model):
    result = inserts_a_new_selection(model)
    [last] = result.graph.find_nodes(op="call_method", target="select")
    last.args = (last.args[0], 1, 31)
    result.recompile()
    return result


@breaks(
    "different nodes at their end.",
    "`nn.Linear`, `nn.LayerNorm` and `torch.tanh` treat each position separately.",
    case="a GPT of another size and other names",
)
@wrong("bottleneck_gone", says="(a GPT of another size and other names)", node="to_width", read=WORK)
def passes_layers_alone(model):
    def may_pass(traced, node):
        layer = node.op == "call_module" and isinstance(traced.get_submodule(node.target), STEPS)
        return layer and len(node.users) == 1

    return climbs(model, may_pass)


@breaks("with different names", case="a GPT of another size and other names")
@wrong("bottleneck_gone", says="(a GPT of another size and other names)", node="to_words", read=WORK)
def knows_names_and_gives_up_on_others(model):
    return knows_the_names(model) if hasattr(model, "head") else fx.symbolic_trace(model)


@breaks("They too select the last position once, with `[:, -1]`.", case="a GPT of another size and other names")
@wrong("bottleneck_gone", says="(a GPT of another size and other names)", node="to_words", read=WORK)
def looks_for_the_selection_at_the_output(model):
    traced = fx.symbolic_trace(model)
    select = traced.graph.output_node().args[0]
    if not isinstance(select, fx.Node) or select.args[1:] != (LAST,):
        return traced
    foot = foot_of(traced, select)
    select.replace_all_uses_with(select.args[0])
    traced.graph.erase_node(select)
    with traced.graph.inserting_before(foot):
        foot.replace_input_with(foot.args[0], traced.graph.call_function(operator.getitem, (foot.args[0], LAST)))
    traced.recompile()
    return traced


def in_case(case, node):
    return f"({case}): node `{node}` no longer gets every position"


ADDING = in_case("a GPT that adds up positions", "cumsum")
BY_METHOD = in_case("a GPT that mixes positions by a method", "softmax_1")
RANKING = in_case("a GPT that ranks the positions at its end", "softmax_1")
NO_SELECTION = in_case("a GPT of which every score is used", "gate")


@breaks("Other nodes may not", case="a GPT that adds up positions")
@wrong("same_scores", node="cumsum", says=ADDING, read=REPAIR)
def passes_any_function(model):
    def may_pass(traced, node):
        function = node.op == "call_function" and len(node.all_input_nodes) == 1
        return (function or is_step(traced, node)) and len(node.users) == 1

    return climbs(model, may_pass)


@breaks("Other nodes may not", case="a GPT that mixes positions by a method")
@wrong("same_scores", node="softmax_1", says=BY_METHOD, read=REPAIR)
def passes_any_method(model):
    def may_pass(traced, node):
        return (node.op == "call_method" or is_step(traced, node)) and len(node.users) == 1

    return climbs(model, may_pass)


@breaks("Other nodes may not", case="a GPT that ranks the positions at its end")
@wrong("same_scores", node="softmax_1", says=RANKING, read=REPAIR)
def asks_what_stands_before_the_first_alone(model):
    """What the selection reads is taken for a step."""
    _, select = traced_with_selection(model)
    first = select.args[0]
    return climbs(model, lambda traced, node: (is_step(traced, node) or node.name == first.name) and alone(node))


@breaks("with `[:, -1]`.", case="a GPT of which every score is used")
@wrong("same_scores", node="gate", says=f"{NO_SELECTION}: `getitem_4` does not select the last one.", read=REPAIR)
def moves_whatever_is_picked(model):
    traced = fx.symbolic_trace(model)
    for select in traced.graph.find_nodes(op="call_function", target=operator.getitem):
        while is_step(traced, step := select.args[0]) and len(step.users) == 1:
            select.replace_input_with(step, step.args[0])
            select.replace_all_uses_with(step)
            step.replace_input_with(step.args[0], select)
            select.append(step)
    traced.recompile()
    return traced


@breaks("and `model` does not change", case="a GPT that mixes positions")
@wrong(
    "input_unchanged", says="(a GPT that mixes positions): the model that was given has been changed: `tokens` is now"
)
def ends_in_eval_mode(model):
    return inserts_a_new_selection(model).eval()


@wrong("all_in_sight", node="forward", says="Node `forward` calls a function that holds a ")
def hides_the_work_in_a_function(model):
    def forward(tokens):
        return model(tokens)

    graph = fx.Graph()
    graph.output(graph.call_function(forward, (graph.placeholder("tokens"),)))
    return fx.GraphModule(model, graph)
