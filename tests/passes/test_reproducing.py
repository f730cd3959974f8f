"""A graph written as a program is rebuilt identically in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from fxbook import minimise, random_graph, write_repro
from fxbook.exporting import unguarded
from fxbook.passes.growing.inputs import inputs_for

PROVES = """
import sys
assert not [name for name in sys.modules if name.startswith("fxbook")]
weights = {name: (weight, weight.requires_grad) for name, weight in module.named_parameters()}
torch.save((result, str(module.graph), weights), sys.argv[1])
"""


def run(module: fx.GraphModule, folder: Path, inputs: tuple[Any, ...] | None = None) -> tuple[Any, str, dict]:
    """Run the program in a separate process; return its result, its graph and its weights."""
    path = write_repro(module, folder / "repro.py", inputs)
    path.write_text(path.read_text("utf-8") + PROVES, "utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-W", "ignore", path, folder / "out.pt"], capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, f"{path.read_text('utf-8')}\n{done.stderr}"
    return torch.load(folder / "out.pt", weights_only=False)


class Parts(nn.Module):
    """Modules whose repr is a call, or is not, a stored tensor, and arguments of many kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attention = nn.BatchNorm1d(4), nn.MultiheadAttention(4, 2, batch_first=True)
        self.norm.weight.requires_grad_(False)
        self.register_buffer("scale", torch.tensor([1.5, float("inf"), -0.0, 2.0]))

    def forward(self, graph: Tensor, other: Tensor) -> dict[str, Tensor]:
        mixed = self.attention(graph[:, None], other[:, None], other[:, None])[0][:, 0, ...]
        low = torch.full_like(mixed, float("-inf"), dtype=torch.float64)
        return {"a": self.norm(mixed).to(torch.float64) + low.clamp(min=-1e3), "b": torch.relu(graph) * self.scale}


class Branches(nn.Module):
    """A model whose exported graph has inner graphs."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda a: a.relu() + 1, torch.sin, (x,))


def exported(model: nn.Module, *inputs: Tensor) -> fx.GraphModule:
    return unguarded(torch.export.export(model, inputs))


CASES: list[Callable[[], tuple[fx.GraphModule, tuple[Tensor, ...] | None]]] = [
    lambda: (fx.symbolic_trace(Parts().eval()), (torch.randn(3, 4), torch.randn(3, 4))),
    lambda: (exported(Branches(), torch.ones(2)), (torch.ones(2),)),
    lambda: (exported(nn.Sequential(nn.Linear(2, 3), nn.GELU()), torch.ones(2, 2)), None),
    lambda: (random_graph(3, steps=20, images=False), None),
    lambda: (random_graph(11, steps=20, images=False), None),
]


@pytest.mark.parametrize("made", CASES)
def test_a_small_graph_is_rebuilt_identically(
    made: Callable[[], tuple[fx.GraphModule, tuple[Tensor, ...] | None]], tmp_path: Path
) -> None:
    module, inputs = made()
    given = inputs_for(module, rows=None) if inputs is None else inputs
    result, graph, weights = run(module, tmp_path, given)
    leaves = [torch.utils._pytree.tree_leaves(found) for found in (result, module(*given))]
    torch.testing.assert_close(*leaves, rtol=0, atol=0, equal_nan=True)
    assert graph == str(module.graph).replace(": 'Tensor'", ":")
    for name, weight in module.named_parameters():
        assert torch.equal(weights[name][0], weight) and weights[name][1] == weight.requires_grad


def test_the_guards_of_an_exported_module_are_left_out(tmp_path: Path) -> None:
    module = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),)).module()
    result, graph, _ = run(module, tmp_path, (torch.ones(1, 2),))
    assert torch.equal(result[0], module(torch.ones(1, 2))) and "_guards_fn" in str(module.graph)
    assert "_guards_fn" not in graph


def test_large_tensors_get_random_numbers_and_the_program_says_so(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(30, 30), nn.BatchNorm1d(30)).eval()
    nn.init.uniform_(model[0].weight, 3, 4)
    module = fx.symbolic_trace(model)
    result, _, weights = run(module, tmp_path, (torch.ones(2, 30),))
    weight = weights["0.weight"][0]
    assert result.shape == (2, 30) and 3 <= weight.min() < weight.max() <= 4
    assert torch.equal(weights["1.weight"][0], torch.ones(30))
    text = (tmp_path / "repro.py").read_text("utf-8")
    assert "larger tensors hold other numbers" in text and len(text) < 8_000


def test_a_minimised_graph_is_written_with_its_meta(tmp_path: Path) -> None:
    module = exported(nn.Sequential(*(nn.Sequential(nn.Linear(4, 4), nn.GELU()) for _ in range(6))), torch.ones(2, 4))
    gelu = torch.ops.aten.gelu.default
    small = minimise(module, lambda found: bool(found.graph.find_nodes(op="call_function", target=gelu)))
    assert run(small, tmp_path)[1] == str(small.graph)
    code = (tmp_path / "repro.py").read_text("utf-8")
    assert "FakeTensorProp(module, mode).propagate(*inputs)" in code


def test_a_graph_that_cannot_be_written_is_rejected(tmp_path: Path) -> None:
    graph = fx.Graph()
    graph.output(graph.call_function(lambda x: x, (graph.placeholder("x"),)))
    with pytest.raises(ValueError, match=r"calls .*lambda.*, which no other program can import: move it"):
        write_repro(fx.GraphModule({}, graph), tmp_path / "repro.py", (torch.ones(1),))
    with pytest.raises(TypeError, match="trace the model first"):
        write_repro(nn.Linear(1, 1), tmp_path / "repro.py")
