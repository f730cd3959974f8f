"""`Graph.python_code` tells where the prologue of the code begins, `_prologue_start`.

Before {since} its result had no such field.

Explains:
    src globals _lineno_map _prologue_start
"""

from torch import fx

code = fx.symbolic_trace(lambda x: x + 1).graph.python_code("self")
print("yes" if hasattr(code, "_prologue_start") else "no")
