"""Try the book's passes on a model: whether they apply and keep the results, and what they leave alone."""

from __future__ import annotations

import copy
import dataclasses
import functools
import logging
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.infra.pass_base import PassResult

from tests.architectures import zoo
from tests.notebooks import from_notebook

Pass = Callable[..., PassResult]
_FOLD, _OPERATE, _PATTERNS = "14_fold_and_fuse", "15_operate_on_a_transformer", "12_patterns"


@functools.cache
def _made(name: str) -> tuple[nn.Module, Tensor]:
    """An architecture, with its attention as single operations if it has any, and a batch of two."""
    try:
        model, batch = zoo.make(name, attn_implementation="eager")
    except (TypeError, ValueError):
        model, batch = zoo.make(name)
    return model, batch(2)


@functools.cache
def _program(name: str) -> torch.export.ExportedProgram:
    model, batch = _made(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(model, (batch,))


def exported(name: str) -> fx.GraphModule:
    """A graph of operators with its own weights."""
    return copy.deepcopy(_program(name).module(check_guards=False))


def functional(name: str) -> fx.GraphModule:
    """The graph of operators in the form that chapter 12 compares with a pattern."""
    return copy.deepcopy(from_notebook(_PATTERNS, "pattern_ready")(_program(name)))


def fused(name: str) -> fx.GraphModule:
    """A graph of operators with attention as one call, if that is proven to be equal."""
    module = exported(name)
    from_notebook(_OPERATE, "use_sdpa")(module)
    return module


def traced(name: str) -> fx.GraphModule:
    """A graph of layers, traced by the Tracer of chapter 10, which knows sizes."""
    model, batch = _made(name)
    model = copy.deepcopy(model)
    return fx.GraphModule(model, from_notebook("10_models_as_they_come", "SizedTracer")(given=batch).trace(model))


# Edits a module; returns the result of the pass, and the module that computes the expected values, or None if the pass
# itself compares.
Run = Callable[[Pass, fx.GraphModule, Tensor], tuple[PassResult, nn.Module | None]]


def alone(run: Pass, module: fx.GraphModule, _: Tensor) -> tuple[PassResult, nn.Module]:
    before = copy.deepcopy(module)
    return run(module), before


def with_gelu(relu_to_gelu: Pass, module: fx.GraphModule, _: Tensor) -> tuple[PassResult, nn.Module]:
    """Expect the values of the model with its layers changed."""
    before = copy.deepcopy(module)
    for layer in [layer for layer in before.modules() if type(layer) is nn.ReLU]:
        layer.forward = nn.functional.gelu
    return relu_to_gelu(module), before


def fuse_norms(fuse_pattern: Pass, module: fx.GraphModule, _: Tensor) -> tuple[PassResult, nn.Module]:
    def written(x: Tensor, weight: Tensor) -> Tensor:
        return from_notebook(_PATTERNS, "rms_norm")(x, weight, 1e-6, torch.float32)

    pattern = make_fx(written)(torch.ones(2, 4), torch.ones(4))
    before = copy.deepcopy(module)
    return fuse_pattern(module, pattern, from_notebook(_PATTERNS, "aten_rms_norm")), before


def fuse_gelus(fuse_pattern: Pass, module: fx.GraphModule, _: Tensor) -> tuple[PassResult, nn.Module]:
    pattern = make_fx(from_notebook(_PATTERNS, "new_gelu"))(torch.ones(2, 4))
    before = copy.deepcopy(module)
    return fuse_pattern(module, pattern, lambda x: torch.ops.aten.gelu.default(x, approximate="tanh")), before


def add_and_merge(_: Pass, module: fx.GraphModule, __: Tensor) -> tuple[PassResult, nn.Module]:
    """Expect the values of the adapters, with random weights, before merging."""
    add_lora, merge_lora, adapter = from_notebook(_OPERATE, "add_lora", "merge_lora", "Adapter")
    result = add_lora(module, layers=_PROJECTIONS)
    for one in module.modules():
        if isinstance(one, adapter):
            nn.init.normal_(one.up, std=0.1)
    before = copy.deepcopy(module)
    assert merge_lora(module).modified is result.modified
    return result, before


def prune(prune_heads: Pass, module: fx.GraphModule, batch: Tensor) -> tuple[PassResult, None]:
    """Prune two heads of the first attention; the pass itself compares with these heads silenced."""
    return prune_heads(module, heads={0: [0, 1]}, inputs=(batch,)), None


_PROJECTIONS = ("q_proj", "v_proj", "query", "value", "q_lin", "v_lin", "c_attn", "query_key_value")


@dataclasses.dataclass(frozen=True)
class Trial:
    """A pass, and how it is run and compared.

    Attributes:
        chapter: the notebook with the pass.
        name: the function's name there.
        does: its effect, in a few words.
        capture: makes the module of an architecture, by name.
        run: edits the module.
        gradients: whether gradients of common weights must agree too.
        share: how much the outputs may change, as a fraction of their norm, if the pass rounds.
    """

    chapter: str
    name: str
    does: str
    capture: Callable[[str], fx.GraphModule] = exported
    run: Run = alone
    gradients: bool = True
    share: float = 0.0

    @property
    def entry(self) -> dict[str, str]:
        return {"chapter": self.chapter, "name": self.name, "does": self.does}

    def of(self, architecture: str) -> dict[str, object]:
        """Run the trial; return what is recorded: ``nodes`` before and after, why nodes were ``left``, or ``no graph``.

        Raises:
            AssertionError: the module's results are wrong.
        """
        try:
            module, (_, batch) = self.capture(architecture), _made(architecture)
        # The errors that a Tracer raises about a model.
        except (NameError, TypeError, ValueError, fx.proxy.TraceError) as error:
            return {"no graph": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
        count = len(module.graph.nodes)
        with _logged() as reasons:
            result, expected = self.run(from_notebook(self.chapter, self.name), module, batch)
        module.graph.lint()
        if expected is not None:
            self._compare(expected, module, batch)
        after = len(module.graph.nodes)
        entry: dict[str, object] = {"nodes": [count, after]} if result.modified else {}
        return entry | ({"left": dict(sorted(Counter(reasons).items()))} if reasons else {})

    def _compare(self, expected: nn.Module, found: nn.Module, batch: Tensor) -> None:
        (wanted, slopes), (result, others) = _computed(expected, batch), _computed(found, batch)
        if self.share:
            assert (result - wanted).norm() <= self.share * wanted.norm()
            return
        # The two may round in different orders; the chapters derive exact tolerances.
        torch.testing.assert_close(result, wanted, rtol=1e-4, atol=1e-5)
        if self.gradients:
            for name in slopes.keys() & others.keys():
                torch.testing.assert_close(others[name], slopes[name], rtol=1e-3, atol=1e-4)


def _computed(module: nn.Module, batch: Tensor) -> tuple[Tensor, dict[str, Tensor | None]]:
    """The outputs, and the gradients by weight name."""
    weights = {name: weight for name, weight in module.named_parameters() if weight.requires_grad}
    output = module(batch)
    if not weights:
        return output, {}
    gradients = torch.autograd.grad(output.square().mean(), list(weights.values()), allow_unused=True)
    return output.detach(), dict(zip(weights, gradients, strict=True))


@contextmanager
def _logged() -> Iterator[list[str]]:
    """A list that collects the reasons that a pass logs, without node names."""
    reasons: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            reasons.append(text.partition(": ")[2] or text)

    logger, handler = logging.getLogger("passes"), Keeping()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield reasons
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


TRIALS = (
    Trial("03_replacement", "relu_to_gelu", "calls GELU in place of ReLU", traced, with_gelu),
    Trial(_PATTERNS, "fuse_pattern", "makes one call of the GELU of GPT-2", functional, fuse_gelus),
    Trial(_PATTERNS, "fuse_pattern", "makes one call of the RMSNorm of Llama", functional, fuse_norms),
    Trial(_FOLD, "fold_batch_norms", "folds batch norms into convolutions", gradients=False),
    Trial(_FOLD, "fold_constants", "computes constants once"),
    Trial(_FOLD, "share_common_subexpressions", "makes equal calls once"),
    Trial(_OPERATE, "use_sdpa", "makes one call of attention"),
    Trial(_OPERATE, "merge_lora", "adds adapters, and merges them", run=add_and_merge, gradients=False),
    Trial(_OPERATE, "quantize_linears", "stores weights as int8", share=0.05),
    Trial(_OPERATE, "prune_heads", "cuts two heads of the first attention", fused, prune),
)
