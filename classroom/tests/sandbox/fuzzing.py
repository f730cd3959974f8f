"""Generate random hostile calls to allowed operations, and run them as graphs in the judging room."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import inspect
import json
import math
import random
from collections.abc import Sequence
from typing import Any

from torch import nn

from classroom.judge import allowed
from classroom.sandbox import Limits, Sandbox
from classroom.sandbox.contents import JUDGING
from classroom.tests.sandbox.forging import BUILD, call, described, method, node, ref
from classroom.tests.sandbox.sandboxing import SEED
from classroom.tests.sandbox.taking_over import sandbox_with

JSON = Any
_DTYPES = """
    bool uint8 int8 int16 int32 int64 uint16 uint64 float16 bfloat16 float32 float64 complex64 complex128
""".split()
_SHAPES: tuple[list[int], ...] = ([], [0], [1], [3], [2, 3], [1, 8], [0, 3], [3, 0], [2, 3, 4], [1, 2, 3, 4], [2] * 5)
_SHAPES += ([64], [5, 5], [1] * 12)
_NUMBERS = (-2, -1, 0, 1, 2, 3, 4, 7, 63, 64, 65, 255, 2**15, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40, 2**62)
_NUMBERS += (2**63 - 1, -(2**63), 2**63, 10**18, 2**70)
_FLOATS = (0.0, -0.0, 1.0, 0.5, -1.5, 1e-300, 1e38, 1e308, float("nan"), float("inf"), -float("inf"))
_TEXTS = (
    "",
    "\0",
    "x" * 300,
    "ij,jk->ik",
    "...->",
    *"""
    mean sum none reflect constant replicate circular tanh floor trunc fro nuc cuda cpu meta inf same valid linear
    nearest ij
""".split(),
)
_KEYWORDS = """
    dim out dtype keepdim generator device p training inplace size input other weight bias stride padding dilation
    groups correction descending stable sorted largest k output_size repeats mode value ceil_mode count_include_pad
    normalized_shape eps alpha min max rounding_mode start end step indices_or_sections memory_format dims
""".split()
_SUFFIXES = (
    "",
    *"""
    .default .Tensor .Scalar .int .dim .dim_IntList .self .Tensor_Scalar .ScalarSelf .dtype .str .t .int_int
    .names_dim .values_stable .stable .dim_max .correction .start_step .Scalar_Tensor .Tensor_Tensor .Tensor_mode
    .Scalar_mode .self_int .self_Tensor .sections .indices
""".split(),
)
# Prefix for classes of modules, in place of `torch.`.
_MODULE = "module "
_METHOD = "method "

# Appended to the judging room: run many graphs and count how they ended.
_ROOM = """
import random as _random
from torch import nn as _nn
from classroom.judge.rebuild.graph import rebuild as _rebuild
from classroom.judge.rebuild.values import RefusedError as _Refused, UnreadableError as _Unreadable
_true_work = work

def work(begun, told, files=()):
    if not isinstance(told, dict) or "graphs" not in told:
        return _true_work(begun, told, files)
    ends = {}
    for wire in told["graphs"]:
        try:
            result = _rebuild(wire, _nn.Module(), dict)
            found = result.forward(torch.randn(2, 3, 4)) if hasattr(result, "forward") else _run(result)
            # The judge encodes the result for the comparison, so do the same here.
            encode(found)
            end = "ran"
        except (_Refused, _Unreadable) as error:
            end = "refused"
        except BaseException as error:
            end = type(error).__name__
        ends[end] = ends.get(end, 0) + 1
    texts = dict.fromkeys(("node", "read", "case", "line", "printed"), "")
    return {**texts, "rule": "fuzzed", "message": json.dumps(ends), "graph": None, "unproven": []}

def _run(graph):
    return torch.fx.GraphModule(_nn.Module(), graph).forward(torch.randn(2, 3, 4))
"""
_IMPORTS = "import json\nimport torch\nfrom fxbook.cases.values import encode\n"


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A random call: its name, and the description of a graph that makes it."""

    name: str
    wire: JSON


def names_to_call() -> list[str]:
    """All functions, operators, methods and modules on the allow-list."""
    aten = [f"torch.ops.aten.{name}" for name in sorted(allowed._OPERATIONS | allowed._ATEN)]
    aten = [name + inner for name in aten for inner in ("", "_") if allowed.function(name + inner)]
    overloads = [name + suffix for name in aten for suffix in _SUFFIXES if allowed.function(name + suffix)]
    methods = [f"{_METHOD}{name}" for name in sorted(allowed.methods())]
    modules = [f"{_MODULE}{name}" for name in allowed._MODULES]
    return [*sorted(allowed.functions()), *overloads, *methods, *modules]


