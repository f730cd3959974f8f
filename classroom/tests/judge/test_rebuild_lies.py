"""No forged name, path, class or tensor makes the grader build anything that it does not allow."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from torch import fx

from classroom.judge.rebuild.graph import rebuild
from classroom.judge.rebuild.values import RefusedError, UnreadableError
from classroom.tests.judge.rebuilding import traced
from fxbook.graph.given import Given
from fxbook.graph.wire import describe

JSON = Any


def description() -> JSON:
    """The description of the traced model, with every module described in full."""
    module = traced()
    given = Given(module)
    module.training = False
    module.layers.train(False)
    return json.loads(json.dumps(describe(module, given)))


def lie(change: Callable[[JSON], Any]) -> Any:
    data = description()
    change(data)
    return rebuild(data, traced(), dict)


def named(place: int, **changes: JSON) -> Callable[[JSON], Any]:
    return lambda data: data["nodes"][place].update(changes)


NAMES: list[JSON] = ["self", "class", "a b", "x=1;import os", "x\n", "", "ü", "a" * 300, "\ud800", 5, None, ["x"]]
PATHS: list[JSON] = [
    *("forward", "graph", "_graph", "to_folder", "load_state_dict", "layers.0.forward", "layers.0.__class__", "a..b"),
    *("__init__.__globals__", 'a"]; import os; ("', "layers.0.weight.numpy", "", 5, None, "."),
]


@pytest.mark.parametrize("name", NAMES)
def test_invalid_name_is_refused(name: JSON) -> None:
    for change in (
        named(1, name=name),
        named(0, target=name),
        named(1, kwargs={"dict": [[name, 1]]}),
        named(1, args={"tuple": [{"foreign": name, "erased": False}]}),
        named(1, op=name),
    ):
        with pytest.raises((RefusedError, UnreadableError)):
            lie(change)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("op", ["call_module", "get_attr"])
def test_path_to_other_objects_is_refused(op: str, path: JSON) -> None:
    with pytest.raises((RefusedError, UnreadableError)):
        lie(named(1, op=op, target=path))


@pytest.mark.parametrize(
    "method",
    [
        *(
            "numpy",
            "backward",
            "apply_",
            "map_",
            "data_ptr",
            "set_",
            "share_memory_",
            "register_hook",
            "storage",
            "cuda",
        ),
        *("__class__", "__reduce_ex__", "__getattribute__", "__call__", "__subclasses__", "mro", "format", "append"),
        *("to_folder", "recompile", "load_state_dict", "_apply", "add_module", "relu(); x", "a.b", "", 5, "_nobody"),
    ],
)
def test_forbidden_method_is_refused(method: JSON) -> None:
    with pytest.raises((RefusedError, UnreadableError)):
        lie(named(-3, op="call_method", target=method))


@pytest.mark.parametrize("attribute", ["__class__", "__dict__", "grad_fn", "storage", "_base", 5, None, {"node": 0}])
def test_getattr_reads_only_plain_data(attribute: JSON) -> None:
    assert isinstance(lie(lambda data: None), fx.GraphModule), "the truth is rebuilt"
    getattr_of = {"op": "call_function", "target": {"function": "builtins.getattr"}}
    lie(named(-3, **getattr_of, args={"tuple": [{"node": 0}, "shape"]}))
    for args in ([{"node": 0}, attribute], [{"node": 0}, attribute, 1], [attribute], []):
        with pytest.raises((RefusedError, UnreadableError)):
            lie(named(-3, **getattr_of, args={"tuple": args}))


def full(**told_of: JSON) -> JSON:
    parts = ("settings", "children", "parameters", "buffers", "attributes")
    return {"training": True, **{part: {} for part in parts}, **told_of}


RELU = {"class": "torch.nn.ReLU"}
CLASSES = ["os._wrap_close", "subprocess.Popen", "torch.nn.LSTM", "torch.nn.utils", "torch.nn.DataParallel"]
CLASSES += ["torch.nn.functional", "torch.nn.", "ReLU", ""]


@pytest.mark.parametrize(
    "entry",
    [
        *(full(**{"class": name}) for name in CLASSES),
        *(full(**RELU, settings={name: 1}) for name in ("_forward_hooks", "__dict__", "training")),
        *(full(given="layers.0", children={name: 3}) for name in ("forward", "_modules", "weight", "a.b", "", "__x__")),
        *(full(given="layers.0", children={"x": place}) for place in (0, 1, 99, -1, True, None, "1")),
        *(full(given="layers.0", **{part: {"forward": 0}}) for part in ("parameters", "buffers", "attributes")),
        *(full(given="layers.0", attributes={name: 0}) for name in ("_parameters", "__class__", "train")),
        *({"given": path} for path in ("", "layers", "nowhere", 5, None)),
        *({"like": path} for path in ("layers.0", "nowhere", "")),
        *(None, 5, [], {}, {"unknown": "Evil"}, RELU),
    ],
)
def test_invalid_module_is_refused(entry: JSON) -> None:
    def change(data: JSON) -> None:
        data["modules"][:] = [full(given="", children={"layers": 1}), full(given="layers", children={"0": 2}), entry]
        data["modules"].append(full(**RELU))

    with pytest.raises((RefusedError, UnreadableError)):
        lie(change)


def of_tensor(**changes: JSON) -> JSON:
    plain = {"dtype": "float32", "shape": [2], "data": base64.b64encode(bytes(8)).decode()}
    return {**plain, "parameter": False, "requires_grad": False, **changes}


@pytest.mark.parametrize(
    "entry",
    [
        *(of_tensor(shape=shape) for shape in ([10**12], [-2], [3], [2.0], [True, 2], [1] * 100, 2, None, [2**70, 0])),
        *(of_tensor(data=data) for data in ("", "!", "AAAA", 5, None)),
        *(of_tensor(dtype=dtype) for dtype in ("object", "qint8", "load", "int64", 5, None)),
        *(of_tensor(parameter=value) for value in (1, "x", None)),
        of_tensor(dtype="int64", shape=[1], parameter=True, requires_grad=True),
        *({"given": name} for name in ("nowhere", "layers", 5)),
        *(None, 5, [], {}, {"unknown": "a tensor"}, {"pickle": "gASVAAAA"}),
    ],
)
def test_invalid_tensor_is_refused(entry: JSON) -> None:
    def change(data: JSON) -> None:
        data["tensors"][:] = [entry]
        as_parameter = isinstance(entry, dict) and "parameter" in entry and entry["parameter"] is not False
        state = {"parameters": {"told": 0}} if as_parameter else {"attributes": {"told": 0}}
        data["modules"][:] = [full(given="", **state)]

    with pytest.raises((RefusedError, UnreadableError)):
        lie(change)


def test_deeply_nested_modules_are_refused() -> None:
    def tower(copies: int, height: int) -> Callable[[JSON], None]:
        def change(data: JSON) -> None:
            inner = ({str(name): place + 2 for name in range(copies)} for place in range(height))
            stages = [full(**{"class": "torch.nn.Sequential"}, children=children) for children in inner]
            data["modules"][:] = [full(given="", children={"layers": 1}), *stages, full(**RELU)]

        return change

    for copies, height in ((2, 60), (1, 200), (1, 1500)):
        with pytest.raises(RefusedError, match="contain"):
            lie(tower(copies, height))


def test_model_module_is_used_once() -> None:
    def circle(data: JSON) -> None:
        layers = [full(given="layers", children={"0": place}) for place in (2, 1)]
        data["modules"][:] = [full(given="", children={"layers": 1}), *layers]

    with pytest.raises(UnreadableError):
        lie(circle)
