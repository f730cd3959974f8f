"""The lab edits like torch.fx: the same actions give the same graph, code, messages and numbers."""

from __future__ import annotations

import inspect
import itertools
import operator
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import fx, nn
from torch.overrides import TorchFunctionMode

from fxbook.drawing.layout import Layout, place
from fxbook.graph.record import record as record_graph
from fxbook.lab.data import FUNCTIONS, METHODS
from fxbook.lab.data import lab_data as data_of
from tests.lab.playing import NODE, PAGE, Player, play, same, variables

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node.js")


class Block(nn.Module):
    """All six opcodes, a value used twice, a list of nodes, and a keyword."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.act, self.scale = nn.Linear(3, 3), nn.ReLU(), nn.Parameter(torch.tensor([0.5, -1.0, 2.0]))

    def forward(self, x, y):
        wide = self.act(self.up(x)) * self.scale
        both = torch.cat([wide, y.tanh()], dim=0)
        return torch.sin(input=both) + both + 1.5


class Small(nn.Module):
    def forward(self, x):
        hidden = torch.relu(x)
        return hidden.add(torch.neg(x)) + hidden


INPUTS = {"x": torch.tensor([[0.5, -1.25, 2.0]]).double(), "y": torch.tensor([[1.0, -0.5, 0.25]]).double()}


def example(which: int) -> fx.GraphModule:
    torch.manual_seed(which)
    return fx.symbolic_trace((Block, Small)[which]().double().eval())


def arguments(nodes: list[str]) -> st.SearchStrategy[Any]:
    node = st.sampled_from(nodes).map(lambda name: {"node": name})
    constant = st.sampled_from([2, 0, -1, {"float": 0.5}, {"float": 1e-5}, None, True, "text"])
    return st.one_of(node, node, node, st.lists(node, max_size=2), constant)


@st.composite
def an_action(draw: st.DrawFn, module: fx.GraphModule) -> dict[str, Any]:
    nodes = [node.name for node in module.graph.nodes]
    kinds = ["lint", "recompile", "run", "dead code", "make"]
    if nodes:
        kinds += ["create"] * 4 + ["target", "set", "replace", "replace", "input", "erase", "erase", "move", "move"]
    kind = draw(st.sampled_from(kinds))
    node = st.sampled_from(nodes) if nodes else None
    side = st.sampled_from(["before", "after"])
    if kind in ("make", "create"):
        op = draw(
            st.sampled_from(
                ["placeholder", "get_attr", "call_function", "call_function", "call_method", "call_module", "output"]
            )
        )
        targets = {
            "placeholder": ["x", "z", "scale", "input"],
            "get_attr": [name for name, _ in module.named_parameters()] or ["x"],
            "call_function": list(FUNCTIONS),
            "call_method": METHODS,
            "call_module": [name for name, child in module.named_modules() if name] or ["x"],
            "output": ["output"],
        }
        target = draw(st.sampled_from(targets[op]))
        if (op == "get_attr" or op == "call_module") and target == "x":
            op, target = "placeholder", "x"
        action = {"do": "create", "op": op, "target": target, "args": [], "kwargs": {}}
        if op not in ("placeholder", "get_attr"):
            if not nodes:
                action.update(op="placeholder", target="z")
            else:
                count = 1
                if op != "output" and target.split(".")[-1] in ("add", "sub", "mul", "truediv", "getitem", "_assert"):
                    count = 2
                action["args"] = [draw(arguments(nodes)) for _ in range(count)]
                if op == "call_method":
                    action["args"][0] = {"node": draw(node)}
                if op == "call_function" and target.startswith("torch.") and draw(st.booleans()):
                    if count == 2 and target != "torch._assert":
                        action["kwargs"] = {"other": action["args"].pop()}
                    elif target == "torch.nn.functional.relu":
                        action["kwargs"] = {"inplace": draw(st.booleans())}
        if kind == "create":
            action.update(where=draw(side), anchor=draw(node))
        return action
    if kind == "set":
        name = draw(node)
        found = next(one for one in module.graph.nodes if one.name == name)
        args = [draw(arguments(nodes)) for _ in found.args] if found.op != "placeholder" else []
        if found.op == "call_method":
            args[0] = {"node": draw(node)}
        return {
            "do": "set",
            "node": name,
            "args": args,
            "kwargs": {key: draw(arguments(nodes)) for key in found.kwargs},
        }
    if kind == "replace":
        old = draw(node)
        action = {"do": "replace", "old": old, "new": draw(node)}
        users = [user.name for one in module.graph.nodes if one.name == old for user in one.users]
        if users and draw(st.booleans()):
            action["only"] = draw(st.lists(st.sampled_from(users), min_size=1, unique=True))
        return action
    if kind == "input":
        return {"do": "input", "node": draw(node), "old": draw(node), "new": draw(node)}
    if kind == "target":
        known = {
            "call_function": list(FUNCTIONS),
            "call_method": METHODS,
            "call_module": [name for name, _ in module.named_modules() if name],
            "get_attr": [name for name, _ in module.named_parameters()],
        }
        called = [one for one in module.graph.nodes if known.get(one.op)]
        if not called:
            return {"do": "lint"}
        one = draw(st.sampled_from(called))
        return {"do": "target", "node": one.name, "target": draw(st.sampled_from(known[one.op]))}
    if kind == "erase":
        return {"do": "erase", "node": draw(node)}
    if kind == "move":
        return {"do": "move", "node": draw(node), "where": draw(side), "anchor": draw(node)}
    return {"do": kind}


def is_stale(module: fx.GraphModule) -> bool:
    try:
        return module.code != module.graph.python_code("self").src
    except IndexError:
        return True


class Watch(TorchFunctionMode):
    """Whether torch calls a function with two numbers and no tensor: it makes tensors of other dtypes."""

    seen = False

    def __torch_function__(self, called: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [*args, *(kwargs or {}).values()]
        if called in (torch.add, torch.sub, torch.mul) and all(isinstance(one, int | float) for one in given):
            self.seen = True
        return called(*args, **(kwargs or {}))


def is_called_with_numbers_alone(module: fx.GraphModule, inputs: dict[str, torch.Tensor]) -> bool:
    with Watch() as watch:
        module(**{name: inputs[name] for name in inspect.signature(module.forward).parameters})
    return watch.seen


def called_by(node: fx.Node, module: fx.GraphModule) -> str:
    base = re.sub(r"_\d+$", "", node.name)
    if node.op == "call_module":
        return type(module.get_submodule(node.target)).__name__
    if node.op == "call_function" and fx.Graph()._target_to_str(node.target) != base:
        return fx.Node._pretty_print_target(node.target)
    return f".{node.target}()" if node.op == "call_method" and node.target != base else ""


def layout_of(module: fx.GraphModule) -> Layout:
    """The layout of the book's drawing of the graph, with calls that differ from the node's name."""
    words: dict[int, list[str]] = {}
    for at, node in enumerate(module.graph.nodes):
        called = called_by(node, module)
        if called:
            words[at] = [called]
    return place(record_graph(module), words, brief=True)


def drawn(module: fx.GraphModule) -> dict[str, Any]:
    """The same in the lab's format."""
    layout = layout_of(module)
    return {
        "width": layout.width,
        "height": layout.height,
        "rail": layout.rail_x,
        "boxes": [
            {
                "x": box.x,
                "y": box.y,
                "width": box.width,
                "height": box.height,
                "rail": box.rail_y,
                "lines": [list(line) for line in box.lines],
            }
            for box in layout.boxes
        ],
        "wires": [
            {
                "source": wire.source,
                "reader": wire.reader,
                "k": wire.k,
                "path": wire.branch,
                "head": wire.head,
                "label": wire.label,
                "at": wire.label_at and list(wire.label_at),
                "broken": wire.broken,
            }
            for wire in layout.wires
        ],
    }


