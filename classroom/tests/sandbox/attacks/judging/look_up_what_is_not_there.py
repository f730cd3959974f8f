"""Look up rows of an embedding far before its first and behind its last.

Harm: the rows are memory of the judge.
"""

import base64

from classroom.tests.sandbox.forging import PASS, call, full, node, output, placeholder, ref, with_graph

EXERCISES = (PASS,)


def forged(observation):
    rows = {"dtype": "float32", "shape": [2, 4], "data": base64.b64encode(bytes(32)).decode()}
    weight = {**rows, "parameter": True, "requires_grad": False}
    for index in (-1, -(2**40), 2, 10**9, 2**62):
        for padding in (None, index):
            settings = {"num_embeddings": 2, "embedding_dim": 4, "padding_idx": padding}
            evil = full(**{"class": "torch.nn.Embedding"}, settings=settings, parameters={"weight": 0})
            root = full(**{"class": "torch.fx.GraphModule"}, children={"evil": 1})
            makes = call("torch.full", [3], index)
            nodes = placeholder(), makes, node("call_module", "evil", ref(1)), output(ref(2))
            yield with_graph(observation, *nodes, kind="GraphModule", modules=[root, evil], tensors=[weight])
