"""Answers to 08-alive-without-need: the values alive before a node computes, minus those that must be alive."""

import collections
import weakref

from torch import fx
from torch.utils.weak import WeakIdKeyDictionary

from fxbook.tasks.answering import breaks, right, wrong


def needed(graph):
    return {
        step.name: {value.name for value in graph.nodes if value < step and any(user >= step for user in value.users)}
        for step in graph.nodes
        if step.op.startswith("call")
    }


def inputs(traced):
    return [node.name for node in traced.graph.find_nodes(op="placeholder")]


def refs_of(traced, tensors):
    return dict(zip(inputs(traced), map(weakref.ref, tensors), strict=True))


@right
def replaces_the_method_of_an_instance(kind, traced, tensors):
    need, found, refs = needed(traced.graph), {}, refs_of(traced, tensors)
    runner = kind(traced)
    run_node = runner.run_node

    def watched(n):
        if n.op.startswith("call"):
            found[n.name] = {name for name, ref in refs.items() if ref() is not None} - need[n.name]
        value = run_node(n)
        refs[n.name] = weakref.ref(value)
        return value

    runner.run_node = watched
    runner.boxed_run(tensors)
    return found


@right
def keeps_names_by_weak_keys(kind, traced, tensors):
    need, found, names = needed(traced.graph), {}, WeakIdKeyDictionary()
    for place, name in enumerate(inputs(traced)):
        names[tensors[place]] = name

    class Watched(kind):
        def run_node(self, n):
            if n.name in need:
                found[n.name] = {*names.values()} - need[n.name]
            value = super().run_node(n)
            names[value] = n.name
            return value

    Watched(traced).boxed_run(tensors)
    return found


class Token:
    """Lives as long as the tensor that it is attached to."""


@right
def attaches_a_token_to_each_tensor(kind, traced, tensors):
    need, found, alive = needed(traced.graph), {}, weakref.WeakValueDictionary()

    def attach(name, tensor):
        tensor.token = alive[name] = Token()

    for place, name in enumerate(inputs(traced)):
        attach(name, tensors[place])

    def run_node(self, n):
        if n.name in need:
            found[n.name] = [name for name in alive if name not in need[n.name]]
        value = kind.run_node(self, n)
        if n.op != "output":
            attach(n.name, value)
        return value

    type("Attaching", (kind,), {"run_node": run_node})(traced).boxed_run(tensors)
    return found


@right
def records_births_and_deaths(kind, traced, tensors):
    """Measures time as the number of nodes that have begun, and makes the sets after the run."""
    need, begun, born, died = needed(traced.graph), [], {}, {}

    def enter(name, tensor):
        born[name] = len(begun)
        weakref.finalize(tensor, lambda: died.setdefault(name, len(begun)))

    class Watched(kind):
        def run_node(self, n):
            begun.append(n.name)
            value = super().run_node(n)
            if n.name in need:
                enter(n.name, value)
            return value

    for place, name in enumerate(inputs(traced)):
        enter(name, tensors[place])
    Watched(traced).boxed_run(tensors)
    lives = {name: range(birth, died.get(name, len(begun))) for name, birth in born.items()}
    return {
        step: {name for name, life in lives.items() if place in life} - need[step]
        for place, step in enumerate(begun)
        if step in need
    }


ELSE = "is freed earlier by this interpreter: what else holds it?"


def watch(kind, traced, refs, alive=None, after=False, steps="call", need=None, keep=lambda value: None):
    """An interpreter that records the values alive at each step, and the dict in which it records them."""
    need, found = needed(traced.graph) if need is None else need, {}

    class Watched(kind):
        def note(self, n):
            names = {name for name, ref in refs.items() if ref() is not None} if alive is None else alive(self)
            if n.op.startswith(steps):
                found[n.name] = names - need.get(n.name, set())

        def run_node(self, n):
            if not after:
                self.note(n)
            value = super().run_node(n)
            keep(value)
            refs[n.name] = weakref.ref(value)
            if after:
                self.note(n)
            return value

    return Watched(traced), found


@breaks("call its `boxed_run`.", case="the gated mix")
@wrong("unneeded_values", says=f"The answer for node `mul` contains `gate`, but `gate` {ELSE}")
def calls_run(kind, traced, tensors):
    runner, found = watch(kind, traced, refs_of(traced, tensors))
    runner.run(*tensors)
    return found


@breaks("before the node runs", case="the gated mix")
@wrong("unneeded_values", says="The answer for node `sigmoid` contains `sigmoid` itself: a node's own result does not")
def looks_after_the_node(kind, traced, tensors):
    runner, found = watch(kind, traced, refs_of(traced, tensors), after=True)
    runner.boxed_run(tensors)
    return found


@breaks("the tensor exists, no matter what holds it:", case="results kept in a list")
@wrong("unneeded_values", says="while node `mul_1` computes, `sigmoid` is alive without need, but is not in the")
def looks_in_env(kind, traced, tensors):
    runner, found = watch(kind, traced, {}, alive=lambda runner: {node.name for node in runner.env})
    runner.boxed_run(tensors)
    return found


@breaks("Create the interpreter with `kind(traced)`", case="the gated mix, with every value kept")
@wrong("unneeded_values", says="While node `mul` computes, `gate` is alive without need, but is not in the answer")
def ignores_the_class(kind, traced, tensors):
    runner, found = watch(fx.Interpreter, traced, refs_of(traced, tensors))
    runner.boxed_run(tensors)
    return found


@breaks("For each node that computes", case="a layer and methods")
@wrong("unneeded_values", says="(a layer and methods): node `norm` computes, but is not a key of the answer")
def measures_functions_only(kind, traced, tensors):
    runner, found = watch(kind, traced, refs_of(traced, tensors), steps="call_function")
    runner.boxed_run(tensors)
    return found


@wrong("input_unchanged", says="The model that was given has been changed")
def leaves_its_result_on_the_module(kind, traced, tensors):
    runner, traced.unneeded = watch(kind, traced, refs_of(traced, tensors))
    runner.boxed_run(tensors)
    return traced.unneeded


@breaks("but need not be alive.", case="an input that the last step uses, in an edited graph")
@wrong("unneeded_values", says="(an input that the last step uses, in an edited graph): the answer for node")
def takes_the_last_of_the_users(kind, traced, tensors):
    last = {node.name: [*node.users, node][-2 if node.users else -1] for node in traced.graph.nodes}
    runner, found = watch(kind, traced, refs_of(traced, tensors), need={})
    runner.boxed_run(tensors)
    steps = {node.name: node for node in traced.graph.nodes}
    return {step: {name for name in names if last[name] < steps[step]} for step, names in found.items()}


@breaks("but need not be alive.", case="a layer and methods")
@wrong(
    "unneeded_values", says="(a layer and methods): the answer for node `norm` contains `shift`, but `shift` must be"
)
def overlooks_lists_and_keywords(kind, traced, tensors):
    need, later = {}, set()
    for node in reversed(traced.graph.nodes):
        later = later - {node.name} | {value.name for value in node.args if isinstance(value, fx.Node)}
        need[node.name] = later
    runner, found = watch(kind, traced, refs_of(traced, tensors), need=need)
    runner.boxed_run(tensors)
    return found


@breaks("the values that are alive", case="values without users, freed at once")
@wrong("unneeded_values", says=f"answer for node `mul` contains `square`, but `square` {ELSE}")
def keeps_the_newest_result(kind, traced, tensors):
    newest = collections.deque(maxlen=1)
    runner, found = watch(kind, traced, refs_of(traced, tensors), keep=newest.append)
    runner.boxed_run(tensors)
    return found
