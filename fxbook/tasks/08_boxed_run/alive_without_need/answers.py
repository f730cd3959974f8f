"""Answers to 08-alive-without-need: what is alive before a node computes, minus the bound."""

import weakref

import torch
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


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def replaces_the_method_of_an_instance(kind, traced, tensors):
    need, found = needed(traced.graph), {}
    refs = dict(zip(inputs(traced), map(weakref.ref, tensors), strict=True))
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
    """Lives as long as the tensor that it hangs on."""


@right
def hangs_a_token_on_each_tensor(kind, traced, tensors):
    need, found, alive = needed(traced.graph), {}, weakref.WeakValueDictionary()

    def hang(name, tensor):
        tensor.token = alive[name] = Token()

    for place, name in enumerate(inputs(traced)):
        hang(name, tensors[place])

    def run_node(self, n):
        if n.op in ("call_function", "call_method", "call_module"):
            found[n.name] = [name for name in alive if name not in need[n.name]]
        value = kind.run_node(self, n)
        if n.op != "output":
            hang(n.name, value)
        return value

    type("Hanging", (kind,), {"run_node": run_node})(traced).boxed_run(tensors)
    return found


@right
def notes_births_and_deaths(kind, traced, tensors):
    """The time is the number of nodes that have begun. The sets are made after the run."""
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


# ---- wrong -----------------------------------------------------------------------------------------------------------

ELSE = "but it is freed earlier in this interpreter: what else holds it?"


def watch(kind, traced, refs, alive=None, enter=None, after=False, steps="call", less=True):
    """A class that notes; ``enter`` is given each value."""
    need, found = needed(traced.graph), {}

    class Watched(kind):
        def note(self, n):
            names = {name for name, ref in refs.items() if ref() is not None} if alive is None else alive(self)
            if n.op.startswith(steps):
                found[n.name] = names - (need[n.name] if less else set())

        def run_node(self, n):
            if not after:
                self.note(n)
            value = super().run_node(n)
            if enter is not None:
                enter(n, value)
            elif isinstance(value, torch.Tensor):
                refs[n.name] = weakref.ref(value)
            if after:
                self.note(n)
            return value

    return Watched(traced), found


def refs_of(traced, tensors):
    return dict(zip(inputs(traced), map(weakref.ref, tensors), strict=True))


@breaks("call its `boxed_run`.", case="the gated mix")
@wrong("tells_unneeded", says=f"Node `gate` is in the answer for `mul`, {ELSE}")
def calls_run(kind, traced, tensors):
    runner, found = watch(kind, traced, refs_of(traced, tensors))
    runner.run(*tensors)
    return found


@breaks("before the node runs", case="the gated mix")
@wrong("tells_unneeded", says="`sigmoid` is in the answer for itself: its own result does not count")
def looks_behind_the_node(kind, traced, tensors):
    runner, found = watch(kind, traced, refs_of(traced, tensors), after=True)
    runner.boxed_run(tensors)
    return found


@breaks("the tensor exists, no matter what holds it:", case="results kept in a list")
@wrong("tells_unneeded", says="(results kept in a list): while node `mul_1` computes, `sigmoid` is alive without need")
def asks_env(kind, traced, tensors):
    runner, found = watch(kind, traced, {}, alive=lambda runner: {node.name for node in runner.env})
    runner.boxed_run(tensors)
    return found


@breaks("Make the interpreter with `kind(traced)`", case="the gated mix, hoarded")
@wrong("tells_unneeded", says="While node `mul` computes, `gate` is alive without need: the answer lacks it")
def runs_an_interpreter_of_its_own(kind, traced, tensors):
    runner, found = watch(fx.Interpreter, traced, refs_of(traced, tensors))
    runner.boxed_run(tensors)
    return found


@breaks("For each node that computes", case="a layer and methods")
@wrong("tells_unneeded", says="(a layer and methods): node `norm` computes, but is missing from the answer")
def measures_functions_only(kind, traced, tensors):
    runner, found = watch(kind, traced, refs_of(traced, tensors), steps="call_function")
    runner.boxed_run(tensors)
    return found


@wrong("input_unchanged", says="The model that was given has been changed")
def notes_on_the_module(kind, traced, tensors):
    traced.unneeded = {}
    need, refs = needed(traced.graph), refs_of(traced, tensors)

    class Watched(kind):
        def run_node(self, n):
            if n.name in need:
                alive = {name for name, ref in refs.items() if ref() is not None}
                self.module.unneeded[n.name] = alive - need[n.name]
            value = super().run_node(n)
            refs[n.name] = weakref.ref(value)
            return value

    Watched(traced).boxed_run(tensors)
    return traced.unneeded


@wrong("ends well", says="Your code raises RuntimeError: gate")
def notes_at_every_node(kind, traced, tensors):
    need, found = needed(traced.graph), {}
    refs = refs_of(traced, tensors)

    class Watched(kind):
        def run_node(self, n):
            found[n.name] = {name for name, ref in refs.items() if ref() is not None} - need[n.name]
            return super().run_node(n)

    Watched(traced).run(*tensors)
    return found


@breaks("but need not be alive.", case="an input that the last node uses, in a graph that was edited")
@wrong("tells_unneeded", says="(an input that the last node uses, in a graph that was edited): node `input_1` is in")
def takes_the_last_of_the_users(kind, traced, tensors):
    last = {node.name: [*node.users, node][-2 if node.users else -1] for node in traced.graph.nodes}
    runner, found = watch(kind, traced, refs_of(traced, tensors), less=False)
    runner.boxed_run(tensors)
    steps = {node.name: node for node in traced.graph.nodes}
    return {step: {name for name in names if last[name] < steps[step]} for step, names in found.items()}


@breaks("the values that are alive", case="values without users, dropped at once")
@wrong(
    "tells_unneeded",
    says=f"(values without users, dropped at once): node `square` is in the answer for `mul`, {ELSE}",
)
def keeps_the_newest_result(kind, traced, tensors):
    need, found = needed(traced.graph), {}
    refs = refs_of(traced, tensors)

    class Watched(kind):
        def run_node(self, n):
            if n.name in need:
                found[n.name] = {name for name, ref in refs.items() if ref() is not None} - need[n.name]
            self.newest = super().run_node(n)
            refs[n.name] = weakref.ref(self.newest)
            return self.newest

    Watched(traced).boxed_run(tensors)
    return found