def drawn_calls(name: str, count: int, seed: int) -> list[Drawn]:
    """Generate random calls to one name, reproducibly."""
    random_ = random.Random(f"{name} {seed}")
    return [_Draw(random_).call(name) for _ in range(count)]


@contextlib.contextmanager
def fuzzing_sandbox(limits: Limits) -> Any:
    """A sandbox whose judging room runs the calls from :func:`run_calls`."""

    def change(room: str, files: dict[str, Any]) -> None:
        if room == JUDGING:
            source = files["inside/judging.py"]
            begin = source.index("from __future__ import annotations") + len("from __future__ import annotations\n")
            files["inside/judging.py"] = source[:begin] + _IMPORTS + source[begin:] + _ROOM

    with sandbox_with(change, limits) as sandbox:
        yield sandbox


def run_calls(sandbox: Sandbox, calls: Sequence[Drawn], ends: dict[str, int] | None = None) -> str:
    """Run calls in one process of the room; return how it ended, or ``""`` if it survived.

    Args:
        sandbox: from :func:`fuzzing_sandbox`.
        calls: the calls to run.
        ends: counts how calls ended.
    """
    outcome = sandbox.judge(BUILD, {"graphs": [call.wire for call in calls]}, SEED)
    if outcome.data is None:
        return outcome.ended
    if outcome.data["rule"] != "fuzzed":
        return str(outcome.data)
    for end, count in json.loads(outcome.data["message"]).items():
        if ends is not None:
            ends[end] = ends.get(end, 0) + count
    return ""


