"""Fold batch norms into the preceding convolutions, correctly or with one value forgotten."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassResult

from tests.passes.planted.plant import done, erase, layers_of


def folds(forgotten: str = "") -> Callable[[fx.GraphModule], PassResult]:
    """A pass that folds batch norms but forgets one of their values, unless ``forgotten`` is empty."""

    def run(module: fx.GraphModule) -> PassResult:
        found = list(layers_of(module, nn.BatchNorm2d))
        for node, norm in found:
            conv = module.get_submodule(node.args[0].target)
            mean, weight, bias, eps = norm.running_mean, norm.weight, norm.bias, norm.eps
            mean = torch.zeros_like(mean) if forgotten == "mean" else mean
            weight = torch.ones_like(weight) if forgotten == "weight" else weight
            bias = torch.zeros_like(bias) if forgotten == "bias" else bias
            scale = weight / (norm.running_var + (0 if forgotten == "eps" else eps)).sqrt()
            # Making a new layer would consume random numbers for its initial weights.
            new = copy.copy(conv)
            new._parameters = {
                "weight": nn.Parameter((conv.weight * scale[:, None, None, None]).detach()),
                "bias": nn.Parameter(((conv.bias - mean) * scale + bias).detach()),
            }
            module.set_submodule(node.args[0].target, new)
            erase(node)
        module.delete_all_unused_submodules()
        return done(module, bool(found))

    run.__name__ = f"fold_without_{forgotten}" if forgotten else "fold"
    return run


def leaves_the_norm_out(module: fx.GraphModule) -> PassResult:
    found = list(layers_of(module, nn.BatchNorm2d))
    for node, _ in found:
        erase(node)
    module.delete_all_unused_submodules()
    return done(module, bool(found))


FORGOTTEN = [folds(what) for what in ("mean", "bias", "weight", "eps")]
