"""In the code of a graph, the annotation `int | None` is written as `int|NoneType`.

Before {since}, it was written as `int_None`. From {later} on, it is written as `typing_Union[int,NoneType]`, as
`Optional[int]` is on every version.
"""

from torch import fx


def shifted(x: int | None):
    return x + 1


code = fx.symbolic_trace(shifted).code
print(code.partition("(self, x : ")[2].partition(")")[0])