def compare(player: Player, data: st.DataObject, which: int) -> None:
    """Play up to twelve random actions, and compare after each."""
    module = example(which)
    given = {name: INPUTS[name] for name in [node.target for node in module.graph.nodes if node.op == "placeholder"]}
    start = player.ask(data=data_of(module, given))
    assert start["text"] == str(module.graph) and start["code"] == module.code
    spare = {name: torch.ones_like(INPUTS["x"]) for name in ("x", "y", "z", "scale", "input")}
    inputs = {**spare, **given}
    names = variables(module, {name: tensor.clone() for name, tensor in inputs.items()})
    for _ in range(data.draw(st.integers(1, 12))):
        action = data.draw(an_action(module))
        told = player.ask(action=action)
        value, error = play(names, told["python"])
        where = "\n".join(map(str, [action, told, error, value]))
        if told.get("outside"):
            declared = "in place" in told["outside"] or (
                "here both are numbers" in told["outside"] and is_called_with_numbers_alone(module, names["inputs"])
            )
            assert action["do"] == "run" and (error or declared), where
            names["inputs"] = {name: tensor.clone() for name, tensor in inputs.items()}
        else:
            assert told.get("error") == error, where
            if action["do"] in ("run", "dead code") and not error:
                assert same(told["result"], value), where
            if action["do"] == "run" and not error:
                assert same(player.ask(action=action)["result"], play(names, told["python"])[0]), f"again: {where}"
        assert told["text"] == str(module.graph), where
        assert told["code"] == module.code, where
        assert told["stale"] == is_stale(module), where
        assert told["layout"] == drawn(module), where
        assert told["users"] == [
            [node.name, [user.name for user in node.users], [one.name for one in node.all_input_nodes]]
            for node in module.graph.nodes
        ], where


