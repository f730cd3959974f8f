"""What a pass keeps where the module is used otherwise than in the trial: in the other mode, with other numbers."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from fxbook.passes.asking import NotAskedError, Told, invariant
from fxbook.passes.likeness import of_outcomes
from fxbook.passes.modes import calls_with_a_mode, in_mode
from fxbook.passes.trial import Outcome, Trial, one_line, outcome
from fxbook.passes.varying import varied

_EXACT, _COARSE = ("with all signs turned",), ("times 1000", "with nan")


@invariant
def values_in_another_mode(trial: Trial) -> Told | None:
    """The same in training mode for a module that is given in eval mode, and the other way round.

    A model is trained, then evaluated: what is true in training mode alone is a fault. Many right passes are for eval
    mode and take a layer away that has a mode, as one that folds a batch norm: that they need it is advice. Where all
    such layers are still called, other values are a fault in either mode.

    Example:
        >>> from fxbook import invariants, random_graph
        >>> invariants.values_in_another_mode(lambda module: None, random_graph(7))
    """
    trains = trial.before.training
    other = "eval" if trains else "training"
    with in_mode(trial.before, not trains) as switched:
        if not switched:
            raise NotAskedError("an exported module keeps its mode")
        before = outcome(trial.before, trial.inputs)
    if before.error is not None:
        raise NotAskedError(f"in {other} mode the module raises {one_line(before.error)}, before the pass too")
    with in_mode(trial.after, not trains):
        after = outcome(trial.after, trial.inputs)
    said = of_outcomes(before, after, trial.rtol, trial.atol)
    # What differs in both modes is no matter of the mode.
    if said is None or of_outcomes(*trial.outcomes(trial.inputs), trial.rtol, trial.atol) is not None:
        return None
    cure = "leave a layer where it is that has a mode, " + (
        "or read `training` when it runs" if trains else "or document that the pass is for eval mode"
    )
    fewer = calls_with_a_mode(trial.after) < calls_with_a_mode(trial.before)
    return Told(f"in {other} mode {said}", cure, advice=fewer and not trains)


@invariant
def values_of_other_numbers(trial: Trial) -> Told | None:
    """The same for the inputs with their signs turned; for numbers 1,000 times as large, and for nan, it is advice.

    Whole numbers and masks stay as they are. Nothing is asked where the module raises, or gives nan or infinity before
    the pass, unless it is given nan.

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
        raise NotAskedError("the values differ for the inputs themselves")
    asked, advice = 0, None
    for words, inputs in varied(trial.inputs, (*_EXACT, *_COARSE), indices=False):
        before = outcome(trial.before, inputs)
        if before.error is not None or not (_is_finite(before) or words == "with nan"):
            continue
        asked += 1
        after = outcome(trial.after, inputs)
        limits = (trial.rtol, trial.atol) if words in _EXACT else (1e-3, 1e-4 * _largest(before))
        if said := of_outcomes(before, after, *limits):
            cure = "treat all numbers as the node did that was there, or document which ones the pass is for"
            advice = advice or Told(f"{words}, {said}", cure, advice=words not in _EXACT)
            if not advice.advice:
                return advice
    if not asked:
        raise NotAskedError("no input has numbers that may be others, or the module does not run on them")
    trial.asked = asked
    return advice


def _numbers(of: Outcome) -> list[Tensor]:
    leaves = pytree.tree_leaves(of.result)
    return [leaf for leaf in leaves if isinstance(leaf, Tensor) and (leaf.is_floating_point() or leaf.is_complex())]


def _is_finite(of: Outcome) -> bool:
    return all(bool(leaf.to_dense().isfinite().all()) for leaf in _numbers(of) if not leaf.is_nested)


def _largest(of: Outcome) -> float:
    found = [leaf.abs().max().item() for leaf in _numbers(of) if leaf.layout == torch.strided and leaf.numel()]
    return max((one for one in found if one == one), default=1.0)
