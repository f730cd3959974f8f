"""Answers to 09-flops-by-module."""

import torch
from torch import fx
from torch.utils.flop_counter import FlopCounterMode

from fxbook.tasks.answering import right, wrong


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
def with_gradients(traced, *inputs):
    return grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[0][0], no_grad=False)


@right
def one_counter_for_the_run(traced, *inputs):
    """Differences of a total that runs on; modules without FLOPs left out."""
    found = {}

    class Flops(fx.Interpreter):
        def run_node(self, node):
            before = counter.get_total_flops()
            value = super().run_node(node)
            more = counter.get_total_flops() - before
            if more:
                path = next((path for path, _ in stack(node)), "")
                found[path] = found.get(path, 0) + more
            return value

    with FlopCounterMode(display=False) as counter:
        Flops(traced).run(*inputs)
    return found


@wrong("each_module_its_flops", says="`block.conv1` is not the path of an outermost submodule")
def innermost(traced, *inputs):
    return grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[-1][0])


@wrong("each_module_its_flops", says="not on another (modules in modules, one called twice): `mix@1` is not the path")
def reads_the_key(traced, *inputs):
    return grouped(traced, inputs, lambda node: next(iter(node.meta.get("nn_module_stack") or {"": 0})))


@wrong("ends well", says="raises RuntimeError: nn_module_stack")
def expects_a_stack(traced, *inputs):
    return grouped(traced, inputs, lambda node: next(iter(node.meta["nn_module_stack"].values()))[0])


@wrong("each_module_its_flops", says="`conv2d` is not the path")
def by_operation(traced, *inputs):
    with FlopCounterMode(display=False) as counter:
        traced(*inputs)
    return {"conv2d": counter.get_total_flops()}


@wrong("each_module_its_flops", says="a number of FLOPs")
def only_the_total(traced, *inputs):
    return sum(grouped(traced, inputs, str).values())


@wrong("each_module_its_flops", says="`stem` has fewer FLOPs")
def counts_a_product_once(traced, *inputs):
    found = grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[0][0])
    return {path: flops // 2 for path, flops in found.items()}


@wrong("each_module_its_flops", says='the root itself (`""`) has no FLOPs in the answer')
def leaves_the_root_out(traced, *inputs):
    found = grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[0][0])
    return {path: flops for path, flops in found.items() if path}


@wrong("each_module_its_flops", says="not on another (modules in modules, one called twice): `mix` has fewer FLOPs")
def by_the_target_of_call_module(traced, *inputs):
    return grouped(traced, inputs, lambda node: node.target.split(".")[0] if node.op == "call_module" else "")


@wrong("each_module_its_flops", says="`block` has fewer FLOPs")
def keeps_the_last_node_of_each(traced, *inputs):
    found = {}

    class Flops(fx.Interpreter):
        def run_node(self, node):
            with FlopCounterMode(display=False) as counter:
                value = super().run_node(node)
            path = (stack(node) or [("", None)])[0][0]
            if counter.get_total_flops():
                found[path.split(".")[0]] = counter.get_total_flops()
            return value

    Flops(traced).run(*inputs)
    return found


@wrong("each_module_its_flops", says="is not the path of an outermost submodule")
def lets_the_counter_group(traced, *inputs):
    with FlopCounterMode(display=False) as counter:
        traced(*inputs)
    return {path.split(".")[-1]: sum(by_op.values()) for path, by_op in counter.get_flop_counts().items()}
