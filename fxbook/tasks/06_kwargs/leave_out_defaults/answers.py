"""Answers to 06-leave-out-defaults."""

import copy
import inspect

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

FROZEN = "06_kwargs#both-are-frozen-assign"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"


def calls_python(node):
    return node.op == "call_function" and inspect.isfunction(node.target)


def leave_out(node, function):
    known = inspect.signature(function).parameters
    node.kwargs = {k: v for k, v in node.kwargs.items() if k not in known or known[k].default != v}


@right
def deletes_from_a_copy(traced):
    for node in traced.graph.nodes:
        if node.op == "call_function" and inspect.isfunction(node.target):
            parameters, kept = inspect.signature(node.target).parameters, dict(node.kwargs)
            for name in node.kwargs:
                if name in parameters and kept[name] == parameters[name].default:
                    del kept[name]
            node.kwargs = kept
    traced.recompile()


@breaks("the calls to C functions", case="functions of every kind")
@wrong("others_kept", node="step_27", says="has lost `start`, but does not call a Python function", read=FROZEN)
def tries_every_signature(traced):
    for node in traced.graph.nodes:
        if node.op != "call_function":
            continue
        try:
            parameters = inspect.signature(node.target).parameters
        except ValueError:
            continue
        defaults = {name: parameter.default for name, parameter in parameters.items()}
        node.kwargs = {k: v for k, v in node.kwargs.items() if k not in defaults or v != defaults[k]}
    traced.recompile()


@right
def binds_the_parameters(traced):
    for node in filter(calls_python, traced.graph.nodes):
        signature = inspect.signature(node.target)
        for name in list(node.kwargs):
            without = {key: value for key, value in node.kwargs.items() if key != name}
            try:
                bound = signature.bind(*node.args, **without)
            except TypeError:  # It has no default.
                continue
            bound.apply_defaults()
            if name in bound.arguments and bound.arguments[name] == node.kwargs[name]:
                node.kwargs = without
    traced.recompile()


@right
def reads_the_defaults_off_the_function(traced):
    """From `__kwdefaults__`, and from `__defaults__` with the names in `__code__`."""
    for node in traced.graph.nodes:
        if node.op != "call_function" or not hasattr(node.target, "__code__"):
            continue
        function = inspect.unwrap(node.target)
        code, last = function.__code__, function.__defaults__ or ()
        names = code.co_varnames[: code.co_argcount]
        defaults = dict(zip(names[len(names) - len(last) :], last, strict=True)) | (function.__kwdefaults__ or {})
        node.kwargs = {k: v for k, v in node.kwargs.items() if k not in defaults or defaults[k] != v}
    traced.graph.lint()
    traced.recompile()


@right
def goes_through_the_calls_with_an_interpreter(traced):
    class Leaving(fx.Interpreter):
        def run_node(self, n):
            if calls_python(n):
                leave_out(n, n.target)

    Leaving(traced).run(*[None for _ in traced.graph.find_nodes(op="placeholder")])
    traced.recompile()


@breaks("and no others.", case="functions of every kind")
@wrong("others_kept", node="step_12", says="has lost `shift`, whose value is not the default.", read=FROZEN)
def removes_every_none(traced):
    for node in filter(calls_python, traced.graph.nodes):
        leave_out(node, node.target)
        node.kwargs = {
            k: v for k, v in node.kwargs.items() if v is not None or k not in inspect.signature(node.target).parameters
        }
    traced.recompile()


@breaks("Remove such keywords from every call to a Python function:", case="functions of every kind")
@wrong("no_default_left", node="step_6", says="node `step_6` still has `factor`, whose value is the default.")
def reads_the_arguments_of_a_decorator(traced):
    """`inspect.getfullargspec` does not look behind a decorator."""
    for node in filter(calls_python, traced.graph.nodes):
        spec = inspect.getfullargspec(node.target)
        last = spec.defaults or ()
        defaults = dict(zip(spec.args[len(spec.args) - len(last) :], last, strict=True)) | (spec.kwonlydefaults or {})
        node.kwargs = {k: v for k, v in node.kwargs.items() if k not in defaults or defaults[k] != v}
    traced.recompile()


@breaks("Do not change the calls to C functions", "methods or layers.", case="functions of every kind")
@wrong("others_stay", says="node `step_1` is gone, but should have stayed: `self.project(x)`")
def erases_calls_without_users(traced):
    for node in filter(calls_python, traced.graph.nodes):
        leave_out(node, node.target)
    traced.graph.eliminate_dead_code()
    traced.recompile()


@breaks("Their signatures have no parameter with the keyword's name.", case="functions of every kind")
@wrong("others_kept", node="step_18", says="has lost `stride`, whose value is not the default", read=FROZEN)
def drops_what_the_signature_does_not_have(traced):
    for node in filter(calls_python, traced.graph.nodes):
        known = inspect.signature(node.target).parameters
        node.kwargs = {k: v for k, v in node.kwargs.items() if k in known and known[k].default != v}
    traced.recompile()


@breaks("or layers.", case="functions of every kind")
@wrong("others_kept", node="step_10", says="has lost `output_size`, but calls a layer", read=FROZEN)
def changes_layers_too(traced):
    for node in traced.graph.nodes:
        function = traced.get_submodule(node.target).forward if node.op == "call_module" else node.target
        if node.op == "call_module" or calls_python(node):
            leave_out(node, function)
    traced.recompile()


@breaks("Do not change `args`.", case="functions of every kind")
@wrong("others_kept", node="step_12", says="node `step_12` has lost a positional argument")
def removes_positional_arguments_too(traced):
    for node in filter(calls_python, traced.graph.nodes):
        leave_out(node, node.target)
        defaults = [parameter.default for parameter in inspect.signature(node.target).parameters.values()]
        while 0 < len(node.args) <= len(defaults) and defaults[len(node.args) - 1] == node.args[-1]:
            node.args = node.args[:-1]
    traced.recompile()


@breaks("whose value equals (`==`) the default of its parameter", case="functions of every kind")
@wrong("no_default_left", node="step_6", says="node `step_6` still has `factor`, whose value is the default.")
def compares_texts(traced):
    for node in filter(calls_python, traced.graph.nodes):
        known = inspect.signature(node.target).parameters
        node.kwargs = {k: v for k, v in node.kwargs.items() if k not in known or str(known[k].default) != str(v)}
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    for node in filter(calls_python, traced.graph.nodes):
        leave_out(node, node.target)


@wrong("same_result", node="dropout", says="Running the result raises TypeError: dropout(): argument 'train'")
def sets_them_to_none(traced):
    """For many parameters, `None` means the default, but not for `training`."""
    for node in filter(calls_python, traced.graph.nodes):
        for name, parameter in inspect.signature(node.target).parameters.items():
            if name in node.kwargs and node.kwargs[name] == parameter.default:
                node.update_kwarg(name, None)
    traced.recompile()


@wrong("lints", node="sub", says="The graph is broken: node `sub` uses relu_1 before it is defined.", read=NO_ANCHOR)
def makes_new_calls_without_an_anchor(traced):
    for node in list(filter(calls_python, traced.graph.nodes)):
        new = traced.graph.call_function(node.target, node.args, node.kwargs)
        leave_out(new, new.target)
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
    traced.recompile()


@breaks("Edit `traced` in place.", case="four activations")
@wrong("given_edited", says="You edited a copy: the module that you were given is unchanged.")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    deletes_from_a_copy(traced)
    return traced
