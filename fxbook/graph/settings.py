"""A snapshot of torch's process-wide settings, which tells what has changed later and restores the settings."""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

_GLOBAL_HOOKS = tuple(
    hooks
    for name, hooks in vars(nn.modules.module).items()
    if name.startswith("_global_") and name.endswith("_hooks") and isinstance(hooks, dict)
)


class _Setting(NamedTuple):
    """A process-wide setting of torch; ``put_back`` restores it, where that is possible."""

    words: str
    get: Callable[[], Any]
    put_back: Callable[[Any], object] | None = None


def _nothing(_: object) -> None:
    """Stands for the setter of a setting that this version of torch does not have."""


def _flushes() -> bool:
    """Whether torch treats the smallest float32 number as zero: torch has no function that returns this setting."""
    return not bool(_SMALLEST * 1.0)


def _dynamo() -> dict[str, Any]:
    """Dynamo's settings that differ from their defaults; none if Dynamo is not loaded."""
    config = sys.modules.get("torch._dynamo.config")
    found = config._get_dict(skip_default=True) if config is not None else {}
    return {name: value for name, value in found.items() if value != config._config[name].default}


def _put_back_dynamo(before: dict[str, Any]) -> None:
    config = sys.modules["torch._dynamo.config"]
    for name in _dynamo() | before:
        setattr(config, name, before.get(name, config._config[name].default))


_SMALLEST = torch.tensor(1e-45)
# Some have no public name; a setting that this version of torch lacks is skipped.
_C = torch._C
_SETTINGS = (
    # It also switches gradients off.
    _Setting("inference mode is switched {}", torch.is_inference_mode_enabled),
    _Setting("gradients are switched {}", torch.is_grad_enabled, _C._set_grad_enabled),
    _Setting("the default dtype is {}", torch.get_default_dtype, torch.set_default_dtype),
    _Setting("the default device is {}", torch.get_default_device, torch.set_default_device),
    _Setting("torch computes with {} threads", torch.get_num_threads, torch.set_num_threads),
    _Setting("anomaly detection is switched {}", torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
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
    _Setting("torch._dynamo.config holds the settings {}", _dynamo, _put_back_dynamo),
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


class Settings:
    """All settings as they are when this object is made.

    Args:
        author: how sentences name what runs afterwards.
    """

    def __init__(self, author: str) -> None:
        self._author = author
        self._before = [setting.get() for setting in _SETTINGS]

    def switched(self) -> Iterator[str]:
        """What differs now; each item is a sentence without its full stop."""
        for setting, before in zip(_SETTINGS, self._before, strict=True):
            now = setting.get()
            if now != before:
                told = {True: "on", False: "off"}[now] if isinstance(now, bool) else now
                yield f"{setting.words.format(told)} after {self._author} has run"

    def put_back(self) -> None:
        """Restore torch's settings, where that is possible."""
        for setting, before in zip(_SETTINGS, self._before, strict=True):
            if setting.put_back is not None and setting.get() != before:
                with contextlib.suppress(Exception):
                    setting.put_back(before)
