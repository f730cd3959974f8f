"""Answers to 07-must-be-passed: the parameters that every call must pass."""

import ast
import inspect
import itertools
import re
import typing

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

SIGNATURE = "07_placeholder#the-signature-makes-the-placeholders"


def inputs(traced):
    return traced.graph.find_nodes(op="placeholder")


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def asks_the_compiled_signature(traced):
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(traced.forward).parameters.values()
    return [one.name for one in parameters if one.kind not in starred and one.default is one.empty]


@right
class LeavesOutOneKindAfterTheOther:
    def __call__(self, traced):
        names = {node.target: node.args for node in traced.graph.nodes if node.op == "placeholder"}
        names = {name: args for name, args in names.items() if name[0] != "*"}
        return tuple(name for name, args in names.items() if len(args) == 0)


@right
def runs_the_placeholders_alone(traced):
    found = []

    class Listing(fx.Interpreter):
        def run_node(self, node):
            return super().run_node(node) if node.op == "placeholder" else None

        def placeholder(self, target, args, kwargs):
            if args == () and target.lstrip("*") == target:
                found.append(target)

    Listing(traced).run()
    return found


@right
def parses_the_generated_code(traced):
    (function,) = ast.parse(traced.code.strip()).body
    names = [argument.arg for argument in function.args.args]
    return names[1 : len(names) - len(function.args.defaults)]


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("every call must pass", case="defaults that count as false")
@wrong(
    "names_required",
    says="(defaults that count as false): `shift` is in the list: its default is `0.0`, so a caller may leave it out",
    read=SIGNATURE,
)
def asks_whether_the_default_is_true(traced):
    plain = [node for node in inputs(traced) if not node.target.startswith("*")]
    return [node.target for node in plain if not any(one is None or one for one in node.args)]


@breaks("the parameters that every call must pass", case="the model of the chapter")
@wrong("names_required", says="`sharpness` is in the list: its default is `1.0`", read=SIGNATURE)
def returns_every_input(traced):
    return [node.target for node in inputs(traced)]


@breaks("A starred parameter takes any number of values, so a call may pass none.", case="starred parameters")
@wrong("names_required", says="`*others` is in the list: `*others` takes any number of values", read=SIGNATURE)
def keeps_starred_inputs(traced):
    return [node.target for node in inputs(traced) if not node.args]


@breaks("Give the names that callers use.", case="parameters with the names of builtins")
@wrong(
    "names_required",
    says="`input_1` is in the list: that is the name of the node, but callers pass `input`",
    read="01_node_creation#name-and-target-of-a-placeholder",
)
def returns_names_of_nodes(traced):
    return [node.name for node in inputs(traced) if not node.args and not node.target.startswith("*")]


@wrong("names_required", says="(parameters that begin with `_`): `_rows` is not in the list", read=SIGNATURE)
def takes_an_underscore_for_a_star(traced):
    return [node.target for node in inputs(traced) if not node.args and not node.name.startswith("_")]


@breaks("that every call must pass", case="parameters that begin with `_`")
@wrong("names_required", says="(parameters that begin with `_`): `_unread` is not in the list", read=SIGNATURE)
def takes_none_in_the_annotation_for_a_default(traced):
    plain = [node for node in inputs(traced) if not node.args and not node.target.startswith("*")]
    return [node.target for node in plain if type(None) not in typing.get_args(node.type)]


@breaks("Return a list of the names", case="parameters that begin with `_`")
@wrong("names_required", says="(parameters that begin with `_`): `typing_Any]", read=SIGNATURE)
def splits_the_signature_at_commas(traced):
    signature = re.search(r"def forward\(self(.*)\)(?: ->.*)?:", traced.code).group(1)
    parts = [part.split(":")[0].strip() for part in signature.split(",") if "=" not in part and "*" not in part]
    return [part for part in parts if part]


@breaks("every call must pass", case="an input that comes after a step")
@wrong("names_required", says="(an input that comes after a step): `unread` is not in the list", read=SIGNATURE)
def stops_at_the_first_step(traced):
    first = itertools.takewhile(lambda node: node.op == "placeholder", traced.graph.nodes)
    return [node.target for node in first if not node.args and not node.target.startswith("*")]


@breaks("names of the parameters", case="defaults that count as false")
@wrong("names_required", says="`gain` is in the list, but is not an input of the graph", read=SIGNATURE)
def takes_every_node_without_arguments(traced):
    plain = [node for node in traced.graph.nodes if not node.args and node.op != "call_function"]
    return [node.target for node in plain if not node.target.startswith("*")]


@breaks("Return a list of the names", case="the model of the chapter")
@wrong("names_required", says="The answer is a set: return a list of strings")
def returns_a_set(traced):
    return {node.target for node in inputs(traced) if not node.args}


@breaks("in the order of the signature.", case="the model of the chapter")
@wrong("names_required", says="but their order is not: `rows` comes before `mask` in the signature")
def sorts_the_names(traced):
    return sorted(asks_the_compiled_signature(traced))


@wrong("input_unchanged", says="The model that was given has been changed: its graph was edited, at node `names`")
def erases_what_has_a_default(traced):
    for node in inputs(traced):
        if node.args and not node.users:
            traced.graph.erase_node(node)
    return asks_the_compiled_signature(traced)
