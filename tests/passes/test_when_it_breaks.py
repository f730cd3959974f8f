"""The fixes in the companion pages also work on models other than those in their cells."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn
from torch.fx.passes.split_module import split_module
from torch.fx.subgraph_rewriter import replace_pattern_with_filters
from torch.utils.flop_counter import FlopCounterMode

from tests.notebooks import from_notebook

pytestmark = pytest.mark.room(name="passes")

ones = torch.ones(2)


def companion(number_and_name: str, name: str, *others: str) -> Any:
    return from_notebook(f"when_it_breaks/{number_and_name}", name, *others)


def written_inside(x: Tensor) -> Tensor:
    sine = torch.sin(x)
    x.add_(1)
    return torch.cos(sine)


def added_inside(x: Tensor) -> Tensor:
    sine = torch.sin(x)
    x += 1
    return torch.cos(sine)


def switched_inside(x: Tensor) -> Tensor:
    with torch.no_grad():
        sine = torch.sin(x)
    return torch.cos(sine)


def cosine_of_sine(x: Tensor) -> Tensor:
    return torch.cos(torch.sin(x))


@pytest.mark.parametrize(
    ("program", "cure"),
    [(written_inside, "no_effects"), (added_inside, "no_effects"), (switched_inside, "no_mode_changes")],
)
def test_a_filter_also_looks_between_the_nodes_of_a_match(program: Callable[[Tensor], Tensor], cure: str) -> None:
    graphs: list[fx.GraphModule] = []
    leaf = torch.ones(2, requires_grad=True)
    given = leaf if cure == "no_mode_changes" else torch.ones(2)
    torch.compiler.reset()
    torch.compile(program, backend=lambda module, inputs: graphs.append(module) or module.forward)(given)
    [module] = graphs
    allowed = companion("12_patterns", cure)
    assert not replace_pattern_with_filters(module, cosine_of_sine, cosine_of_sine, [allowed])
    plain = fx.symbolic_trace(cosine_of_sine)
    assert len(replace_pattern_with_filters(plain, cosine_of_sine, cosine_of_sine, [allowed])) == 1


class Scaled(nn.Module):
    def __init__(self, scale: Tensor) -> None:
        super().__init__()
        self.scale = nn.Parameter(scale)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


@pytest.mark.parametrize(
    ("scale", "found"), [(ones, 1), (ones * 2, 0), (ones.double(), 0), (ones.bfloat16(), 0), (torch.ones(1), 0)]
)
def test_tensors_are_compared_in_modules_inside_with_their_dtypes(scale: Tensor, found: int) -> None:
    traced = fx.symbolic_trace(nn.Sequential(Scaled(scale)))
    pattern = fx.symbolic_trace(Scaled(torch.ones(2)))
    equal = companion("12_patterns", "tensors_are_equal")
    assert len(replace_pattern_with_filters(traced, pattern, lambda x: x + x, [equal])) == found


class Everything(nn.Module):
    """Attention, a shared layer, and a parameter of the model itself."""

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.shared = nn.MultiheadAttention(2, 1), nn.Linear(2, 2)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.shared(x) * self.scale
        return self.shared(self.attention(x, x, x)[0])


def test_the_keys_of_a_checkpoint_are_translated_for_every_kind_of_weight() -> None:
    old_key = companion("16_cut_a_graph", "old_key")
    model = Everything()
    names = old_key.__globals__["names"] = {}
    traced = fx.symbolic_trace(model)
    [attention] = traced.graph.find_nodes(op="call_module", target="attention")
    halves = split_module(traced, None, lambda node: int(node >= attention), names)
    saved = model.state_dict()
    halves.load_state_dict({key: saved[old_key(key)] for key in halves.state_dict()})
    assert {old_key(key) for key in halves.state_dict()} == saved.keys()


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(2))

    # Not annotated: here, an annotation would be a string, which prevents pickling before torch 2.14.
    def forward(self, x):
        self.seen.add_(1)
        return x * self.seen[:2]


def test_a_saved_trace_still_writes_its_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    sized, without, tracer = companion("10_models_as_they_come", "sized", "without_tracer", "KeepingBuffers")
    # Pickle must find the class in the module that it names, as in an importable file.
    monkeypatch.setattr(tracer, "__module__", __name__)
    monkeypatch.setattr(sys.modules[__name__], "KeepingBuffers", tracer, raising=False)
    traced = sized(Counting(), x=ones)
    loaded = pickle.loads(pickle.dumps(without(traced)))
    for _ in range(2):
        assert torch.equal(loaded(ones), traced(ones))


def test_a_cond_inside_the_chosen_branch_runs_its_own_chosen_branch() -> None:
    class Nested(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            def inner(x: Tensor) -> Tensor:
                return torch.cond(x.sum() > 99, lambda x: x @ x, lambda x: x @ x @ x, (x,))

            return torch.cond(x.sum() > 0, inner, lambda x: x + 1, (x,))

    square = torch.ones(4, 4)
    module = torch.export.export(Nested(), (square,)).module()
    with FlopCounterMode(display=False) as counter:
        result = companion("09_profiling", "OneSide")(module).run(square)
    assert torch.equal(result, Nested()(square))
    assert counter.get_total_flops() == 2 * 2 * 4**3


def test_values_inside_other_values_are_copied_and_watched(capsys: pytest.CaptureFixture[str]) -> None:
    copying = companion("07_placeholder", "Copying")(fx.symbolic_trace(lambda x: (x + 0).chunk(2)[0].log_()))
    copying.kept = {}
    copying.run(-ones)
    assert copying.kept["chunk"][0].item() == -1
    watched = fx.symbolic_trace(nn.Sequential(nn.LSTM(2, 2)))
    companion("08_boxed_run", "WatchTensors")(watched).boxed_run([torch.ones(3, 1, 2)])
    assert "output 3" in capsys.readouterr().out
