"""Turn every ReLU into GELU."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fxbook.cases import Check
from fxbook.rules.explained import lints, methods_exist, recompiled
from fxbook.rules.families import GELU, LINEAR, RELU, family
from fxbook.rules.predicates import calls, input_unchanged, no_dead_nodes, none_left, same_result, shares_weights
from fxbook.rules.rule import Found, rule
from fxbook.rules.view import CaseView

from ..cases import Classifier
from ..check import target_fits_op
from .cases import ByName, FourSpellings, Methods, Residual

LEAKY_RELU = family("leaky_relu", modules=(nn.LeakyReLU,)).called("leaky_relu, which was to stay")

RELU6 = family("relu6", modules=(nn.ReLU6,))


def with_gelu(model: nn.Module, x: Tensor) -> Tensor:
    """The model with GELU for each ReLU."""
    if isinstance(model, FourSpellings):
        *others, last = model.layers
        for layer in others:
            x = nn.functional.gelu(layer(x))
        return nn.functional.gelu(4 * last(x))
    if isinstance(model, Residual):
        x = nn.functional.gelu(model.enter[0](x))
        for _ in range(2):
            x = x + model.block[2](nn.functional.gelu(model.block[0](x)))
        x = model.relu(nn.functional.gelu(x))
        return torch.cat([nn.functional.leaky_relu(x, 0.2), x.clamp(0, 6)])
    if isinstance(model, ByName):
        x = nn.functional.gelu(model.enter(x)) + torch.tensor([0.5, -0.5, 0.25, 0.0])
        return nn.functional.gelu(model.leave(x))
    if isinstance(model, Methods):
        x = nn.functional.gelu(model.enter(x))
        return nn.functional.gelu(nn.functional.prelu(model.bend(model.leave(x)), model.slope) + 0.1)
    assert isinstance(model, Classifier)
    return (model.head(nn.functional.gelu(model.hidden(x))) / model.temperature).softmax(dim=-1)


@rule("when_it_breaks/00_first_graph#typeerror-gelu-got-an-unexpected-keyword-argument-inplace")
def no_keyword_of_relu(case: CaseView) -> Found:
    """No call of gelu has the keyword that tracing recorded for relu."""
    for node in case.nodes:
        if node in GELU and "inplace" in dict(node.kwargs["dict"]):
            yield node, "passes on the keyword `inplace`, which gelu does not take"


@rule("when_it_breaks/00_first_graph#typeerror-gelu-got-an-unexpected-keyword-argument-inplace")
def gelu_gets_a_value(case: CaseView) -> Found:
    """Each call of gelu has an argument: the value that relu was given by name, too."""
    for node in case.nodes:
        if node in GELU and not node.inputs:
            yield node, "calls gelu without an argument"


@rule
def only_relu_changed(case: CaseView) -> Found:
    """What calls gelu called relu before, as far as the names of the nodes tell."""
    for node in case.nodes:
        before = case.before.named(node.name)
        if before and node in GELU and before not in RELU and before not in GELU and before.op.startswith("call"):
            yield node, f"calls gelu: it was `{before.call}`, which is no ReLU"


@rule
def exact_gelu(case: CaseView) -> Found:
    """Gelu itself, not its approximation by tanh."""
    for node in case.nodes:
        if node in GELU and dict(node.kwargs["dict"]).get("approximate", "none") != "none":
            yield node, "computes an approximation: what `nn.functional.gelu(x)` computes was asked"


@rule
def leaky_stays(case: CaseView) -> Found:
    """The one function whose name ends in relu and which is not ReLU is still called."""
    if isinstance(case.model, Residual):
        yield from calls(LEAKY_RELU).find(case)


@rule
def layers_stay(case: CaseView) -> Found:
    """Each layer of the model that is no ReLU is still called, whatever its name."""
    called = {node.target for node in case.nodes if node.op == "call_module"}
    for node in case.before:
        stays = node.op == "call_module" and any(node in kind for kind in (LINEAR, LEAKY_RELU, RELU6))
        if stays and node.target not in called:
            gone = f"The call of the layer `{node.target}` is gone. It is a {node.kind}, no ReLU, and was to stay."
            yield None, gone


CHECK = Check(
    (
        target_fits_op,
        lints,
        recompiled,
        same_result.or_because(
            none_left(RELU),
            calls(GELU),
            methods_exist,
            no_keyword_of_relu,
            gelu_gets_a_value,
            leaky_stays,
            layers_stay,
            only_relu_changed,
            exact_gelu,
        ),
        no_dead_nodes,
        input_unchanged,
        shares_weights,
    ),
    expected=with_gelu,
)
