"""What the grader is willing to call when it rebuilds a student's graph: an allow-list, by the names that graphs use.

What is on it only computes with tensors and numbers. It calls nothing that it is passed, reads and writes no file, does
not touch the state of torch or Python, and hands out no raw memory. What is missing costs nobody a point: the outputs
of such a graph stay as the student's process claims them, and the teacher is told.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
import re
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.overrides import get_overridable_functions

from fxbook.naming import callable_name


def _words(text: str) -> list[str]:
    return text.split()


# ---- functions -------------------------------------------------------------------------------------------------------

# torch makes these from numbers, so that its list of what can be overridden does not have them.
_MAKERS = _words(
    "arange as_tensor bartlett_window blackman_window broadcast_shapes can_cast eye full hamming_window hann_window "
    "is_tensor kaiser_window linspace logspace normal ones promote_types rand rand_like randint randint_like randn "
    "randn_like randperm range result_type scalar_tensor tensor tril_indices triu_indices vander zeros _assert"
)
_MORE_FUNCTIONAL = _words("hardsigmoid hardswish sigmoid tanh threshold upsample upsample_bilinear upsample_nearest")
# By parts of names: layouts, devices and formats of numbers that no exercise has, whose kernels check little of what
# they get; memory that nobody has filled; what is passed a function.
_DENIED = re.compile(
    r"autocast|cudnn|miopen|mkldnn|fbgemm|fake_quant|quantize|quantized|_quant$|qparams|^q_|int_repr|obs_fake|^sym_|"
    r"sparse|coalesce|crow_indices|ccol_indices|^col_indices|^row_indices|^indices_copy|^values_copy|^indices$|"
    r"^[dhs]?smm$|^hspmm|^spmm|saddmm|sspaddmm|batch_norm_.*(elemt|stats|reduce)|empty|^resize|^set_|"
    r"^(lstm|gru|rnn_tanh|rnn_relu)$|slice_inverse|with_distance|is_distributed|lobpcg|fork|^_(?!assert$)"
)
_NOT_IN_OPERATOR = {"attrgetter", "itemgetter", "methodcaller", "call"}
_BUILTINS = _words("abs all any bool complex divmod float getattr int len list max min pow range round slice sum tuple")
# An operator of aten is one of the functions and methods above by another name, or one of these.
_ATEN = {
    "_log_softmax", "_native_batch_norm_legit", "_softmax", "_to_copy", "_unsafe_view", "alias", "lift_fresh_copy",
    "slice", "upsample_bilinear2d", "upsample_nearest2d",
}  # fmt: skip
_OVERLOAD = re.compile(r"torch\.ops\.aten\.([a-z][a-z0-9_]*|_[a-z][a-z0-9_]*)(?:\.([A-Za-z][A-Za-z0-9_]*))?")


@functools.cache
def functions() -> Mapping[str, Callable[..., Any]]:
    """The functions that may be called, by readable name; operators of aten apart, for which see :func:`function`."""
    overridable = get_overridable_functions()
    found: list[Any] = [getattr(torch, name) for name in _MAKERS]
    for space in (torch, torch.functional, nn.functional, torch.special, torch.linalg, torch.fft):
        found += [one for one in overridable.get(space, ()) if not _DENIED.search(_bare(one.__name__))]
    found += [getattr(nn.functional, name) for name in _MORE_FUNCTIONAL]
    found += [torch.fft.fftfreq, torch.fft.rfftfreq, torch.zero_, torch.fill_]
    known = {_bare(one.__name__) for one in found}
    for space in (torch, nn.functional):
        in_place = (one for name, one in vars(space).items() if name.endswith("_") and name[:-1] in known)
        found += [one for one in in_place if callable(one)]
    found += [
        one
        for name, one in (*vars(operator).items(), *vars(math).items())
        if isinstance(one, types.BuiltinFunctionType) and not name.startswith("_") and name not in _NOT_IN_OPERATOR
    ]
    found += [getattr(torch.Tensor, name) for name in sorted(methods()) if callable(getattr(torch.Tensor, name, None))]
    found.append(torch.fx._symbolic_trace._assert_is_none)  # type: ignore[attr-defined]
    named = {name: one for one in reversed(found) if not (name := callable_name(one)).startswith("torch._tensor.")}
    return {**named, **{f"builtins.{name}": getattr(builtins, name) for name in _BUILTINS}}


def function(name: str) -> Callable[..., Any] | None:
    """The function of a readable name, or ``None`` where it is not on the list."""
    if name in functions():
        return functions()[name]
    match = _OVERLOAD.fullmatch(name)
    if match is None or not _is_allowed_aten(match[1]):
        return None
    packet = getattr(torch.ops.aten, match[1], None)
    found = packet if match[2] is None else getattr(packet, match[2], None)
    return found if isinstance(found, torch._ops.OpOverload | torch._ops.OpOverloadPacket) else None


def _is_allowed_aten(name: str) -> bool:
    plain = name.removesuffix("_")
    if name in _ATEN or plain in methods() or name in methods():
        return True
    names = {f"{space}.{plain}" for space in ("torch", "torch.nn.functional")}
    return not names.isdisjoint(functions())


def _bare(name: str) -> str:
    for prefix in ("special_", "linalg_", "fft_"):
        name = name.removeprefix(prefix)
    return name


# ---- methods and attributes of tensors -------------------------------------------------------------------------------

_DENIED_METHODS = re.compile(
    r"^(apply_|map_|map2_|backward|numpy|data_ptr|const_data_ptr|share_memory_|is_shared|storage|storage_type|"
    r"storage_offset|untyped_storage|pin_memory|is_pinned|is_set_to|record_stream|module_load|cuda|xpu|ipu|mtia|"
    r"register_hook|register_post_accumulate_grad_hook|retain_grad|as_strided_|to_mkldnn|qscheme|values|"
    r"is_inference|refine_names|rename_?)$"
)
# What Python writes with signs.
_SIGNS = _words(
    "abs add and bool contains eq float floordiv ge getitem gt int invert le len lshift lt matmul mod mul ne neg or "
    "pos pow reversed rshift setitem sub truediv xor"
)
_BY_SIGNS = {f"__{side}{name}__" for name in _SIGNS for side in ("", "r", "i")}
_MORE_METHODS = {"new_zeros", "new_ones", "new_full", "new_tensor", "stride", "unflatten", "items", "keys"}
# Of what a graph calls a method of: numbers, tensors, shapes, tuples, dicts.
_ATTRIBUTES = _words(
    "T mT H mH shape dtype device layout ndim real imag itemsize nbytes requires_grad training is_leaf is_cuda "
    "is_sparse is_meta is_quantized data grad start stop step denominator numerator is_floating_point is_complex "
    "values indices Q R U S Vh V L LU P pivots info sign logabsdet eigenvalues eigenvectors solution residuals rank "
    "singular_values mantissa exponent min max hist bin_edges"
)


@functools.cache
def methods() -> frozenset[str]:
    """The methods that may be called."""
    public = {one.__name__ for one in get_overridable_functions()[torch.Tensor]}
    kept = {name for name in public if not _DENIED.search(name) and not _DENIED_METHODS.search(name)}
    return frozenset({name for name in kept if hasattr(torch.Tensor, name)} | _MORE_METHODS | _BY_SIGNS)


def is_attribute(name: object) -> bool:
    """Whether ``getattr`` may fetch this: plain data of a tensor, and parts of what torch returns in several parts."""
    return isinstance(name, str) and name in _ATTRIBUTES


# ---- modules ---------------------------------------------------------------------------------------------------------

_MODULES = _words(
    "Module Sequential ModuleList ModuleDict Identity Flatten Unflatten Linear Bilinear Embedding "
    "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
    "BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d GroupNorm LayerNorm RMSNorm "
    "LocalResponseNorm Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout "
    "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish PReLU ReLU ReLU6 "
    "RReLU SELU Sigmoid SiLU Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold "
    "MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d "
    "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
    "ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d "
    "ReplicationPad1d ReplicationPad2d CircularPad1d CircularPad2d "
    "Upsample UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle PixelUnshuffle ChannelShuffle Fold Unfold "
    "CosineSimilarity PairwiseDistance"
)
_CLASSES: Mapping[str, type[nn.Module]] = {f"torch.nn.{name}": getattr(nn, name) for name in _MODULES}


def module_class(name: str) -> type[nn.Module] | None:
    """The class of torch.nn of a readable name, all of whose state is plain data and tensors; ``None`` for others."""
    return _CLASSES.get(name)
