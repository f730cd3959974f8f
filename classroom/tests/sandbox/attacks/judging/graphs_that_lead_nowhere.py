"""Send graphs that no front end makes: circles, two outputs, none, inputs below, nodes that read themselves.

Harm: the judge walks them without end, or takes one for a right answer.
"""

from classroom.tests.sandbox.forging import call, node, output, placeholder, ref, with_graph


def forged(observation):
    x, out = placeholder(), output(ref(1))
    yield with_graph(observation, x, call("torch.neg", ref(1)), out)
    yield with_graph(observation, x, call("torch.neg", ref(2)), call("torch.neg", ref(1)), output(ref(2)))
    yield with_graph(observation, x, output(ref(1)))
    yield with_graph(observation, x, call("torch.neg", ref(0)), out, out, out)
    yield with_graph(observation, x, call("torch.neg", ref(0)))
    yield with_graph(observation, out, call("torch.neg", ref(0)), x)
    yield with_graph(observation, *[placeholder() for _ in range(50)], output(ref(0)))
    yield with_graph(observation)
    yield with_graph(observation, x, node("output", "output"), out)
    yield with_graph(observation, placeholder("*x"), output(ref(0)))
    yield with_graph(observation, {**placeholder("**x"), "name": "x"}, output(ref(0)))
    yield with_graph(observation, {**placeholder("***x"), "name": "x"}, output(ref(0)))
    yield with_graph(observation, x, {**placeholder("y"), "args": {"tuple": [ref(0)]}}, output(ref(1)))
    yield with_graph(observation, {**x, "args": {"tuple": [ref(1)]}}, call("torch.neg", ref(0)), out)
    for op in ("root", "call_modul", "__class__", "get_attr", "call_method", "call_function", "placeholder", "output"):
        for target in (
            "relu",
            {"function": "torch.relu"},
            "0",
            {"unknown": "x"},
            {},
            {"function": "x", "unknown": "y"},
        ):
            yield with_graph(observation, x, node(op, target, ref(0), name="odd"), out)
