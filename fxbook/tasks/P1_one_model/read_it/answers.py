"""Answers to P1-read-it: a graph of the network in eval mode, with copies of its weights."""

import copy
import inspect

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

MODE = "when_it_breaks/05_control_flow_limits#train-and-eval-change-nothing"
SHARED = "00_first_graph#what-the-two-modules-share"


def traced_with(model, features=False):
    return fx.symbolic_trace(model, concrete_args={"features": features})


def nodes_of_flag(traced):
    """The placeholder of the flag, and all nodes that use it directly or through others."""
    found = list(traced.graph.find_nodes(op="placeholder", target="features_1"))
    for node in found:
        found.extend(node.users)
    return found


def without_flag(traced, compile_it=True):
    for node in reversed(nodes_of_flag(traced)):
        traced.graph.erase_node(node)
    if compile_it:
        traced.recompile()
    return traced


@right
def copies_then_traces(model):
    return without_flag(traced_with(copy.deepcopy(model).eval()))


@right
def writes_a_forward_without_the_flag(model):
    used = copy.deepcopy(model).eval()
    forward = type(used).forward
    others = [one for name, one in inspect.signature(forward).parameters.items() if name != "features"]
    names, own = [one.name for one in others], {}
    passed = ", ".join(f"{name}={name}" for name in names)
    exec(f"def short({', '.join(names)}): return forward({passed}, features=False)", {"forward": forward}, own)
    own["short"].__defaults__ = tuple(one.default for one in others if one.default is not one.empty)
    used.__class__ = type("Used", (type(used),), {"forward": own["short"]})
    return fx.symbolic_trace(used)


class WithoutFlag(fx.Transformer):
    """Copies every node except those of the flag."""

    def __init__(self, traced):
        super().__init__(traced)
        self.of_flag = nodes_of_flag(traced)

    def run_node(self, node):
        return None if node in self.of_flag else super().run_node(node)


@right
def transforms_the_trace(model):
    return WithoutFlag(traced_with(copy.deepcopy(model).eval())).transform()


@right
def builds_the_module_of_a_tracer(model):
    used = copy.deepcopy(model)
    for module in used.modules():
        module.train(False)
    graph = fx.Tracer().trace(used, concrete_args={"features": False})
    return without_flag(fx.GraphModule(used, graph))


@breaks(
    "and so does the mode of each of its layers:",
    "training continues afterwards.",
    case="a frozen norm, an assertion, a loop",
)
@wrong("input_unchanged", says="Your answer works for the model you know, but not ")
def restores_only_the_modes_of_children(model):
    modes = {child: child.training for child in model.children()}
    traced = copy.deepcopy(without_flag(traced_with(model.eval())))
    model.train()
    for child, training in modes.items():
        child.train(training)
    return traced


@breaks("a checkpoint of the model still fits.", case="the network of the project")
@wrong("names_kept", says="a checkpoint of the model does not fit", read=SHARED)
def deletes_the_layers_without_users(model):
    traced = copies_then_traces(model)
    traced.graph.eliminate_dead_code()
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced


@breaks("The result has copies of the weights and buffers,", case="the network of the project")
@wrong("apart_from_the_model", says="shares its memory with the model", read=SHARED)
def shares_memory_with_the_model(model):
    used = copy.deepcopy(model).eval()
    for own, other in zip(used.parameters(), model.parameters(), strict=True):
        own.data = other.data
    return without_flag(traced_with(used))


@breaks("computes what `model` computes in eval mode", case="the network of the project")
@wrong("branch_of_training", node="output", says="returns 2 values, as the model does in training mode", read=MODE)
def traces_in_training_mode(model):
    return without_flag(traced_with(copy.deepcopy(model)))


@breaks("in eval mode", case="the network of the project")
@wrong("layer_in_training", node="norm", says="does not compute what it computes in eval mode", read=MODE)
def puts_the_result_into_training_mode(model):
    return copies_then_traces(model).train()


@breaks("The result has copies of the weights and buffers,", case="the network of the project")
@wrong("same_result", node="output", says="holds different numbers")
def traces_a_new_model_of_the_class(model):
    return without_flag(traced_with(type(model)().eval()))


@breaks("fixed at `False`.", case="a frozen norm, an assertion, a loop")
@wrong("branch_of_the_flag", node="output", says="returns what the model returns with `features=True`")
def fixes_the_flag_at_its_default(model):
    default = inspect.signature(model.forward).parameters["features"].default
    return without_flag(traced_with(copy.deepcopy(model).eval(), features=default))


@breaks("The flag is gone:", "it is not an input,", case="the network of the project")
@wrong("flag_is_gone", node="features_1", says="is an input for the flag `features`")
def relies_on_dead_code(model):
    traced = traced_with(copy.deepcopy(model).eval())
    traced.graph.eliminate_dead_code()
    traced.recompile()
    return traced


@breaks("The checks that the model itself makes with `torch._assert` stay.", case="a frozen norm, an assertion, a loop")
@wrong("own_checks_stay", says="the check that the model makes with `torch._assert` is gone")
def erases_every_assertion(model):
    traced = traced_with(copy.deepcopy(model).eval())
    for node in reversed(traced.graph.nodes):
        checks = getattr(node.target, "__name__", "") in ("_assert", "_assert_is_none", "eq")
        if (checks or node.target == "features_1") and not node.users:
            traced.graph.erase_node(node)
    traced.recompile()
    return traced


@breaks("The other inputs stay, used or unused,", case="a frozen norm, an assertion, a loop")
@wrong("other_inputs_stay", says="input 3 of the result should be `std`")
def erases_every_input_without_users(model):
    traced = copies_then_traces(model)
    for node in traced.graph.find_nodes(op="placeholder"):
        if not node.users:
            traced.graph.erase_node(node)
    traced.recompile()
    return traced


@breaks("under the qualified names that they have in `model`.", case="the network of the project")
@wrong("names_kept", says="but the model has no weight of this name", read=SHARED)
def traces_a_wrapper(model):
    class Wrapper(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = copy.deepcopy(model).eval()

    has_default = "mask" not in type(model).forward.__annotations__

    class Short(Wrapper):
        def forward(self, images, mean, std=1.0):
            return self.model(images, mean, std)

    class Long(Wrapper):
        def forward(self, images, mean, std, mask=None):
            return self.model(images, mean, std, mask=mask)

    return fx.symbolic_trace(Short() if has_default else Long())


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(model):
    return without_flag(traced_with(copy.deepcopy(model).eval()), compile_it=False)


@wrong("lints", node="sub", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def moves_the_inputs_to_the_end(model):
    traced = copies_then_traces(model)
    [output] = traced.graph.find_nodes(op="output")
    for node in traced.graph.find_nodes(op="placeholder"):
        output.prepend(node)
    return traced
