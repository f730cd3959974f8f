"""Measure each node of a graph: its time, its FLOPs, and the bytes that are alive after it.

```python
profile = Profile(fx.symbolic_trace(model))
with torch.no_grad():
    for _ in range(31):
        profile.run(images)
statistics.median(profile.seconds[node])
```
"""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import fx
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode


def memory(value: Any) -> dict[StorageWeakRef, int]:
    """The size in bytes of each storage that the dense tensors in a value use, however deeply they are nested."""
    parts = [part for part in tree_leaves(value) if isinstance(part, torch.Tensor)]
    stores = [part.untyped_storage() for part in parts if part.layout is torch.strided]
    return {StorageWeakRef(store): store.nbytes() for store in stores}


class Profile(fx.Interpreter):
    """An interpreter that counts in its first complete run, and only times the nodes in later runs.

    Counting takes time, so the first run is not timed. FLOPs and bytes come from the first run: make a new profile
    for inputs of a different size. Bytes do not include the weights of the module or what a layer holds internally. A
    graph from ``torch.compile`` takes its weights as inputs, so for such a graph they are counted.

    Attributes:
        seconds: for each node, the seconds that it took in each later run.
        flops: for each node, as `FlopCounterMode` counts them: 0 for operators without a formula.
        alive: for each node, the bytes of inputs and results that are alive after it.
    """

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.seconds: dict[fx.Node, list[float]] = {}
        self.flops: dict[fx.Node, int] = {}
        self.alive: dict[fx.Node, int] = {}
        self._is_counted = False

    def run(self, *args: Any, initial_env: dict[fx.Node, Any] | None = None, **options: Any) -> Any:
        """Like `Interpreter.run`; `boxed_run` calls it with the inputs in ``initial_env``."""
        if not self._is_counted:
            self.flops, self.alive = {}, {}
            self._weights = set(memory([*self.module.parameters(), *self.module.buffers()]))
            self._sizes = memory(list((initial_env or {}).values()))
        value = super().run(*args, initial_env=initial_env, **options)
        self._is_counted = True
        return value

    def run_node(self, n: fx.Node) -> Any:
        if self._is_counted:
            start = time.perf_counter()
            value = super().run_node(n)
            self.seconds.setdefault(n, []).append(time.perf_counter() - start)
            return value
        with FlopCounterMode(display=False) as counter:
            value = super().run_node(n)
        self.flops[n] = counter.get_total_flops()
        found = memory(value)
        if n.op == "get_attr":
            self._weights.update(found)
        self._sizes.update(found)
        made = self._sizes.keys() - self._weights
        self.alive[n] = sum(self._sizes[ref] for ref in made if not ref.expired())
        return value
