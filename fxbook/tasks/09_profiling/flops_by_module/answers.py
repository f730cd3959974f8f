"""Answers to 09-flops-by-module."""

import collections
import itertools

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
def with_gradients(traced, *inputs):
    return grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[0][0].partition(".")[0], no_grad=False)


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
                path = next((path for path, _ in stack(node)), "").partition(".")[0]
                found[path] = found.get(path, 0) + more
            return value

    with FlopCounterMode(display=False) as counter:
        Flops(traced).run(*inputs)
    return found


@right
def without_computing(traced, *inputs):
    """Fake tensors have shapes, and FLOPs follow from shapes."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        fakes = [mode.from_tensor(value) for value in inputs]
        return grouped(traced, fakes, lambda node: (stack(node) or [("", None)])[0][0].partition(".")[0])


@right
def counts_each_row_of_nodes(traced, *inputs):
    """The nodes of one submodule stand in a row, or in several."""
    rows = itertools.groupby(
        list(traced.graph.nodes), key=lambda node: (stack(node) or [("", None)])[0][0].partition(".")[0]
    )
    runner, found = fx.Interpreter(traced), collections.Counter()
    runner.args_iter, runner.env = iter(inputs), {}
    for child, nodes in rows:
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            for node in nodes:
                runner.env[node] = runner.run_node(node)
        found[child] += counter.get_total_flops()
    return found


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


@breaks("each outermost submodule", case="the network of the chapter")
@wrong("each_module_its_flops", says="`block.conv1` is not the path of an outermost submodule")
def innermost(traced, *inputs):
    return grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[-1][0])


@breaks("the name of each outermost submodule", case="a layer in two modules, a leaf of several products")
@wrong("each_module_its_flops", says="(a layer in two modules, a leaf of several products): `block` has no FLOPs")
def from_the_innermost_name(traced, *inputs):
    """A layer in two modules has the name of one of them."""
    return grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[-1][0].split(".")[0])


@breaks("the FLOPs that are done inside it", case="a layer in two modules, a leaf of several products")
@wrong("each_module_its_flops", says="(a layer in two modules, a leaf of several products): `cell` ")
def takes_the_last_operator_of_a_leaf(traced, *inputs):
    found = collections.Counter()

    class Last(TorchDispatchMode):
        def __torch_dispatch__(self, called, types, args=(), kwargs=None):
            result = called(*args, **(kwargs or {}))
            formula = flop_registry.get(called.overloadpacket)
            self.flops = formula(*args, **(kwargs or {}), out_val=result) if formula else self.flops
            return result

    class Flops(fx.Interpreter):
        def run_node(self, node):
            with Last() as mode:
                mode.flops = 0
                value = super().run_node(node)
            found[(stack(node) or [("", None)])[0][0].partition(".")[0]] += mode.flops
            return value

    with torch.no_grad():
        Flops(traced).run(*inputs)
    return dict(found)


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


@breaks("the FLOPs", case="the network of the chapter")
@wrong("each_module_its_flops", says="A multiplication with its addition counts as 2.")
def counts_a_product_once(traced, *inputs):
    found = grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[0][0])
    return {path: flops // 2 for path, flops in found.items()}


@breaks("The work of the root", case="modules in modules, one called twice")
@wrong("each_module_its_flops", says='the root itself (`""`) has no FLOPs in the answer')
def leaves_the_root_out(traced, *inputs):
    found = grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[0][0])
    return {path: flops for path, flops in found.items() if path}


@breaks("done inside it", case="modules in modules, one called twice")
@wrong("each_module_its_flops", says="(modules in modules, one called twice): `mix` does ")
def by_the_target_of_call_module(traced, *inputs):
    return grouped(traced, inputs, lambda node: node.target.split(".")[0] if node.op == "call_module" else "")


def grouped_without(left_out, traced, inputs):
    def key(node):
        return None if left_out(node) else (stack(node) or [("", None)])[0][0].partition(".")[0]

    found = grouped(traced, inputs, key)
    return {path: flops for path, flops in found.items() if path is not None}


@breaks("The work of the root", case="a child of a child, called by the root; several inputs")
@wrong("each_module_its_flops", says='several inputs): the root itself (`""`) has no FLOPs in the answer')
def leaves_methods_out(traced, *inputs):
    return grouped_without(lambda node: node.op == "call_method", traced, inputs)


@breaks("the FLOPs that are done inside it", case="a child of a child, called by the root; several inputs")
@wrong("each_module_its_flops", says="several inputs): `mix` does ")
def leaves_out_what_nobody_reads(traced, *inputs):
    return grouped_without(lambda node: not node.users, traced, inputs)


@breaks("the FLOPs that are done inside it", case="the network of the chapter")
@wrong("each_module_its_flops", says="`block` does ")
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


@breaks("the root has for it", case="a child of a child, called by the root; several inputs")
@wrong("each_module_its_flops", says="several inputs): `mix.0` is not the path")
def keeps_the_whole_path(traced, *inputs):
    return grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[0][0])


@wrong(
    "ends well",
    says="(a child of a child, called by the root; several inputs)",
    read="07_placeholder#runtimeerror-expected-positional-argument-for-parameter-mask-but-one-was-not-passed-in",
)
def passes_the_first_input_alone(traced, *inputs):
    return grouped(traced, inputs[:1], lambda node: (stack(node) or [("", None)])[0][0].partition(".")[0])


@wrong("each_module_its_flops", says="(a child of a child, called by the root; several inputs)")
def knows_a_module_by_how_its_name_begins(traced, *inputs):
    found = grouped(traced, inputs, lambda node: (stack(node) or [("", None)])[0][0])
    children = [name for name, _ in traced.named_children()]
    groups = {name: sum(n for path, n in found.items() if path.startswith(name)) for name in children}
    return {**groups, "": found.get("", 0)}
