"""Send modules of batch norm whose buffers and weights have one element, and that say they have more.

Harm: the kernel reads and writes what lies behind them.
"""

import base64

from classroom.tests.sandbox.forging import PASS, full, node, output, placeholder, ref, with_graph

EXERCISES = (PASS,)


def tensor(count, parameter=False, dtype="float32"):
    size = {"float32": 4, "float64": 8, "int64": 8}[dtype]
    data = base64.b64encode(bytes(count * size)).decode()
    return {"dtype": dtype, "shape": [count], "data": data, "parameter": parameter, "requires_grad": False}


def forged(observation):
    for name, dtype, small in (
        ("BatchNorm1d", "float32", 1),
        ("BatchNorm1d", "float64", 1),
        ("BatchNorm1d", "float32", 0),
        ("BatchNorm2d", "float32", 1),
        ("BatchNorm1d", "int64", 1),
    ):
        for training in (True, False):
            evil = full(
                **{"class": f"torch.nn.{name}"},
                settings={"num_features": 4, "eps": {"float": "1e-05"}, "momentum": {"float": "1.0"}},
                parameters={"weight": 0, "bias": 0},
                buffers={"running_mean": [1, True], "running_var": [1, True], "num_batches_tracked": [2, True]},
            )
            evil["training"] = training
            root = full(**{"class": "torch.fx.GraphModule"}, children={"evil": 1})
            tensors = [tensor(small, parameter=True), tensor(small, dtype=dtype), tensor(1, dtype="int64")]
            tensors[2]["shape"] = []
            nodes = placeholder(), node("call_module", "evil", ref(0)), output(ref(1))
            yield with_graph(observation, *nodes, kind="GraphModule", modules=[root, evil], tensors=tensors)
