"""`torch.fx.graph` has `_BoxedCodeGen`, which makes a `forward` that takes a box.

It is private. Before {since}, it did not exist: use `functorch.compile.make_boxed_func`, or run
`fx.Interpreter(module).boxed_run(box)`.

Explains:
    cannot import name '_BoxedCodeGen'
"""

from torch.fx import graph

print("yes" if hasattr(graph, "_BoxedCodeGen") else "no")
