"""What the exercises of chapter 00 demand: of names that were read off a graph, and of targets that were changed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, KeysView
from typing import Any

from torch import fx, nn

from fxbook.asking.families import GELU, LINEAR, RELU, Family, family
from fxbook.asking.predicates import calls
from fxbook.asking.rule import Violation
from fxbook.asking.values import Value
from fxbook.asking.view import CaseView
from fxbook.checks.models_00 import NamedRelu, Residual
from fxbook.graph.record import JSON, GraphRecord, NodeRecord

LEAKY_RELU = family("leaky_relu", modules=(nn.LeakyReLU,)).called("leaky_relu, which was to stay")
RELU_MODULE = Family("the submodule `relu`, which is to stay", modules=RELU.modules)


# ---- in the learner's half -------------------------------------------------------------------------------------------


def what_it_lists(answer: Any, *arguments: Any) -> Any:
    """What the answer returns; the keys of a dict and what a generator gives as a list."""
    returned = _made(answer)(*arguments)
    return list(returned) if isinstance(returned, KeysView | dict | Iterator) else returned


def answer_and_traces(answer: Any, model: nn.Module) -> tuple[Any, list[str], list[str]]:
    """What the answer returns, the names of what the model holds afterwards, and of its parameters with a gradient."""
    returned = _made(answer)(model)
    with_gradient = [name for name, parameter in model.named_parameters() if parameter.grad is not None]
    return returned, sorted(vars(model)), with_gradient


def _made(answer: Any) -> Callable[..., Any]:
    return answer() if inspect.isclass(answer) else answer


# ---- lists of names --------------------------------------------------------------------------------------------------


def names_in(value: Value, nodes: bool = False) -> list[str] | Violation:
    """What the answer returned, as names: a list, tuple or set of strings, or of nodes where these will do."""
    match value:
        case list(items) | {"tuple": list(items)} | {"set": list(items)}:
            names = [item["node"] if nodes and isinstance(item, dict) and "node" in item else item for item in items]
            wrong = next((name for name in names if not isinstance(name, str)), None)
            if all(isinstance(name, str) for name in names):
                return names
            return Violation(f"The answer holds {kind_of(wrong)}: a list of names was asked.")
    return Violation(f"The answer is {kind_of(value)}: a list of names was asked.")


def kind_of(value: Value) -> str:
    """What an answer returned, in words."""
    match value:
        case None:
            return "None"
        case str():
            return "a text"
        case int() | {"float": _}:
            return "a number"
        case {"tensor": _}:
            return "a tensor"
        case {"node": _}:
            return "a node"
        case {"function": str(name)}:
            return f"the function {name}"
        case {"opaque": str(name)}:
            return f"an object of class {name}"
        case _:
            return "something else"


def layers_in_order(case: CaseView) -> Violation | None:
    """The answer is the targets of the ``call_module`` nodes, in list order."""
    found = names_in(case.value)
    if isinstance(case.value, dict) and "set" in case.value:
        return Violation("The answer is a set, which has no order: a list was asked.")
    if isinstance(found, Violation):
        return found
    asked = [node.target for node in case.before if node.op == "call_module"]
    strange = next((place for place, name in enumerate(found) if name not in asked), None)
    if strange is not None:
        return Violation(_no_layer(case, strange, found[strange]))
    for name in dict.fromkeys(asked):
        given, made = found.count(name), asked.count(name)
        if not given:
            return Violation(f"`{name}` is not in the answer: the model calls it.")
        if given != made:
            return Violation(f"`{name}` stands in the answer {_times(given)}: the model calls it {_times(made)}.")
    for place, (name, right) in enumerate(zip(found, asked, strict=True)):
        if name != right:
            return Violation(f"Item {place} of the answer is `{name}`: the model calls another submodule there.")
    return None


def _no_layer(case: CaseView, place: int, name: str) -> str:
    """What is wrong with an item that names no submodule that is called."""
    modules = dict(case.model.named_modules())
    node = next((node for node in case.before if name in (node.name, node.target)), None)
    if name and name in modules:
        if any(child.startswith(f"{name}.") for child in modules):
            return f"Item {place} of the answer is `{name}`, a container, which counts as no call."
        return f"`{name}` is in the answer, but `forward` never calls it."
    if node and node.op == "call_module":
        return f"Item {place} of the answer is `{name}`, the name of the node; the path is its target."
    if node:
        return f"`{name}` is in the answer, but a `{node.op}` calls it: it is no submodule."
    return f"`{name}` is in the answer, but the model has no submodule of that name."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def readers(case: CaseView) -> Violation | None:
    """The answer names the nodes that read the node asked about, each once, in any order."""
    _, name = case.arguments
    found = names_in(case.value, nodes=True)
    if isinstance(found, Violation):
        return found
    graph = case.before
    read = graph.named(name)
    assert read
    asked = [graph.nodes[user] for user in read.users]
    if not found and read.target != name and any(reader.op != "output" for reader in asked):
        return Violation(f"The answer is empty: `{name}` is the name of a node, its target is `{read.target}`.")
    wrong = next((other for other in found if other not in [reader.name for reader in asked]), None)
    if wrong is not None:
        return Violation(f"`{wrong}` is in the answer{_no_reader(graph, read, wrong)}.")
    if twice := _twice(found):
        return twice
    missing = next((reader for reader in asked if reader.name not in found), None)
    if missing:
        return Violation(f"`{missing.name}` reads `{name}`{_where(missing, read.index)}, and is not in the answer.")
    return None


def _no_reader(graph: GraphRecord, read: NodeRecord, wrong: str) -> str:
    node = graph.named(wrong)
    if node is None:
        return ", but no node has that name"
    if node.index in read.inputs:
        return f": it is what `{read.name}` reads"
    return f", but does not read `{read.name}` itself"


def _where(reader: NodeRecord, read: int) -> str:
    """How a reader reads, where a search could miss it."""
    direct = reader.args.get("tuple", []) if isinstance(reader.args, dict) else reader.args
    if {"node": read} in direct:
        return ""
    return ", inside a list" if _holds(reader.args, read) else ", by name"


def _holds(value: JSON, index: int) -> bool:
    if value == {"node": index}:
        return True
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_holds(item, index) for item in items)


def unused_parameters(case: CaseView) -> Violation | None:
    """The answer names the parameters that no call reaches, each once, in any order."""
    asked = never_reached(case.model)
    found = names_in(case.value["tuple"][0])
    if isinstance(found, Violation):
        return found
    if set(found) >= {name for name, _ in case.model.named_parameters()}:
        return Violation("All parameters are listed: do you compare a copy with the original?")
    wrong = next((name for name in found if name not in asked), None)
    if wrong is not None:
        return Violation(f"`{wrong}` is in the answer, but {_no_unused(case, wrong)}.")
    if twice := _twice(found):
        return twice
    missing = next((name for name in asked if name not in found), None)
    return Violation(f"`{missing}` is unused, and is not in the answer.") if missing else None


def never_reached(model: nn.Module) -> list[str]:
    """The names of the parameters that no node of its trace fetches and no submodule that is called holds."""
    held_as = dict(model.named_parameters(remove_duplicate=False))
    reached = set()
    for node in fx.symbolic_trace(model).graph.nodes:
        if node.op == "call_module":
            reached |= {id(held) for held in model.get_submodule(node.target).parameters()}
        elif node.op == "get_attr":
            reached.add(id(held_as.get(node.target)))
    return [name for name, held in model.named_parameters() if id(held) not in reached]


def _no_unused(case: CaseView, name: str) -> str:
    named = dict(case.model.named_parameters(remove_duplicate=False))
    if name not in named:
        return "is not the name of a parameter of the model"
    if sum(parameter is named[name] for parameter in named.values()) > 1:
        return "the parameter is stored under another name too, which is used"
    node = next((node for node in case.before if node.target in (name, name.rpartition(".")[0])), None)
    return f"a `{node.op}` {'fetches it' if node.op == 'get_attr' else 'uses it'}" if node else "is used"


def _twice(found: list[str]) -> Violation | None:
    twice = next((name for name in found if found.count(name) > 1), None)
    return Violation(f"`{twice}` is in the answer more than once.") if twice is not None else None


def nothing_stored(case: CaseView) -> Violation | None:
    """The model has no attribute that it did not have, not even a constant that the tracer put there."""
    held = case.value["tuple"][1]
    new = next((name for name in held if name not in vars(case.model)), None)
    return Violation(f"The model that was given has a new attribute, `{new}`.") if new else None


def no_gradient(case: CaseView) -> Violation | None:
    """No parameter of the model has a gradient: none had one before."""
    filled = case.value["tuple"][2]
    return Violation(f"The model that was given has been changed: `{filled[0]}` has a gradient.") if filled else None


# ---- targets that were changed ---------------------------------------------------------------------------------------


def target_fits_op(case: CaseView) -> Violation | None:
    """What a node calls is of the kind that its opcode says; told before ``lint``, which speaks of types."""
    for node in case.nodes:
        if node.op == "call_method" and "." in node.target:
            message = f"Node `{node.name}` is a `call_method`, but its target is a function, not the name of a method."
            anchor = "valueerror-node-relu-target--has-type--but-a-str-is-expected"
            return Violation(message, node.index, f"00_first_graph#{anchor}")
        if node.op == "call_module" and node.kind is None:
            message = (
                f"Node `{node.name}` is a `call_module`: its target is a path, and no submodule is at `{node.target}`."
            )
            return Violation(message, node.index, "00_first_graph#six-opcodes-are-enough")
    return None


def submodule_stays(case: CaseView) -> Violation | None:
    """The submodule that is called ``relu`` is still called."""
    return calls(RELU_MODULE)(case) if isinstance(case.model, NamedRelu) else None


def leaky_stays(case: CaseView) -> Violation | None:
    """The one function whose name ends in relu and which is not ReLU is still called."""
    return calls(LEAKY_RELU)(case) if isinstance(case.model, Residual) else None


def layers_stay(case: CaseView) -> Violation | None:
    """Each linear layer of the model is still called, whatever its name."""
    called = {node.target for node in case.nodes if node.op == "call_module"}
    for node in case.before:
        if node in LINEAR and node.target not in called:
            return Violation(f"No node calls the layer `{node.target}`, which is no ReLU.")
    return None


def no_keyword_of_relu(case: CaseView) -> Violation | None:
    """No call of gelu has the keyword that tracing recorded for relu."""
    for node in case.nodes:
        if node in GELU and "inplace" in dict(node.kwargs["dict"]):
            message = f"Node `{node.name}` passes on the keyword `inplace`, which gelu does not take."
            return Violation(message, node.index, "00_first_graph#what-people-get-wrong")
    return None