class _Draw:
    """Generates one call: some tensors, views of them, and a call with these and other values."""

    def __init__(self, drawn: random.Random) -> None:
        self._random = drawn
        self._nodes: list[JSON] = [node("placeholder", "x", name="x")]
        self._modules: list[JSON] = [{"given": ""}]
        self._tensors: list[JSON] = []
        self._dtype, self._shape = drawn.choice(_DTYPES), drawn.choice(_SHAPES)

    def call(self, name: str) -> Drawn:
        for _ in range(self._random.randrange(1, 4)):
            self._tensor()
        if name.startswith(_MODULE):
            self._add(self._module(name.removeprefix(_MODULE)))
        elif name.startswith(_METHOD):
            self._add(method(name.removeprefix(_METHOD), self._place(), *self._values(), **self._keywords()))
        else:
            first = [self._place()] if self._random.random() < 0.8 else []
            if name == "builtins.getattr":
                self._add(call(name, self._place(), self._random.choice(allowed._ATTRIBUTES)))
            else:
                self._add(call(name, *first, *self._values(), **self._keywords()))
        last = ref(len(self._nodes) - 1)
        named = [{**entry, "name": entry["name"] or f"n{place}"} for place, entry in enumerate(self._nodes)]
        named.append(node("output", "output", last, name="output"))
        kind = "GraphModule" if len(self._modules) > 1 else "Graph"
        return Drawn(name, {"kind": kind, "nodes": named, "modules": self._modules, "tensors": self._tensors})

    def _add(self, entry: JSON) -> None:
        self._nodes.append(entry)

    def _place(self) -> JSON:
        return ref(self._random.randrange(len(self._nodes)))

    def _tensor(self) -> None:
        """Add a tensor of any type and shape, and perhaps an odd view of it."""
        pick = self._random
        # Often the same, because kernels reject most mismatches.
        dtype = {"dtype": self._dtype if pick.random() < 0.7 else pick.choice(_DTYPES)}
        shape = self._shape if pick.random() < 0.6 else pick.choice(_SHAPES)
        if pick.random() < 0.05:
            self._add(call("torch.zeros", shape, dtype=dtype, device={"device": "meta"}))
            return
        odd = pick.choice((*_NUMBERS, *_FLOATS)) if pick.random() < 0.1 else pick.choice((0, 1, 2, 3))
        value = -1 if pick.random() < 0.1 and "u" not in dtype["dtype"] else odd
        self._add(call("torch.full", shape, value, dtype=dtype))
        at = ref(len(self._nodes) - 1)
        match pick.randrange(9) if shape else 9:
            case 0:
                self._add(method("expand", at, pick.choice((0, 2, 1000, 2**31)), *shape))
            case 1:
                self._add(call("torch.flip", at, [-1]))
            case 2:
                self._add(call("operator.getitem", at, (..., slice(pick.randrange(2), None, pick.choice((1, 2))))))
            case 3:
                self._add(method("transpose", at, 0, -1))

    def _values(self) -> list[Any]:
        pick = self._random
        # Tensors, numbers, lists of numbers, and floats, by first letter.
        few = ("", "t", "n", "tt", "nn", "l", "tn", "ln", "f", "ttn", "lll")
        if pick.random() < 0.6:
            makers = {"t": self._place, "f": lambda: pick.choice(_FLOATS), "n": lambda: pick.choice(_NUMBERS)}
            makers["l"] = lambda: [pick.choice(_NUMBERS) for _ in range(pick.choice((1, 1, 2, 2, 3)))]
            return [makers[kind]() for kind in pick.choice(few)]
        return [self._value() for _ in range(pick.choice((0, 1, 1, 1, 2, 2, 3, 4, 5, 8)))]

    def _value(self, depth: int = 0) -> Any:
        pick = self._random
        match pick.randrange(12):
            case 0 | 1 | 2 | 3:
                return self._place()
            case 4 | 5:
                return pick.choice(_NUMBERS[:8] if pick.random() < 0.6 else _NUMBERS)
            case 6:
                return pick.choice(_FLOATS)
            case 7:
                return pick.choice((None, True, False, pick.choice(_TEXTS), {"dtype": pick.choice(_DTYPES)}))
            case 8 | 9 | 10 if depth < 2:
                items = [self._value(depth + 1) for _ in range(pick.choice((0, 1, 1, 2, 2, 3, 4)))]
                return items if pick.random() < 0.6 else tuple(items)
            case _:
                return pick.choice((slice(None, None, 2), range(4), ..., [pick.choice(_NUMBERS) for _ in range(2)], 1j))

    def _keywords(self) -> dict[str, Any]:
        if self._random.random() < 0.85:
            return {}
        names = self._random.sample(_KEYWORDS, self._random.choice((1, 1, 2)))
        return {name: {"device": "cpu"} if name == "device" else self._value() for name in names}

    def _module(self, name: str) -> JSON:
        """A call to a module of this class with absurd settings and weights."""
        pick = self._random
        known = [
            key for key in inspect.signature(getattr(nn, name)).parameters if key not in ("device", "dtype", "args")
        ]
        settings = {}
        for key in known:
            if pick.random() < 0.9:
                settings[key] = described(
                    pick.choice((1, 2, 3, 4, 8, *_NUMBERS, True, False, *_FLOATS, [2, 2], [3], (1, 2)))
                )
        self._tensors = []
        for shape in ([], [1], [2], [3], [4], [2, 3], [4, 4], [2, 2, 2], [2, 2, 2, 2], [0], [8]):
            self._tensors.append(_told_tensor(shape))
        parameters = {key: pick.randrange(len(self._tensors)) for key in ("weight", "bias")}
        buffers = {key: [pick.randrange(len(self._tensors)), True] for key in ("running_mean", "running_var")}
        for entry in self._tensors:
            entry["parameter"] = True
        plain = [{**entry, "parameter": False} for entry in self._tensors]
        buffers = {key: [place + len(plain), True] for key, (place, _) in buffers.items()}
        self._tensors += plain
        full = {"training": pick.random() < 0.5, "settings": settings, "children": {}, "attributes": {}}
        evil = {"class": f"torch.nn.{name}", **full, "parameters": parameters, "buffers": {}}
        if "Norm" in name:
            evil["buffers"] = {**buffers, "num_batches_tracked": [len(plain), True]}
        elif name not in ("Linear", "Embedding", "Conv1d", "Conv2d", "PReLU"):
            evil["parameters"] = {}
        root = {
            "class": "torch.fx.GraphModule",
            **full,
            "settings": {},
            "children": {"evil": 1},
            "parameters": {},
            "buffers": {},
        }
        self._modules = [root, evil]
        return node("call_module", "evil", self._place(), *self._values()[:1])


def _told_tensor(shape: list[int]) -> JSON:
    data = base64.b64encode(b"\0\0\x80\x3f" * math.prod(shape)).decode()
    return {"dtype": "float32", "shape": shape, "data": data, "parameter": False, "requires_grad": False}
