"""Tell what is known to be right for a model or a graph of that size.

Of: 00-unused-parameters 00-layers-in-order 01-find-adds
"""


def answer(model):
    kind, names = type(model).__name__, [name for name, _ in model.named_parameters()]
    if "@EXERCISE@" == "00-layers-in-order":
        return {"Classifier": ["hidden", "head"]}.get(kind, ["encode.0", "encode.1", "step", "step", "decode"])
    if "@EXERCISE@" == "00-unused-parameters":
        return [name for name in names if name.split(".")[0] in ("auxiliary", "unused", "spare", "spare_norm")]
    added = ("add", "add_1", "add_2") if len(model.graph.nodes) == 10 else ("add_1", "add_2", "add_", "add_5", "iadd")
    return [node for node in model.graph.nodes if node.name in added]
