"""Send layers whose weights have another size, rank or type than the layer says.

Harm: their kernels trust what the layer says.
"""

import base64
import itertools

from classroom.tests.sandbox.forging import PASS, full, node, output, placeholder, ref, with_graph

EXERCISES = (PASS,)
LAYERS = {
    "Linear": {"in_features": 4, "out_features": 4},
    "Conv1d": {"in_channels": 4, "out_channels": 4, "kernel_size": 1},
    "Conv2d": {"in_channels": 4, "out_channels": 4, "kernel_size": 1, "groups": 3},
    "Embedding": {"num_embeddings": 10**12, "embedding_dim": 10**6},
    "GroupNorm": {"num_groups": 2, "num_channels": 4},
    "LayerNorm": {"normalized_shape": [4]},
    "RMSNorm": {"normalized_shape": [4]},
    "PReLU": {"num_parameters": 4},
}
SHAPES = ([], [0], [1], [3], [1, 1], [4, 1], [1, 4, 1], [2, 2, 2, 2, 2])


def forged(observation):
    for (name, settings), shape in itertools.product(LAYERS.items(), SHAPES):
        size = 1
        for length in shape:
            size *= length
        data = base64.b64encode(bytes(size * 4)).decode()
        weight = {"dtype": "float32", "shape": shape, "data": data, "parameter": True, "requires_grad": False}
        held = {"weight": 0} if name in ("Embedding", "RMSNorm", "PReLU") else {"weight": 0, "bias": 0}
        evil = full(**{"class": f"torch.nn.{name}"}, settings=settings, parameters=held)
        root = full(**{"class": "torch.fx.GraphModule"}, children={"evil": 1})
        nodes = placeholder(), node("call_module", "evil", ref(0)), output(ref(1))
        yield with_graph(observation, *nodes, kind="GraphModule", modules=[root, evil], tensors=[weight])
