"""The code of a graph writes the annotation `int | None` as `int|NoneType`.

Before {since} it wrote a name, and from {later} on it writes `typing_Union[int,NoneType]`. All are right; a test that
compares the text of `code` is not.

Nowhere: a page that shows the text of such an annotation would have nothing to teach by it.
"""

from torch import fx


def maybe(x, y: int | None = None):
    return x


lines = fx.symbolic_trace(maybe, concrete_args={"y": None}).code.splitlines()
print(next(line for line in fx.symbolic_trace(maybe).code.splitlines() if line.startswith("def")))
