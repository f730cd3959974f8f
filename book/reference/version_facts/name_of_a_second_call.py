r"""The second call of the module `0` is named `_0_1`.

Before {since}, the name was `_` and the next free number, here `_1`, which looks like a call of the module `1`. Find
calls by their target, never by their name.

Explains:
    _0_1key 0@1 name 0 => _1 key
    \(_0, _0_1\) => \(_0, _2\)
"""

from torch import fx, nn

model = nn.Sequential(nn.ReLU())
graph = fx.Graph()
x = graph.placeholder("x")
graph.call_module("0", (x,))
fx.GraphModule(model, graph)
print(graph.call_module("0", (x,)).name)
