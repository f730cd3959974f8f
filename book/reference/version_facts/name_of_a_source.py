r"""The name of a TorchDynamo source is a property, `source.name`.

Before {since}, it was a method: write `source.name()`.

Explains:
    <bound method \w+\.name of
"""

from torch._dynamo.source import LocalSource

print("property" if isinstance(LocalSource("x").name, str) else "method")
