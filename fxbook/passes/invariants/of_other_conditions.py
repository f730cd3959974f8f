"""The invariants under other conditions: in the other mode, with other values, dtypes and devices."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from fxbook.passes.asking import NotCheckedError, Told, invariant
from fxbook.passes.calling import Inputs
from fxbook.passes.growing.inputs import open_dimensions, takes_sizes
from fxbook.passes.likeness import difference, of_outcomes
from fxbook.passes.modes import calls_with_a_mode, in_mode
from fxbook.passes.outcome import Outcome, has_fractions, is_finite, numbers_of, one_line, outcome
from fxbook.passes.placing import elsewhere
from fxbook.passes.trial import Trial
from fxbook.passes.varying import varied, with_other_numbers

_EXACT = ("with all signs flipped", "with other imaginary parts")
_SIGNS = ("with all signs flipped", "with every other sign flipped")
_OF_NUMBERS = (*_EXACT, _SIGNS[1], "with zeros and equal numbers", "with other masks")
_OF_WHOLE = (
    "with other whole numbers",
    "with whole numbers larger by 1",
    "with large whole numbers",
    "with whole numbers of either sign",
)
_TURNED, _CHANNELS_LAST = "that are not contiguous", "in channels_last"
_FAR = "with 3000 added"
_COARSE = ("times 1000", _FAR, "with nan")
_PLACE = (
    "take both from an input, as in torch.ones(n, dtype=x.dtype, device=x.device), and register a tensor as a buffer"
)
_READS = (
    "torch.compile and torch.export cannot record code that reads a number: compute with tensors, as torch.where does"
)
_CASTS = "call an operation that autocast treats like the old one, such as F.linear for a layer"
_CURE = "treat all numbers as the old node did, or document which ones the pass is for"


@invariant
def values_in_another_mode(trial: Trial) -> Told | None:
    """The values are also the same in the other mode: in training for a module in eval mode, and vice versa.

    A pass that is right only in training mode is a fault, since a model is evaluated later. Many passes are right only
    in eval mode and remove a layer that depends on the mode, for example by folding a batch norm: this is advice. If
    all such layers are still called, different values are a fault in either mode.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.values_in_another_mode(lambda module: None, random_graph(7))
    """
    trains = trial.before.training
    other = "eval" if trains else "training"
    with in_mode(trial.before, not trains) as switched:
        if not switched:
            raise NotCheckedError("an exported module keeps its mode")
        before = outcome(trial.before, trial.inputs)
    if before.error is not None:
        raise NotCheckedError(f"in {other} mode the module raises {one_line(before.error)}, before the pass too")
    with in_mode(trial.after, not trains):
        after = outcome(trial.after, trial.inputs)
    said = of_outcomes(before, after, trial.rtol, trial.atol)
    # A difference in both modes does not depend on the mode.
    if said is None or of_outcomes(*trial.outcomes(trial.inputs), trial.rtol, trial.atol) is not None:
        return None
    cure = "keep each layer that has a mode, " + (
        "or read `training` when it runs" if trains else "or document that the pass is for eval mode"
    )
    fewer = calls_with_a_mode(trial.after) < calls_with_a_mode(trial.before)
    return Told(f"in {other} mode {said}", cure, advice=fewer and not trains)


@invariant
def values_of_other_numbers(trial: Trial) -> Told | None:
    """The values are also the same for other signs, zeros, integers, masks and strides, or another dtype or device.

    Different values are advice for inputs 1,000 times as large, inputs far from 0, and nan, as is a different dtype in
    autocast; nan instead of a number is a fault. Nothing is checked where the module raises before the pass, as for an
    index that is out of range. Where it gives nan or infinity for other signs, a different result is advice; elsewhere,
    such results are not checked.

    Example:
        >>> import torch
        >>> from fxbook import invariants
        >>> def wrong(module):
        ...     [node] = module.graph.find_nodes(op="call_function", target=torch.abs)
        ...     node.replace_all_uses_with(node.args[0])
        ...     module.graph.erase_node(node)
        ...     module.recompile()
        >>> module = torch.fx.symbolic_trace(lambda x: torch.abs(x) + 1)
        >>> invariants.values_of_other_numbers(wrong, module, (torch.ones(2),))
        Traceback (most recent call last):
        fxbook.passes.report.ValuesOfOtherNumbersError: values_of_other_numbers: with all signs ...
    """
    if of_outcomes(*trial.outcomes(trial.inputs), trial.rtol, trial.atol) is not None:
        raise NotCheckedError("the values differ even for the original inputs")
    told, asked = [], 0
    ways = varied(trial.inputs, (*_OF_NUMBERS, *_OF_WHOLE, _TURNED, _CHANNELS_LAST, *_COARSE))
    numbers = () if takes_sizes(trial.before) else with_other_numbers(trial.inputs)
    for words, inputs in itertools.chain(ways, numbers, _with_other_defaults(trial)):
        before = outcome(trial.before, inputs)
        if before.error is not None or not (is_finite(before) or words in ("with nan", *_SIGNS)):
            continue
        asked += 1
        after = outcome(trial.after, inputs)
        exact = words in (*_EXACT, *_OF_WHOLE)
        coarse = (max(trial.rtol or 0, 1e-3), max(trial.atol or 0, 1e-4 * _largest(before)))
        limits = (trial.rtol, trial.atol) if exact else coarse
        if words == _FAR:
            # The sum alone costs a number three digits of precision.
            limits = (0.05, 0.05 * _largest(before))
        if said := of_outcomes(before, after, *limits, layout=words != _TURNED):
            told.append(Told(f"{words}, {said}", _CURE, advice=_is_advice(words, before, after)))
            if not told[-1].advice:
                return told[-1]
    told += filter(None, [_elsewhere(trial), _in_autocast(trial), _in_half(trial)])
    if not asked:
        raise NotCheckedError("no input has numbers that can be changed, or the module does not run on them")
    trial.checked_on = asked
    return min(told, key=lambda one: one.advice, default=None)


def _with_other_defaults(trial: Trial) -> Iterator[tuple[str, Inputs]]:
    """For each omitted input whose default is a number: the inputs, and a different number for that one by name."""
    left_out = trial.before.graph.find_nodes(op="placeholder")[len(trial.inputs) :]
    defaults = {node.target: node.args[0] for node in left_out if node.args and node.target not in trial.inputs.kwargs}
    for name, held in defaults.items():
        if isinstance(held, bool | int | float):
            other = not held if isinstance(held, bool) else held + 1
            yield f"with {name}={other!r}", Inputs(trial.inputs, trial.inputs.kwargs | {name: other})


def _is_advice(words: str, before: Outcome, after: Outcome) -> bool:
    if not is_finite(before):
        return True
    if after.error is not None:
        if words in (_TURNED, _CHANNELS_LAST):
            # A kernel may accept only dense tensors, but using a view instead of a reshape is a mistake.
            return "view size is not compatible" not in str(after.error)
        # An index may be out of range for the new node, but by chance in range for the old one.
        return words in (*_COARSE, *_OF_WHOLE[1:], "with other Python numbers")
    if words == _TURNED:
        # Some torch kernels read past the rows of such inputs, with and without the pass.
        return True
    if words == _CHANNELS_LAST:
        return of_outcomes(before, after, 1e-3, 1e-4 * _largest(before), layout=False) is None
    if words == "with zeros and equal numbers":
        # Which of two equal numbers comes first is unspecified.
        return any(isinstance(leaf, Tensor) and not has_fractions(leaf) for leaf in pytree.tree_leaves(before.result))
    if words == "times 1000":
        return is_finite(after) or any(leaf.dtype.itemsize < 4 for leaf in numbers_of(before))
    return words in _COARSE


def _elsewhere(trial: Trial) -> Told | None:
    """Whether the pass has hard-coded into the graph the dtype or the device on which it ran."""
    if open_dimensions(trial.before) is not None:
        # The front end itself has written both into the graph.
        return None
    places = [("in float64, on another device", torch.float64), ("on another device", None)]
    # If there are tolerances, the pass may use a different dtype on purpose.
    for words, dtype in places if trial.rtol is None and trial.atol is None else places[1:]:
        before = outcome(*elsewhere(trial.before, trial.inputs, dtype))
        leaves = [leaf for leaf in pytree.tree_leaves(before.result) if isinstance(leaf, Tensor)]
        if before.error is not None or not all(leaf.is_meta for leaf in leaves):
            continue
        after = outcome(*elsewhere(trial.after, trial.inputs, dtype))
        if after.error is None:
            found = difference(before.result, after.result, "the result", None, None)
        else:
            # Any other error there has nothing to do with the device.
            said = one_line(after.error)
            if "item()" in said:
                return Told(f"{words}, the module raises {said}", _READS, advice=True)
            of_place = not isinstance(after.error, NotImplementedError) and re.search("device|dtype", said)
            found = f"the module raises {said}" if of_place else None
        return Told(f"{words}, {found}", _PLACE) if found else None
    return None


def _in_autocast(trial: Trial) -> Told | None:
    """Whether autocast, which depends on what is called, now gives a result with a different dtype."""
    with torch.autocast("cpu", torch.bfloat16):
        before, after = trial.outcomes(trial.inputs)
    if before.error is not None:
        return None
    if after.error is not None:
        return Told(f"in autocast the module raises {one_line(after.error)}", _CASTS, advice=True)
    for old, new in zip(numbers_of(before), numbers_of(after), strict=False):
        if old.dtype != new.dtype:
            return Told(f"in autocast the result has the dtype {new.dtype} instead of {old.dtype}", _CASTS, advice=True)
    return None


def _in_half(trial: Trial) -> Told | None:
    """Whether an intermediate value now overflows float16 for inputs in the hundreds."""
    if not trial.is_small:
        return None
    large = pytree.tree_map_only(Tensor, lambda held: held * 300 if held.is_floating_point() else held, trial.inputs)
    before, after = (outcome(*elsewhere(one, large, torch.float16, "cpu")) for one in (trial.before, trial.after))
    if before.error is not None or not is_finite(before) or (after.error is None and is_finite(after)):
        return None
    said = f"the module raises {one_line(after.error)}" if after.error else "the result is not finite, and was before"
    return Told(
        f"in float16, for inputs times 300, {said}", "scale before you square or sum, as torch does", advice=True
    )


def _largest(of: Outcome) -> float:
    found = [leaf.abs().max().item() for leaf in numbers_of(of) if leaf.layout == torch.strided and leaf.numel()]
    return max((one for one in found if one == one), default=1.0)
