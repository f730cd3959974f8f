"""Answers to 09-flops-by-module."""

import collections

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from fxbook.tasks.answering import breaks, right, wrong


def grouped(traced, inputs, key, no_grad=True):
    found = {}

    class Flops(fx.Interpreter):
        def run_node(self, node):
            with FlopCounterMode(display=False) as counter:
                value = super().run_node(node)
            found[key(node)] = found.get(key(node), 0) + counter.get_total_flops()
            return value

    with torch.set_grad_enabled(not no_grad):
        Flops(traced).run(*inputs)
    return found


def stack(node):
    return list((node.meta.get("nn_module_stack") or {}).values())


@right
def without_computing(traced, *inputs):
    """Fake tensors have shapes, and FLOPs follow from shapes."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        fakes = [mode.from_tensor(value) for value in inputs]
        return grouped(traced, fakes, lambda node: (stack(node) or [("", None)])[0][0].partition(".")[0])


@right
def with_the_formulas_of_torch(traced, *inputs):
    """A mode of its own, which asks the registry for the formula of each operator."""
    found = dict.fromkeys(["", *(name for name, _ in traced.named_children())], 0)

    class Formulas(TorchDispatchMode):
        def __torch_dispatch__(self, called, types, args=(), kwargs=None):
            result = called(*args, **(kwargs or {}))
            formula = flop_registry.get(called.overloadpacket)
            self.flops += formula(*args, **(kwargs or {}), out_val=result) if formula else 0
            return result

    class Flops(fx.Interpreter):
        def run_node(self, node):
            with Formulas() as mode:
                mode.flops = 0
                value = super().run_node(node)
            found[next((path for path, _ in stack(node)), "").partition(".")[0]] += mode.flops
            return value

    with torch.no_grad():
        Flops(traced).run(*inputs)
    return {name: flops for name, flops in found.items() if flops or name}


@right
def a_loop_of_its_own(traced, *inputs):
    """Nodes run by hand; FLOPs as tensors."""
    runner = fx.Interpreter(traced)
    runner.args_iter, runner.env, found = iter(inputs), {}, collections.defaultdict(lambda: torch.tensor(0))
    for node in traced.graph.nodes:
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            runner.env[node] = runner.run_node(node)
        name = "" if not stack(node) else stack(node)[0][0].split(".", 1)[0]
        found[name] = found[name] + counter.get_total_flops()
    return dict(found)


@right
def counts_first_and_groups_then(traced, *inputs):
    runner = fx.Interpreter(traced)
    plain, flops = runner.run_node, {}

    def run_node(node):
        with FlopCounterMode(display=False) as counter:
            value = plain(node)
        flops[node] = sum(counter.get_flop_counts().get("Global", {}).values())
        return value

    runner.run_node = run_node
    with torch.no_grad():
        runner.run(*inputs)
    children = {name for name, _ in traced.named_children()}
    inside = {node: {path.split(".")[0] for path, _ in stack(node)[:1]} & children for node in flops}
    outside = {"": sum(count for node, count in flops.items() if not inside[node])}
    return {name: sum(flops[n] for n in flops if name in inside[n]) for name in sorted(children)} | outside


@breaks("the name of each outermost submodule", case="a layer in two modules, a leaf of several products")
@wrong("each_module_its_flops", says="(a layer in two modules, a leaf of several products): `block` has no FLOPs")
def from_the_innermost_name(traced, *inputs):
    """A layer in two modules has the name of one of them."""
    return grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[-1][0].split(".")[0])


@breaks("the one that the root has for it:", case="modules in modules, one called twice")
@wrong("each_module_its_flops", says="(modules in modules, one called twice): `mix@1` is not the path")
def reads_the_key(traced, *inputs):
    return grouped(traced, inputs, lambda node: next(iter(node.meta.get("nn_module_stack") or {"": 0})))


@wrong("ends well", says="raises RuntimeError: nn_module_stack")
def expects_a_stack(traced, *inputs):
    return grouped(traced, inputs, lambda node: next(iter(node.meta["nn_module_stack"].values()))[0])


@breaks('`"stem"`, `"body"`.', case="the network of the chapter")
@wrong("each_module_its_flops", says="`conv2d` is not the path")
def by_operation(traced, *inputs):
    with FlopCounterMode(display=False) as counter:
        traced(*inputs)
    return {"conv2d": counter.get_total_flops()}


@breaks("a dict from the name", case="the network of the chapter")
@wrong("each_module_its_flops", says="a number of FLOPs")
def only_the_total(traced, *inputs):
    return sum(grouped(traced, inputs, str).values())


@breaks("The work of the root", case="modules in modules, one called twice")
@wrong("each_module_its_flops", says='the root itself (`""`) has no FLOPs in the answer')
def leaves_the_root_out(traced, *inputs):
    found = grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[0][0])
    return {path: flops for path, flops in found.items() if path}


def grouped_without(left_out, traced, inputs):
    def key(node):
        return None if left_out(node) else (stack(node) or [("", None)])[0][0].partition(".")[0]

    found = grouped(traced, inputs, key)
    return {path: flops for path, flops in found.items() if path is not None}


@breaks("the FLOPs that are done inside it", case="a child of a child, called by the root; several inputs")
@wrong("each_module_its_flops", says="several inputs): `mix` does ")
def leaves_out_what_nobody_reads(traced, *inputs):
    return grouped_without(lambda node: not node.users, traced, inputs)


@wrong(
    "ends well",
    says="(a child of a child, called by the root; several inputs)",
    read="07_placeholder#runtimeerror-expected-positional-argument-for-parameter-mask-but-one-was-not-passed-in",
)
def passes_the_first_input_alone(traced, *inputs):
    return grouped(traced, inputs[:1], lambda node: (stack(node) or [("", None)])[0][0].partition(".")[0])
