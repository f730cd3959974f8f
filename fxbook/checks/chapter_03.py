"""What the exercises of chapter 03 ask: nodes replaced, fused, swapped and erased, and nothing left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

# What torch imports at the first operator that a TorchDispatchMode meets: most of the time that an answer has.
import torch._dynamo
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from fxbook.asking.exercise import Case
from fxbook.asking.explained import given_edited, output_last
from fxbook.asking.families import RELU
from fxbook.asking.predicates import edited, input_unchanged, new_object, none_left, same_result, shares_weights
from fxbook.checks.legacy import Exercise, compiled, look, same_result_or, where
from fxbook.checks.models_03 import (
    Affine,
    ChannelAttention,
    Convolutional,
    Dropping,
    Effects,
    Products,
    Pyramid,
    Regular,
    Swappable,
    Working,
)
from fxbook.checks.properties_03 import (
    POOL,
    arguments_kept,
    dropouts_taken_out,
    effects_kept,
    factors_kept,
    inputs_kept,
    keeps_modules,
    no_leftovers,
    nothing_dead,
    pools_are_modules,
    pools_before_relus,
    products_fused,
    reads_input_of_dropout,
    sizes_kept,
    swapped_only,
    well_formed,
    with_its_graph,
)
from fxbook.checks.relu_models_03 import (
    Encoder,
    EverySpelling,
    FrozenEncoder,
    InPlace,
    Recurrent,
    Relatives,
    Residual,
    Skips,
    WithRelus,
)
from fxbook.checks.relu_properties_03 import (
    inputs_unchanged,
    or_refused,
    others_stay,
    read_after_in_place,
    refused_or_replaced,
    relus_hidden,
    skips_stay,
)


def without_dropout(model: nn.Module, x: Tensor) -> Any:
    """The model with every dropout switched off, and nothing else."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    return model(x)


class _GeluForRelu(TorchFunctionMode):
    """Computes GELU wherever a ReLU is called, in any spelling; in place where that was."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if name == "rnn_relu_cell":
            x, hidden, from_input, from_hidden, *biases = args
            return nn.functional.gelu(x @ from_input.T + hidden @ from_hidden.T + sum(biases))
        if name not in ("relu", "relu_"):
            return function(*args, **kwargs)
        value = args[0] if args else kwargs["input"]
        result = nn.functional.gelu(value)
        in_place = name == "relu_" or kwargs.get("inplace") or True in args[1:]
        return value.copy_(result) if in_place else result


def with_gelu(model: nn.Module, x: Tensor) -> Any:
    with _GeluForRelu():
        return model(x)


def rows(count: int = 1, width: int = 4) -> Callable[[], tuple[Tensor, ...]]:
    """``count`` inputs of three rows."""
    return lambda: tuple(torch.randn(3, width) for _ in range(count))


def images(side: int = 8) -> Callable[[], tuple[Tensor, ...]]:
    """One input: two images of one channel."""
    return lambda: (torch.randn(2, 1, side, side),)


def rectified(name: str, build: type[WithRelus], unseen: bool = True) -> Case:
    """The pass is called with the model and inputs to try it with."""
    return Case(
        name,
        build,
        lambda: (torch.randn(build.shape),),
        unseen=unseen,
        given=lambda model: (model, *model.example()),  # type: ignore[operator]
    )


def _shown(*properties: Any) -> Any:
    """The properties, for the models that run no ReLU out of sight."""
    return where(lambda case: not relus_hidden(case), *properties)


_EDITED = (edited, given_edited)

EXERCISES = (
    Exercise(
        id="03-drop-dropout",
        use="edit",
        cases=(
            Case("an MLP with dropout", Regular, rows()),
            Case("a dropout called often, two in a row, dropouts of another kind", Dropping, rows(), unseen=True),
        ),
        expected=without_dropout,
        call=with_its_graph,
        properties=(
            arguments_kept,
            well_formed,
            compiled,
            *_EDITED,
            dropouts_taken_out,
            same_result_or(reads_input_of_dropout),
            nothing_dead,
            no_leftovers,
        ),
    ),
    Exercise(
        id="03-pool-as-module",
        use="edit",
        cases=(
            Case("the model of the chapter", ChannelAttention, images(6)),
            Case("pools of three sizes", Pyramid, images(), unseen=True),
        ),
        call=with_its_graph,
        properties=(
            arguments_kept,
            well_formed,
            compiled,
            *_EDITED,
            keeps_modules,
            none_left(POOL),
            pools_are_modules,
            same_result_or(sizes_kept),
            nothing_dead,
            no_leftovers,
        ),
    ),
    Exercise(
        id="03-pool-before-relu",
        use="edit",
        cases=(
            Case("convolution, ReLU, pool", Convolutional, images()),
            Case("shared modules, a ReLU with two readers", Swappable, images(16), unseen=True),
        ),
        call=with_its_graph,
        properties=(
            arguments_kept,
            well_formed,
            output_last,
            compiled,
            *_EDITED,
            same_result_or(swapped_only),
            nothing_dead,
            pools_before_relus,
        ),
    ),
    Exercise(
        id="03-fuse-addcmul",
        use="edit",
        cases=(
            Case("a scale and a shift", Affine, rows()),
            Case("products in all positions, some read twice", Products, rows(2), unseen=True),
        ),
        call=with_its_graph,
        properties=(
            arguments_kept,
            well_formed,
            compiled,
            *_EDITED,
            same_result_or(factors_kept, products_fused),
            nothing_dead,
            products_fused,
        ),
    ),
    Exercise(
        id="03-clean-up",
        use="edit",
        cases=(
            Case("dead branches beside work in place", Working, rows()),
            Case("effects by keyword and of modules", Effects, rows(2), unseen=True),
        ),
        call=with_its_graph,
        properties=(
            arguments_kept,
            well_formed,
            compiled,
            *_EDITED,
            factors_kept,
            inputs_kept,
            output_last,
            effects_kept,
            same_result,
            look("03_replacement#say-what-has-an-effect", nothing_dead),
            no_leftovers,
        ),
    ),
    Exercise(
        id="03-every-relu",
        use="pass",
        cases=(
            rectified("every spelling", EverySpelling, unseen=False),
            rectified("in place, and read afterwards", InPlace),
            rectified("not in place, and read afterwards", Skips),
            rectified("batch norm, and a block called twice", Residual),
            rectified("activations that are no ReLU", Relatives),
            rectified("a leaf module with a ReLU inside", Encoder),
            rectified("another leaf module with a ReLU", Recurrent),
            rectified("a frozen leaf module with a ReLU", FrozenEncoder),
        ),
        expected=with_gelu,
        call=or_refused,
        properties=(
            inputs_unchanged,
            where(relus_hidden, refused_or_replaced),
            _shown(
                well_formed,
                compiled,
                none_left(RELU),
                same_result_or(read_after_in_place, skips_stay, others_stay),
                nothing_dead,
                no_leftovers,
            ),
            input_unchanged,
            _shown(new_object, shares_weights),
        ),
    ),
)
