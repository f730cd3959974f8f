"""Make a complete copy of a GraphModule.

``copy.deepcopy`` rebuilds a GraphModule from its graph. That loses the module's hooks and attributes, submodules that
no node calls, and the second name of a shared one, and would hide every fault of a pass in them.
"""

from __future__ import annotations

import contextlib
import copy
from typing import Any

from torch import fx

HOOKS_OF_TENSORS = ("_backward_hooks", "_post_accumulate_grad_hooks")
_REGISTERED = ("_modules", "_parameters", "_buffers")
_OF_THE_GRAPH = {"_graph", "_code", "_lineno_map", "_prologue_start", "_erase_node_hooks", "_create_node_hooks"}


def copied(module: fx.GraphModule, memo: dict[int, Any] | None = None) -> fx.GraphModule:
    """Copy a module with its hooks, its attributes, and all names of each object.

    ``memo`` is as in ``copy.deepcopy``: objects in it are shared, not copied.

    Example:
        >>> import torch
        >>> module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
        >>> module.config = {"layers": 1}
        >>> copied(module).config, hasattr(copy.deepcopy(module), "config")
        ({'layers': 1}, False)
    """
    memo = {} if memo is None else memo
    root = copy.deepcopy(module, memo)
    for old in module.modules():
        if isinstance(old, fx.GraphModule) and id(old) in memo:
            _complete(memo[id(old)], old, memo)
    for held in module.parameters():
        new = memo.get(id(held), held)
        if new is not held:
            vars(new).update(vars(held))
            for hooks in HOOKS_OF_TENSORS:
                if kept := getattr(held, hooks, None):
                    setattr(new, hooks, kept)
    return root


def _complete(new: fx.GraphModule, old: fx.GraphModule, memo: dict[int, Any]) -> None:
    """Add to a copy what it lacks; ``memo`` prevents copying an object twice."""
    for name, held in vars(old).items():
        if name in _OF_THE_GRAPH:
            continue
        if name in _REGISTERED:
            setattr(new, name, {key: copy.deepcopy(one, memo) for key, one in held.items()})
        elif name == "_non_persistent_buffers_set":
            new._non_persistent_buffers_set = set(held)
        elif name.endswith("_hooks") or name.endswith("_hooks_with_kwargs") or name not in vars(new):
            # An attribute that cannot be copied, such as a lock, may be lost.
            with contextlib.suppress(Exception):
                vars(new)[name] = copy.deepcopy(held, memo)
