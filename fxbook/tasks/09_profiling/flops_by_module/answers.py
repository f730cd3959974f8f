"""Answers to 09-flops-by-module."""

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from fxbook.tasks.answering import breaks, right, wrong

NETWORK, TWICE = "the network of the chapter", "modules in modules, one called twice"
DIRECT, SHARED = "a child of a child; several inputs", "a layer in two modules, a leaf with several products"


def grouped(traced, inputs, key):
    found = {}

    class Flops(fx.Interpreter):
        def run_node(self, node):
            with FlopCounterMode(display=False) as counter:
                value = super().run_node(node)
            found[key(node)] = found.get(key(node), 0) + counter.get_total_flops()
            return value

    with torch.no_grad():
        Flops(traced).run(*inputs)
    return found


def paths(node):
    """The paths from the outermost module to the innermost, perhaps with the root; just the root if there are none."""
    return [path for path, _ in node.meta.get("nn_module_stack", {}).values()] or [""]


def outermost(node):
    return next(filter(None, paths(node)), "").partition(".")[0]


@right
def without_computing(traced, *inputs):
    """Fake tensors have shapes, and FLOPs follow from shapes."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        return grouped(traced, [mode.from_tensor(value) for value in inputs], outermost)


@right
def with_the_formulas_of_torch(traced, *inputs):
    """A user-defined mode, which looks up the formula of each operator in torch's registry."""
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
            found[outermost(node)] += mode.flops
            return value

    with torch.no_grad():
        Flops(traced).run(*inputs)
    return {name: flops for name, flops in found.items() if flops or name}


@right
def a_loop_of_its_own(traced, *inputs):
    """Nodes run by hand, with gradients; FLOPs as tensors."""
    runner = fx.Interpreter(traced)
    runner.args_iter, runner.env, found = iter(inputs), {}, {}
    for node in traced.graph.nodes:
        with FlopCounterMode(display=False) as counter:
            runner.env[node] = runner.run_node(node)
        found[outermost(node)] = found.get(outermost(node), torch.tensor(0)) + counter.get_total_flops()
    return found


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
    runner.run(*inputs)
    groups = sorted({outermost(node) for node in flops})
    return {group: sum(flops[node] for node in flops if outermost(node) == group) for group in groups}


@breaks("the name of each outermost submodule", case=SHARED)
@wrong("each_module_its_flops", says=f"({SHARED}): `block` does")
def from_the_innermost_name(traced, *inputs):
    """A layer in two modules has the name of one of them."""
    return grouped(traced, inputs, lambda node: paths(node)[-1].partition(".")[0])


@breaks("each `nn_module_stack` begins with the root", case=DIRECT)
@wrong("each_module_its_flops", says='your answer has none for it: it counts all FLOPs under the root, `""`.')
def takes_the_first_entry(traced, *inputs):
    """In a graph from torch.export, that is the root."""
    return grouped(traced, inputs, lambda node: paths(node)[0].partition(".")[0])


@breaks("is an attribute of the root:", case=TWICE)
@wrong("each_module_its_flops", says=f"({TWICE}): `mix@1` is not the name")
def reads_the_key(traced, *inputs):
    return grouped(traced, inputs, lambda node: next(iter(node.meta.get("nn_module_stack") or {"": 0})))


@wrong("ends well", says="raises RuntimeError: nn_module_stack")
def expects_a_stack(traced, *inputs):
    return grouped(traced, inputs, lambda node: next(iter(node.meta["nn_module_stack"].values()))[0])


@breaks('`"stem"`, `"body"`.', case=NETWORK)
@wrong("each_module_its_flops", says="`conv2d` is not the name")
def by_operation(traced, *inputs):
    with FlopCounterMode(display=False) as counter:
        traced(*inputs)
    return {"conv2d": counter.get_total_flops()}


@breaks("a dict that maps", case=NETWORK)
@wrong("each_module_its_flops", says="a number of FLOPs")
def only_the_total(traced, *inputs):
    return sum(grouped(traced, inputs, str).values())


@breaks("Work done in the root", case=TWICE)
@wrong("each_module_its_flops", says='the root (`""`) itself does')
def leaves_the_root_out(traced, *inputs):
    return {name: flops for name, flops in grouped(traced, inputs, outermost).items() if name}


@breaks("the FLOPs done inside it", case=DIRECT)
@wrong("each_module_its_flops", says="several inputs): `mix` does ")
def leaves_out_what_has_no_users(traced, *inputs):
    return grouped(traced, inputs, lambda node: outermost(node) if node.users else "")


@wrong(
    "ends well",
    says=f"({DIRECT})",
    read="07_placeholder#runtimeerror-expected-positional-argument-for-parameter-mask-but-one-was-not-passed-in",
)
def passes_the_first_input_alone(traced, *inputs):
    return grouped(traced, inputs[:1], outermost)
