"""The code of a graph writes a complex constant as `1j`.

From {later} on it writes `complex(0.0, 1.0)`.

Nowhere: no page of the book has a complex constant.
"""

from torch import fx

code = fx.symbolic_trace(lambda x: x * 1j).code
print(next(line.strip() for line in code.splitlines() if "x *" in line).partition(";")[0])
