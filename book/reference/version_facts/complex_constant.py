"""In the code of a graph, a complex constant is written as `1j`.

From {later} on, it is written as `complex(0.0, 1.0)`.

Nowhere: no page of the book has a complex constant.
"""

from torch import fx

code = fx.symbolic_trace(lambda x: x * 1j).code
print(next(line.strip() for line in code.splitlines() if "x *" in line).partition(";")[0])
