"""A graph written as a program is rebuilt identically in a fresh process, without fxbook."""

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
torch.save((result, str(module.graph), weights), __file__ + ".pt")
"""


def run(*paths: Path) -> list[tuple[Any, str, dict]]:
    """Run the programs in a process of their own; return the result, the graph and the weights of each."""
    for path in paths:
        path.write_text(path.read_text("utf-8") + PROVES, "utf-8")
    each = "import runpy, sys; [runpy.run_path(path) for path in sys.argv[1:]]"
    done = subprocess.run(
        [sys.executable, "-I", "-W", "ignore", "-c", each, *paths], capture_output=True, text=True, cwd=paths[0].parent
    )
    assert done.returncode == 0, done.stderr
    return [torch.load(f"{path}.pt", weights_only=False) for path in paths]


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


@pytest.mark.room(name="passes")
def test_small_graphs_are_rebuilt_identically(tmp_path: Path) -> None:
    guarded = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),)).module()
    modules: list[tuple[fx.GraphModule, tuple[Tensor, ...] | None]] = [
        (fx.symbolic_trace(Parts().eval()), (torch.randn(3, 4), torch.randn(3, 4))),
        (exported(Branches(), torch.ones(2)), (torch.ones(2),)),
        (exported(nn.Sequential(nn.Linear(2, 3), nn.GELU()), torch.ones(2, 2)), None),
        (random_graph(3, steps=20, images=False), None),
        (random_graph(11, steps=20, images=False), None),
        (guarded, (torch.ones(1, 2),)),
    ]
    each = [(module, inputs or inputs_for(module, rows=None)) for module, inputs in modules]
    paths = [write_repro(module, tmp_path / f"{i}.py", given) for i, (module, given) in enumerate(each)]
    for (module, given), (result, graph, weights) in zip(each, run(*paths), strict=True):
        leaves = [torch.utils._pytree.tree_leaves(found) for found in (result, module(*given))]
        torch.testing.assert_close(*leaves, rtol=0, atol=0, equal_nan=True)
        for name, weight in module.named_parameters():
            assert torch.equal(weights[name][0], weight) and weights[name][1] == weight.requires_grad
        if module is guarded:
            assert "_guards_fn" in str(module.graph) and "_guards_fn" not in graph
        else:
            assert graph == str(module.graph).replace(": 'Tensor'", ":")


def test_large_tensors_get_random_numbers_and_the_program_says_so(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(30, 30), nn.BatchNorm1d(30)).eval()
    nn.init.uniform_(model[0].weight, 3, 4)
    module = fx.symbolic_trace(model)
    [(result, _, weights)] = run(write_repro(module, tmp_path / "repro.py", (torch.ones(2, 30),)))
    weight = weights["0.weight"][0]
    assert result.shape == (2, 30) and 3 <= weight.min() < weight.max() <= 4
    assert torch.equal(weights["1.weight"][0], torch.ones(30))
    text = (tmp_path / "repro.py").read_text("utf-8")
    assert "larger tensors hold different numbers" in text and len(text) < 8_000


@pytest.mark.room(name="passes")
def test_a_minimised_graph_is_written_with_its_meta(tmp_path: Path) -> None:
    module = exported(nn.Sequential(*(nn.Sequential(nn.Linear(4, 4), nn.GELU()) for _ in range(6))), torch.ones(2, 4))
    gelu = torch.ops.aten.gelu.default
    small = minimise(module, lambda found: bool(found.graph.find_nodes(op="call_function", target=gelu)))
    [(_, graph, _)] = run(write_repro(small, tmp_path / "repro.py"))
    assert graph == str(small.graph)
    code = (tmp_path / "repro.py").read_text("utf-8")
    assert "FakeTensorProp(module, mode).propagate(*inputs)" in code


def test_a_graph_that_cannot_be_written_is_rejected(tmp_path: Path) -> None:
    graph = fx.Graph()
    graph.output(graph.call_function(lambda x: x, (graph.placeholder("x"),)))
    with pytest.raises(ValueError, match=r"calls .*lambda.*, which no other program can import: move it"):
        write_repro(fx.GraphModule({}, graph), tmp_path / "repro.py", (torch.ones(1),))
    with pytest.raises(TypeError, match="trace the model first"):
        write_repro(nn.Linear(1, 1), tmp_path / "repro.py")


@pytest.mark.filterwarnings("ignore:.*quantized tensor creation functions")
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda x: x.to(torch.complex64),
            "complex64, torch.strided on cpu cannot be written: replace it with its real",
        ),
        (Tensor.to_sparse, "float32, torch.sparse_coo on cpu cannot be written: make it dense"),
        (lambda x: torch.quantize_per_tensor(x, 1.0, 0, torch.qint8), "cannot be written: dequantize it"),
        (lambda x: x.to("meta"), "on meta cannot be written: give it values"),
    ],
)
def test_a_tensor_that_cannot_be_written_is_rejected_with_the_cure(
    change: Callable[[Tensor], Tensor], says: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=says):
        write_repro(fx.symbolic_trace(nn.ReLU()), tmp_path / "repro.py", (change(torch.ones(2)),))
