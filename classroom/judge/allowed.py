"""The allow-list of what the grader may call when it rebuilds a student's graph, by the names that graphs use.

It contains the operations of tasks, models and right answers in all their spellings, and closely related ones:
element-wise operations, shape changes, reductions, matrix products, and a few layers. None of them calls its arguments,
accesses files, changes the state of torch or Python, or exposes raw memory.

The list is a second line of defence. The first is the sandbox, because torch's kernels do not check all of their
inputs. A missing operation costs no points: the outputs that the student's process claims are used, and the teacher is
told.
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

from fxbook.graph.naming import callable_name


def _words(text: str) -> list[str]:
    return text.split()


# ---- functions -------------------------------------------------------------------------------------------------------

_ELEMENTWISE = _words(
    "abs absolute add addcdiv addcmul bitwise_and bitwise_not bitwise_or bitwise_xor ceil celu clamp clamp_max "
    "clamp_min clip cos cosh deg2rad div divide elu eq erf erfc exp exp2 expit expm1 fill float_power floor "
    "floor_divide fmod frac ge gelu greater greater_equal gt hardshrink hardsigmoid hardswish hardtanh isclose "
    "isfinite isinf isnan le leaky_relu lerp less less_equal log log10 log1p log2 logaddexp logical_and logical_not "
    "logical_or logical_xor logit logsigmoid lt masked_fill maximum minimum mish mul multiply nan_to_num ne neg "
    "negative not_equal positive pow prelu reciprocal relu relu6 remainder round rsqrt rsub selu sgn sigmoid sign "
    "silu sin sinc sinh softplus softsign sqrt square sub subtract tan tanh tanhshrink threshold true_divide trunc "
    "where xlogy zero"
)
_REDUCTIONS = _words(
    "all amax amin aminmax any argmax argmin argsort count_nonzero cummax cummin cumprod cumsum log_softmax logsumexp "
    "max mean min nanmean nansum norm numel prod softmax softmin sort std sum topk var"
)
_SHAPES = _words(
    "atleast_1d atleast_2d broadcast_tensors broadcast_to cat chunk clone column_stack concat concatenate detach diag "
    "diagonal expand_copy flatten flip fliplr flipud hstack meshgrid moveaxis movedim narrow permute ravel "
    "repeat_interleave reshape roll rot90 select slice split split_with_sizes squeeze stack swapaxes swapdims t "
    "tensor_split tile transpose tril triu unbind unflatten unsqueeze vstack"
)
_PRODUCTS = _words(
    "addmm addmv baddbmm bmm dot einsum linear matmul mm mv outer scaled_dot_product_attention tensordot vdot"
)
_LAYERS = _words(
    "adaptive_avg_pool1d adaptive_avg_pool2d alpha_dropout avg_pool1d avg_pool2d conv1d conv2d dropout "
    "feature_dropout glu group_norm layer_norm max_pool1d max_pool2d normalize pad"
)
_MAKERS = _words(
    "arange as_tensor eye full full_like linspace ones ones_like rand rand_like randn randn_like scalar_tensor tensor "
    "zeros zeros_like _assert"
)
_OPERATIONS = frozenset(_ELEMENTWISE + _REDUCTIONS + _SHAPES + _PRODUCTS + _LAYERS)
_NAMESPACES = (torch, nn.functional, torch.special, torch.linalg)
_NOT_IN_OPERATOR = {"attrgetter", "itemgetter", "methodcaller", "call"}
_BUILTINS = _words("abs all any bool complex divmod float getattr int len list max min pow range round slice sum tuple")
# Additional names under which torch calls these operations internally.
_ATEN = frozenset(
    _words("_log_softmax _softmax _to_copy _unsafe_view alias expand lift_fresh_copy native_dropout view")
)
_OVERLOAD = re.compile(r"torch\.ops\.aten\.([a-z][a-z0-9_]*|_[a-z][a-z0-9_]*)(?:\.((?!\w*out)[A-Za-z][A-Za-z0-9_]*))?")


@functools.cache
def functions() -> Mapping[str, Callable[..., Any]]:
    spelled = [variant for name in sorted(_OPERATIONS) for variant in (name, f"{name}_")]
    callables: list[Any] = [getattr(torch, name) for name in _MAKERS]
    callables += [vars(space)[name] for space in _NAMESPACES for name in spelled if callable(vars(space).get(name))]
    callables += [
        value
        for name, value in (*vars(operator).items(), *vars(math).items())
        if isinstance(value, types.BuiltinFunctionType) and not name.startswith("_") and name not in _NOT_IN_OPERATOR
    ]
    callables += [
        getattr(torch.Tensor, name) for name in sorted(methods()) if callable(getattr(torch.Tensor, name, None))
    ]
    callables.append(torch.fx._symbolic_trace._assert_is_none)  # type: ignore[attr-defined]
    named = {
        name: value for value in reversed(callables) if not (name := callable_name(value)).startswith("torch._tensor.")
    }
    return {**named, **{f"builtins.{name}": getattr(builtins, name) for name in _BUILTINS}}


def function(name: str) -> Callable[..., Any] | None:
    """The allowed function with this readable name, or ``None``."""
    if name in functions():
        return functions()[name]
    match = _OVERLOAD.fullmatch(name)
    if match is None or not {match[1], match[1].removesuffix("_")} & (_OPERATIONS | _ATEN):
        return None
    packet = getattr(torch.ops.aten, match[1], None)
    overload = packet if match[2] is None else getattr(packet, match[2], None)
    return overload if isinstance(overload, torch._ops.OpOverload | torch._ops.OpOverloadPacket) else None


# ---- methods and attributes of tensors -------------------------------------------------------------------------------

# What Python writes as operators.
_SIGNS = _words(
    "abs add and bool contains eq float floordiv ge getitem gt int invert le len lshift lt matmul mod mul ne neg or "
    "pos pow reversed rshift setitem sub truediv xor"
)
_BY_SIGNS = {f"__{side}{name}__" for name in _SIGNS for side in ("", "r", "i")}
_METHODS = _words(
    "bfloat16 bool byte contiguous cpu dim double expand expand_as float half int is_complex is_contiguous "
    "is_floating_point item items keys long ndimension new_full new_ones new_tensor new_zeros repeat requires_grad_ "
    "reshape_as short size stride sum_to_size to tolist type_as view view_as"
)
_ATTRIBUTES = _words(
    "T mT H mH shape dtype device layout ndim real imag itemsize nbytes requires_grad training is_leaf is_cuda "
    "is_sparse is_meta is_quantized data start stop step denominator numerator is_floating_point is_complex values "
    "indices min max"
)


@functools.cache
def methods() -> frozenset[str]:
    spelled = {variant for name in _OPERATIONS for variant in (name, f"{name}_")}
    return frozenset({name for name in spelled if hasattr(torch.Tensor, name)} | set(_METHODS) | _BY_SIGNS)


def is_attribute(name: object) -> bool:
    """Whether ``getattr`` may read this: plain data of a tensor, or a field of a multi-part result."""
    return isinstance(name, str) and name in _ATTRIBUTES


# ---- modules ---------------------------------------------------------------------------------------------------------

_MODULES = _words(
    "Module Sequential ModuleList ModuleDict Identity Flatten Unflatten Linear Embedding Conv1d Conv2d BatchNorm1d "
    "BatchNorm2d GroupNorm LayerNorm RMSNorm Dropout Dropout1d Dropout2d AlphaDropout FeatureAlphaDropout CELU ELU "
    "GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish PReLU ReLU ReLU6 SELU "
    "Sigmoid SiLU Softmax Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold MaxPool1d MaxPool2d AvgPool1d "
    "AvgPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d ZeroPad1d ZeroPad2d"
)
_CLASSES: Mapping[str, type[nn.Module]] = {f"torch.nn.{name}": getattr(nn, name) for name in _MODULES}


def module_class(name: str) -> type[nn.Module] | None:
    """The allowed class of torch.nn, whose state is only plain data and tensors, or ``None``."""
    return _CLASSES.get(name)
