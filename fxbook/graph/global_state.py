"""A snapshot of what no answer may change: torch's modes, the inputs, hooks, and the model's modes and weights."""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import fx, nn
from torch.utils import _pytree as pytree

from fxbook.graph.given import Given, bytes_of
from fxbook.graph.record import insertion_text

_Tensor, _Graph, _GraphModule = torch.Tensor, fx.Graph, fx.GraphModule
_GLOBAL_HOOKS = tuple(
    hooks
    for name, hooks in vars(nn.modules.module).items()
    if name.startswith("_global_") and name.endswith("_hooks") and isinstance(hooks, dict)
)


class _Setting(NamedTuple):
    """A process-wide setting of torch; ``put_back`` restores it, if that is possible."""

    words: str
    get: Callable[[], Any]
    put_back: Callable[[Any], object] | None = None


def _nothing(_: object) -> None:
    """Stands for a setting that this version of torch does not have."""


def _flushes() -> bool:
    """Whether torch flushes denormal numbers to zero; torch has no function that says so."""
    return not bool(_SMALLEST * 1.0)


def _dynamo() -> dict[str, Any]:
    """The settings of Dynamo that differ from their defaults, if Dynamo is loaded."""
    config = sys.modules.get("torch._dynamo.config")
    found = config._get_dict(skip_default=True) if config is not None else {}
    return {name: value for name, value in found.items() if value != config._config[name].default}


def _put_back_dynamo(before: dict[str, Any]) -> None:
    config = sys.modules["torch._dynamo.config"]
    for name in _dynamo() | before:
        setattr(config, name, before.get(name, config._config[name].default))


_SMALLEST = torch.tensor(1e-45)
# Some have no public name; a setting that a version of torch lacks is not checked.
_C = torch._C
_SETTINGS = (
    # Inference mode switches gradients off, too.
    _Setting("inference mode is switched {}", torch.is_inference_mode_enabled),
    _Setting("gradients are switched {}", torch.is_grad_enabled, _C._set_grad_enabled),
    _Setting("the default dtype is {}", torch.get_default_dtype, torch.set_default_dtype),
    _Setting("the default device is {}", torch.get_default_device, torch.set_default_device),
    _Setting("torch computes with {} threads", torch.get_num_threads, torch.set_num_threads),
    _Setting("the search for anomalies is switched {}", torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    _Setting(
        "deterministic algorithms are switched {}",
        getattr(_C, "_get_deterministic_algorithms", bool),
        getattr(_C, "_set_deterministic_algorithms", _nothing),
    ),
    _Setting(
        "autocast is switched {}",
        lambda: torch.is_autocast_enabled("cpu"),
        lambda on: torch.set_autocast_enabled("cpu", on),
    ),
    _Setting(
        "the fast path of attention is switched {}",
        torch.backends.mha.get_fastpath_enabled,
        torch.backends.mha.set_fastpath_enabled,
    ),
    _Setting("{} modes of torch functions are active", getattr(_C, "_len_torch_function_stack", int)),
    _Setting("{} modes of torch dispatch are active", getattr(_C, "_len_torch_dispatch_stack", int)),
    _Setting("torch's random numbers have the seed {}", torch.initial_seed),
    _Setting("{} hooks are on every module of the process", lambda: sum(map(len, _GLOBAL_HOOKS))),
    _Setting(
        "the precision of matrix products is {!r}",
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
    ),
    _Setting("numbers too small for the dtype are flushed to zero: {}", _flushes, torch.set_flush_denormal),
    _Setting("what is set in torch._dynamo.config is {}", _dynamo, _put_back_dynamo),
    *(
        _Setting(
            f"torch.backends.{home}.{name} is {{}}",
            functools.partial(getattr, backend, name),
            functools.partial(setattr, backend, name),
        )
        for home, name in (
            ("mkldnn", "enabled"),
            ("mkldnn", "deterministic"),
            ("cudnn", "enabled"),
            ("cudnn", "benchmark"),
            ("cudnn", "deterministic"),
            ("cudnn", "allow_tf32"),
            ("cuda.matmul", "allow_tf32"),
        )
        if hasattr(backend := operator.attrgetter(home)(torch.backends), name)
    ),
)


class GlobalStateSnapshot:
    """The state just before an answer is called.

    ``models`` are snapshots of the modules among the ``arguments``; ``author`` names whoever changed something in the
    sentences.
    """

    def __init__(self, arguments: tuple[Any, ...], models: Sequence[Given], author: str = "your code") -> None:
        self._author = author
        self._settings = [setting.get() for setting in _SETTINGS]
        self._models = models
        # Weak, because some exercises require that inputs are freed early.
        self._tensors = [
            (weakref.ref(leaf), leaf.detach().clone(), leaf.requires_grad)
            for leaf in pytree.tree_leaves(arguments)
            if isinstance(leaf, _Tensor)
        ]
        self._graphs = [argument for argument in arguments if isinstance(argument, _Graph)]
        self._inserted = set(map(insertion_text, self._all_graphs()))

    def side_effects(self) -> list[str]:
        """What has changed; each is a sentence without its full stop."""
        return [
            *self._switched(),
            *(
                f"a tensor that {self._author} was given holds other values"
                for tensor, before, _ in self._tensors
                if not _same(tensor(), before)
            ),
            *(
                f"a tensor that {self._author} was given now has requires_grad={not before}"
                for tensor, _, before in self._tensors
                if (given := tensor()) is not None and given.requires_grad != before
            ),
            *(change for model in self._models for change in model.touched()),
            *(
                f"a graph that {self._author} was given still inserts {where}: "
                "the next node lands there, not at the end"
                for where in map(insertion_text, self._all_graphs())
                if where not in self._inserted
            ),
        ]

    def put_back(self) -> None:
        """Restore torch's settings, as far as possible."""
        for setting, before in zip(_SETTINGS, self._settings, strict=True):
            if setting.put_back is not None and setting.get() != before:
                with contextlib.suppress(Exception):
                    setting.put_back(before)

    def _all_graphs(self) -> Iterator[fx.Graph]:
        yield from self._graphs
        for model in self._models:
            yield from (module.graph for module in model.root.modules() if isinstance(module, _GraphModule))

    def _switched(self) -> Iterator[str]:
        for setting, before in zip(_SETTINGS, self._settings, strict=True):
            now = setting.get()
            if now != before:
                told = {True: "on", False: "off"}[now] if isinstance(now, bool) else now
                yield f"{setting.words.format(told)} after {self._author} has run"


def _same(tensor: torch.Tensor | None, before: torch.Tensor) -> bool:
    if tensor is None:
        return True
    if tensor.shape != before.shape or tensor.dtype != before.dtype:
        return False
    if tensor.layout != torch.strided or tensor.is_meta or tensor.is_quantized:
        return True
    return torch.equal(bytes_of(tensor), bytes_of(before))
