"""Send settings of modules that are text, huge, negative or of names that torch keeps for itself.

Harm: a layer is built or run in a way that its kernel does not expect, or code is reached through a name.
"""

import itertools

from classroom.tests.sandbox.forging import PASS, full, node, output, placeholder, ref, with_graph

EXERCISES = (PASS,)
VALUES = ("evil", "tanh", "reflect", "{0.__class__}", 10**18, -1, 0, None, True, {"float": "nan"}, {"float": "1e308"})
VALUES += (
    [],
    [10**18, -1],
    {"tuple": [0, 0]},
    {"dict": [["a", 1]]},
    {"dtype": "int64"},
    {"device": "meta"},
    {"ellipsis": True},
)
CLASSES = {
    "GELU": "approximate", "Softmax": "dim", "Dropout": "p", "Flatten": "start_dim", "Unflatten": "unflattened_size",
    "MaxPool1d": "kernel_size", "AvgPool1d": "stride", "LeakyReLU": "negative_slope", "Threshold": "threshold",
    "GLU": "dim", "AdaptiveAvgPool1d": "output_size", "ZeroPad1d": "padding", "Hardtanh": "min_val", "CELU": "alpha",
    "MaxPool2d": "dilation", "AvgPool2d": "divisor_override", "AlphaDropout": "inplace", "Module": "forward",
}  # fmt: skip
NAMES = (
    "forward",
    "__class__",
    "_parameters",
    "_forward_hooks",
    "training",
    "call_super_init",
    "T_destination",
    "dump_patches",
)
NAMES += (
    "_call_impl",
    "__call__",
    "compile",
    "shape_env",
    "graph",
    "code",
    "meta",
    "_code",
    "extra_repr",
    "forward\0",
    "",
)


def forged(observation):
    nodes = placeholder(), node("call_module", "evil", ref(0)), output(ref(1))
    root = full(**{"class": "torch.fx.GraphModule"}, children={"evil": 1})
    for (name, setting), value in itertools.product(CLASSES.items(), VALUES):
        evil = full(**{"class": f"torch.nn.{name}"}, settings={setting: value})
        yield with_graph(observation, *nodes, kind="GraphModule", modules=[root, evil], tensors=[])
    for name in NAMES:
        evil = full(**{"class": "torch.nn.ReLU"}, settings={name: "evil"})
        yield with_graph(observation, *nodes, kind="GraphModule", modules=[root, evil], tensors=[])
        evil_root = {**root, "settings": {name: "evil"}}
        yield with_graph(observation, *nodes, kind="GraphModule", modules=[evil_root, evil], tensors=[])
