"""Answers to 07-must-be-passed: the parameters that every call must pass."""

import ast
import inspect
import itertools
import re

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
def matches_the_node(traced):
    found = []
    for node in traced.graph.nodes:
        match node.op, node.args, node.target:
            case "placeholder", (), name if not name.startswith("*"):
                found.append(name)
    return found


@right
def runs_the_placeholders_alone(traced):
    """An interpreter hands each placeholder its target and its default."""
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
def transforms_it_and_throws_the_copy_away(traced):
    found = {}

    class Noting(fx.Transformer):
        def placeholder(self, target, args, kwargs):
            found[target] = len(args)
            return super().placeholder(target, args, kwargs)

    Noting(traced).transform()
    return [name for name, defaults in found.items() if defaults == 0 and "*" not in name]


@right
def parses_the_generated_code(traced):
    (function,) = ast.parse(traced.code.strip()).body
    names = [argument.arg for argument in function.args.args]
    return names[1 : len(names) - len(function.args.defaults)]


@right
def subtracts_what_has_a_default(traced):
    spec = inspect.getfullargspec(traced.forward)
    optional = spec.args[::-1][: len(spec.defaults or ())]
    return [name for name in spec.args if name not in ["self", *optional]]


@right
def leaves_out_one_after_the_other(traced):
    """Without a parameter that has to be passed, the others do not fit the signature."""
    signature = inspect.signature(traced.forward)
    named = [name for name, one in signature.parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]

    def fits_without(left_out):
        try:
            signature.bind(**{name: None for name in named if name != left_out})
        except TypeError:
            return False
        return True

    return list(itertools.filterfalse(fits_without, named))


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks("every call must pass", case="the model of the chapter")
@wrong("names_required", says="`names` is in the list: its default is `None`", read=SIGNATURE)
def takes_none_for_no_default(traced):
    return [node.target for node in inputs(traced) if not node.args or node.args[0] is None]


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


@wrong(
    "names_required",
    says="(parameters with the names of builtins): `unread` is not in the list: a call that leaves it out fails",
    read=SIGNATURE,
)
def leaves_out_what_nobody_reads(traced):
    return [n.target for n in inputs(traced) if n.users and not n.args and not n.target.startswith("*")]


@breaks("A starred parameter takes any number of values, so a call may pass none.", case="starred parameters")
@wrong("names_required", says="`*others` is in the list: `*others` takes any number of values", read=SIGNATURE)
def keeps_starred_inputs(traced):
    return [node.target for node in inputs(traced) if not node.args]


@wrong("names_required", says="`others` is in the list: `*others` takes any number of values", read=SIGNATURE)
def strips_the_stars(traced):
    return [node.target.lstrip("*") for node in inputs(traced) if not node.args]


@breaks("Use the names that callers write.", case="parameters with the names of builtins")
@wrong(
    "names_required",
    says="`input_1` is in the list: that is the name of a node, and callers pass `input`",
    read="01_node_creation#name-and-target-of-a-placeholder",
)
def returns_names_of_nodes(traced):
    return [node.name for node in inputs(traced) if not node.args and not node.target.startswith("*")]


@wrong("names_required", says="(parameters that begin with `_`): `_rows` is not in the list", read=SIGNATURE)
def takes_an_underscore_for_a_star(traced):
    return [node.target for node in inputs(traced) if not node.args and not node.name.startswith("_")]


@wrong(
    "names_required",
    says="(starred parameters): `rows` is in the list",
)
def knows_the_model(traced):
    return ["rows", "mask"]


@breaks("every call must pass", case="an input that comes after a step")
@wrong("names_required", says="(an input that comes after a step): `unread` is not in the list", read=SIGNATURE)
def stops_at_the_first_step(traced):
    first = itertools.takewhile(lambda node: node.op == "placeholder", traced.graph.nodes)
    return [node.target for node in first if not node.args and not node.target.startswith("*")]


@wrong("names_required", says="The answer holds nodes: a list of the names of parameters was asked")
def returns_nodes(traced):
    return [node for node in inputs(traced) if not node.args]


@breaks("Return a list of the names", case="the model of the chapter")
@wrong("names_required", says="The answer is a set: a list of names, as texts, was asked")
def returns_a_set(traced):
    return {node.target for node in inputs(traced) if not node.args}


@breaks("in their order.", case="the model of the chapter")
@wrong("names_required", says="in another order: `rows` comes before `mask` in the signature")
def sorts_the_names(traced):
    return sorted(asks_the_compiled_signature(traced))


@wrong("names_required", says="`rows` is in the list 2 times: each name once was asked")
def adds_a_name_for_each_user(traced):
    return [node.target for node in inputs(traced) if not node.args for _ in node.users or [None]]


@wrong("names_required", says="The answer holds something else: a list of names, as texts, was asked")
def returns_pairs(traced):
    return [(node.target, node.type) for node in inputs(traced) if not node.args]


@wrong("input_unchanged", says="The model that was given has been changed: its graph was edited, at node `names`")
def erases_what_has_a_default(traced):
    for node in inputs(traced):
        if node.args and not node.users:
            traced.graph.erase_node(node)
    return asks_the_compiled_signature(traced)


@breaks("Use the names that callers write.", case="starred parameters")
@wrong("names_required", says="(starred parameters): `args` is in the list, and is no input of the graph")
def cuts_numbers_off_the_names_of_nodes(traced):
    """The name may have been a parameter's own."""
    plain = [node for node in inputs(traced) if not node.args and not node.target.startswith("*")]
    return [re.sub(r"_\d+$", "", node.name) for node in plain]


@wrong("names_required", says="(starred parameters): `args_1` is not in the list", read=SIGNATURE)
def takes_args_for_a_star(traced):
    plain = [node for node in inputs(traced) if not node.args and not node.target.startswith("*")]
    return [node.target for node in plain if "args" not in node.target]
