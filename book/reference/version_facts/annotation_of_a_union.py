"""The code of a graph writes the annotation `int | None` as `int|NoneType`.

Before {since} it was `int_None`. From {later} on it is `typing_Union[int,NoneType]`, which is what `Optional[int]`
becomes on every version.
"""

from torch import fx


def shifted(x: int | None):
    return x + 1


code = fx.symbolic_trace(shifted).code
print(code.partition("(self, x : ")[2].partition(")")[0])