def sequences(count: int) -> Any:
    """Try a property on this many sequences."""
    return settings(
        max_examples=count,
        derandomize=True,
        report_multiple_bugs=False,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    player = Player()
    yield player
    player.close()


def test_a_line_that_frees_a_value_assigns_its_variable(player: Player) -> None:
    """Rare in random sequences: after ``output = None``, an earlier use of output is unbound."""
    module = example(1)
    names = variables(module, {"x": INPUTS["x"]})
    player.ask(data=data_of(module, {"x": INPUTS["x"]}))
    for action in ({"do": "replace", "old": "x", "new": "output"}, {"do": "recompile"}, {"do": "run"}):
        told = player.ask(action=action)
        error = play(names, told["python"])[1]
        assert told.get("error") == error
    assert error and error[0] == "UnboundLocalError"


VALUES = [2, -1, 0, 0.5, 0.0, True, None, "text", [], (), [2, 0], ("text",), [None]]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name.startswith("operator.")])
def test_python_s_own_values_give_what_they_give_in_python(name: str, player: Player) -> None:
    """As constants and as results; with a tensor, the lab leaves only errors of torch to torch."""
    target, takes = FUNCTIONS[name]
    for values in itertools.product([*VALUES, "tensor"], repeat=len(takes)):
        graph = fx.Graph()
        x = graph.placeholder("x")
        held = [x if value == "tensor" else value for value in values]
        held[0] = graph.call_function(operator.getitem, ([held[0]], 0))
        graph.output(graph.call_function(target, tuple(held)))
        module = fx.GraphModule(nn.Module(), graph)
        names = variables(module, {"x": INPUTS["x"]})
        assert player.ask(data=data_of(module, {"x": INPUTS["x"]}))["code"] == module.code
        told = player.ask(action={"do": "run"})
        value, error = play(names, told["python"])
        if "tensor" in values and told.get("outside"):
            assert error, values
        else:
            assert told.get("error") == error and (error or same(told["result"], value)), (values, told, error, value)


def test_torch_s_functions_of_numbers_alone_are_outside_the_lab(player: Player) -> None:
    for name, values in itertools.product(("add", "sub", "mul"), ((2, 0.5), (0.5, 2))):
        graph = fx.Graph()
        graph.output(graph.call_function(getattr(torch, name), values))
        module = fx.GraphModule(nn.Module(), graph)
        player.ask(data=data_of(module, {}))
        told = player.ask(action={"do": "run"})
        assert told["outside"].startswith("a lab applies the functions of torch to float64 tensors only")
        assert is_called_with_numbers_alone(module, {})
    assert not is_called_with_numbers_alone(example(1), {"x": INPUTS["x"]})


@sequences(80)
@given(data=st.data(), which=st.integers(0, 1))
def test_the_lab_and_torch_do_the_same(player: Player, data: st.DataObject, which: int) -> None:
    compare(player, data, which)


@pytest.mark.room(name="lab")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("which", [0, 1])
def test_they_do_the_same_in_ten_thousand_sequences(which: int) -> None:
    player = Player()

    @sequences(10_000)
    @given(data=st.data())
    def tried(data: st.DataObject) -> None:
        compare(player, data, which)

    tried()
    player.close()


@pytest.mark.room(name="lab")
@pytest.mark.parametrize(
    ("script", "right", "wrong"),
    [
        ("graph", '(where === "after" ? 1 : 0)', '(where === "after" ? anchor.users.size && 1 : 0)'),
        ("graph", "node.inputs.forEach(input => input.users.delete(node));", ""),
        ("graph", "if (node.users.size) {", "if (node.users.size > 1) {"),
        ("graph", "if (!this.isImpure(node) && !node.users.size)", "if (!node.users.size)"),
        ("text", "[...graph.nodes].reverse()", "graph.nodes"),
        ("names", "if (RESERVED.has(candidate))", "if (!candidate)"),
        ("module", "this.code = codeText(this.graph);", "this.code = this.code || codeText(this.graph);"),
    ],
)
def test_a_wrong_rule_is_noticed_within_300_sequences(script: str, right: str, wrong: str, tmp_path: Path) -> None:
    for file in PAGE.glob("*.js"):
        text = file.read_text(encoding="utf-8")
        if file.stem == script:
            assert text.count(right) == 1, "the rule reads otherwise now"
            text = text.replace(right, wrong)
        (tmp_path / file.name).write_text(text, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    broken = Player(tmp_path)

    @sequences(300)
    @given(data=st.data(), which=st.integers(0, 1))
    def tried(data: st.DataObject, which: int) -> None:
        compare(broken, data, which)

    with pytest.raises(AssertionError):
        tried()
    broken.close()
