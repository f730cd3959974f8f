"""The result of `Graph.python_code` says where the prologue of the code begins: `_prologue_start`.

Before {since}, it had no such field.

Explains:
    src globals _lineno_map _prologue_start
"""

from torch import fx

code = fx.symbolic_trace(lambda x: x + 1).graph.python_code("self")
print("yes" if hasattr(code, "_prologue_start") else "no")
