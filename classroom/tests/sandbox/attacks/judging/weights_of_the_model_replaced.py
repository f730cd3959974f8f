"""Say that weights of the model that was given hold other values, of other sizes and types, or are each other.

Harm: what is expected is computed with them, so that a wrong graph is right; or a kernel trusts their sizes.
"""

import base64

from classroom.tests.sandbox.forging import PASS, full, with_wire

EXERCISES = (PASS,)


def forged(observation):
    for dtype, shape in (
        ("float32", [4, 4]), ("float32", [1]), ("float32", []), ("float32", [0]), ("float64", [4, 4]), ("int64", [4]),
        ("bool", [16]), ("complex64", [4, 4]), ("float32", [2**39, 0]), ("float32", [1] * 20), ("uint16", [3]),
    ):  # fmt: skip
        size = {"float32": 4, "float64": 8, "int64": 8, "bool": 1, "complex64": 8, "uint16": 2}[dtype]
        count = 1
        for length in shape:
            count *= length
        values = {"dtype": dtype, "shape": shape, "data": base64.b64encode(bytes(size * count)).decode()}
        for name in ("0.weight", "0.bias", "2.weight"):
            entry = {"given": name, **values, "parameter": True, "requires_grad": False}
            root = full(**{"class": "torch.fx.GraphModule"}, children={"0": 1, "1": 2, "2": 3, "3": 4})
            held = full(given="0", settings={"in_features": 4}, parameters={"weight": 0, "bias": 0})
            others = [{"given": "1"}, {"given": "2"}, {"given": "3"}]
            yield with_wire(
                observation, lambda wire, m=[root, held, *others], t=[entry]: wire.update(modules=m, tensors=t)
            )
