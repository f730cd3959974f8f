"""Faults that one run of ``forward`` hides, or the given inputs and initial values."""

from __future__ import annotations

import operator

import torch
from torch import Tensor, fx, nn
from torch.export import ExportedProgram
from torch.fx.passes.infra.pass_base import PassResult
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from tests.passes.planted.plant import Plant, calls, done, layers_of, rows

aten = torch.ops.aten
ROWS = rows(6, 4)


class Normed(nn.Module):
    """Two layers with fresh norms, and a head whose weight is 0."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.head = nn.LayerNorm(4), nn.LayerNorm(4), nn.Linear(4, 2)
        nn.init.zeros_(self.head.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.second(self.first(x).sin()).cos())


class Padded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(9, 4, padding_idx=1)

    def forward(self, ids: Tensor) -> Tensor:
        return self.words(ids).sin()


class Counted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x.sin()).cos()


class Branches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: functional.silu(x), lambda x: x.cos(), (x,))


class Averaged(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.arange(4.0))

    def forward(self, x: Tensor) -> Tensor:
        self.mean.mul_(0.5).add_(x.mean(0) * 0.5)
        return x - self.mean


class Checkpointed(nn.Module):
    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: Tensor) -> Tensor:
        return checkpoint(self.body, x, use_reentrant=False)


class Scaled(nn.Module):
    """A linear layer as its largest weights times a unit weight."""

    def __init__(self, old: nn.Linear) -> None:
        super().__init__()
        self.bias = old.bias
        largest = old.weight.detach().abs().amax(1, keepdim=True)
        self.register_buffer("scale", largest)
        self.register_buffer("unit", old.weight.detach() / largest)

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.unit * self.scale, self.bias)


def padded() -> fx.GraphModule:
    return fx.symbolic_trace(Padded())


def normed() -> fx.GraphModule:
    return fx.symbolic_trace(Normed())


def counted() -> fx.GraphModule:
    return fx.symbolic_trace(Counted())


def branches() -> fx.GraphModule:
    return torch.export.export(Branches(), (torch.ones(3),)).module()


def averaged() -> ExportedProgram:
    return torch.export.export(Averaged(), (ROWS,)).run_decompositions()


# ---- passes ----------------------------------------------------------------------------------------------------------


def checkpoints_a_norm(module: fx.GraphModule) -> PassResult:
    """Wrong: backward runs the norm again, which updates its statistics twice."""
    found = calls(module, "norm")
    for node in found:
        module.checkpointed = Checkpointed(module.norm)
        node.target = "checkpointed"
    return done(module, bool(found))


def forgets_padding(module: fx.GraphModule) -> PassResult:
    """Wrong: the padding gets a gradient, which shows only for inputs that contain it."""
    found = list(layers_of(module, nn.Embedding))
    for node, _ in found:
        with module.graph.inserting_before(node):
            weight = module.graph.get_attr(f"{node.target}.weight")
            node.replace_all_uses_with(module.graph.call_function(operator.getitem, (weight, *node.args)))
        module.graph.erase_node(node)
    return done(module, bool(found))


def merges_equal_norms(module: fx.GraphModule) -> PassResult:
    """Wrong: fresh norms are equal, and differ once a checkpoint is loaded."""
    first, second = (node for node, _ in layers_of(module, nn.LayerNorm))
    pairs = zip(*(module.get_submodule(node.target).parameters() for node in (first, second)), strict=True)
    same = first.target != second.target and all(torch.equal(*pair) for pair in pairs)
    if same:
        second.target = first.target
    return done(module, same)


def divides_by_the_largest(module: fx.GraphModule) -> PassResult:
    """Wrong: where all weights are 0, the result is nan."""
    found = list(layers_of(module, nn.Linear))
    for node, layer in found:
        module.set_submodule(node.target, Scaled(layer))
    return done(module, bool(found))


def does_not_recompile_a_branch(module: fx.GraphModule) -> PassResult:
    found = calls(module.true_graph_0, aten.silu.default)
    for node in found:
        with node.graph.inserting_before(node):
            half = node.graph.call_function(aten.sigmoid.default, node.args)
            node.replace_all_uses_with(node.graph.call_function(aten.mul.Tensor, (*node.args, half)))
        node.graph.erase_node(node)
    return PassResult(module, bool(found))


def leaves_the_signature(program: ExportedProgram) -> ExportedProgram:
    """Wrong: the signature names the node that was replaced, so the program cannot be saved."""
    graph = program.graph
    for node in graph.find_nodes(op="call_function", target=aten.add.Tensor):
        with graph.inserting_before(node):
            new = graph.call_function(aten.add.Tensor, node.args[::-1])
        new.meta = dict(node.meta)
        node.replace_all_uses_with(new)
        graph.erase_node(node)
    program.graph_module.recompile()
    return program


HIDDEN = [
    Plant(checkpoints_a_norm, counted, (ROWS,), ("gradients",)),
    Plant(forgets_padding, padded, (torch.tensor([[2, 5, 7], [8, 3, 2]]),), ("gradients",)),
    Plant(merges_equal_norms, normed, (ROWS,), ("state_kept",)),
    Plant(divides_by_the_largest, normed, (ROWS,), ("values",)),
    Plant(does_not_recompile_a_branch, branches, (torch.ones(3),), ("code",)),
    Plant(leaves_the_signature, averaged, (ROWS,), ("lint",)),
]
