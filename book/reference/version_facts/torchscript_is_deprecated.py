r"""`torch.jit.script`, `torch.jit.trace` and `torch.jit.save` issue a `DeprecationWarning`.

Before {since}, there is no warning. From {later} on, it is a `FutureWarning`, which Python shows by default and which a
filter for `DeprecationWarning` does not hide.

Explains:
    `torch\.jit\.\w+` is deprecated
    Please switch to `torch\.
"""

import io
import warnings

import torch

relu, x = torch.nn.ReLU(), torch.ones(1)
told = {}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.jit.script(relu)
    torch.jit.save(torch.jit.trace(relu, x), io.BytesIO())
for name in ("script", "trace", "save"):
    seen = [one for one in caught if f"`torch.jit.{name}` is " in str(one.message)]
    told[name] = f"{seen[0].category.__name__}: {seen[0].message}" if seen else "nothing"
kinds = {line.partition(":")[0] for line in told.values()}
print(told["script"] if len(kinds) == 1 else told)
