"""Hold children, weights, buffers and attributes under names by which Python and torch find their methods.

Harm: a method of the judge's is replaced.
"""

import base64

from classroom.tests.sandbox.forging import PASS, full, node, output, placeholder, ref, with_graph

EXERCISES = (PASS,)
NAMES = (
    "forward",
    "__class__",
    "__call__",
    "_parameters",
    "_modules",
    "named_parameters",
    "training",
    "graph",
    "recompile",
)
NAMES += (
    "_graph",
    "code",
    "a.b",
    "",
    "\0",
    "x" * 1000,
    "T",
    "apply",
    "state_dict",
    "__dict__",
    "__getattr__",
    "\u202e",
    "0",
    "-1",
)


def forged(observation):
    data = base64.b64encode(bytes(16)).decode()
    one = {"dtype": "float32", "shape": [4], "data": data, "parameter": True, "requires_grad": False}
    tensors = [one, {**one, "parameter": False}]
    nodes = placeholder(), node("call_module", "evil", ref(0)), output(ref(1))
    for name in NAMES:
        for part, held in (
            ("children", 2),
            ("parameters", 0),
            ("buffers", [1, True]),
            ("attributes", 1),
            ("attributes", 0),
        ):
            evil = full(**{"class": "torch.nn.Identity"}, **{part: {name: held}})
            root = full(
                **{"class": "torch.fx.GraphModule"},
                children={"evil": 1},
                **{} if part == "children" else {part: {name: held}},
            )
            inner = full(**{"class": "torch.nn.ReLU"})
            yield with_graph(observation, *nodes, kind="GraphModule", modules=[root, evil, inner], tensors=tensors)
