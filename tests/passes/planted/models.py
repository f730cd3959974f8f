"""The models that expose planted faults, traced or exported."""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from tests.passes.planted.plant import rows

LOG: list[str] = []


def note(what: Tensor) -> None:
    LOG.append("noted")


@dataclasses.dataclass
class Out:
    """A class of results that pytree does not know."""

    values: Tensor


class Cache:
    """A class of results that has no `==`."""

    def __init__(self, values: Tensor) -> None:
        self.values = values


def out(values: Tensor) -> Out:
    return Out(values)


def cache(values: Tensor) -> Cache:
    return Cache(values)


def sealed(values: Tensor) -> object:
    """A result whose values cannot be reached."""
    return object()


for _name in ("note", "out", "cache", "sealed"):
    fx.wrap(_name)


class ConvNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x)).relu()


class Dropouts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Dropout(0.2), nn.Dropout(0.6)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x).sin())


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.act, self.second = nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.act(self.first(x)))


class Tied(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.second.weight = self.first.weight
        self.requires_grad_(False)


class Normed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.scale = nn.LayerNorm(4), nn.Parameter(torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x) * (self.scale + 1)


class Branches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.relu().sin(), lambda x: x.cos(), (x,))


def conv_norm() -> fx.GraphModule:
    return fx.symbolic_trace(ConvNorm().eval())


def exported_norm() -> fx.GraphModule:
    return torch.export.export(ConvNorm().eval(), (rows(2, 3, 8, 8),)).module()


def dropouts() -> fx.GraphModule:
    return fx.symbolic_trace(Dropouts().eval())


def layers() -> fx.GraphModule:
    return fx.symbolic_trace(Layers())


def saved_otherwise() -> fx.GraphModule:
    module = layers()
    module._register_state_dict_hook(lambda *_: LOG.append("saved"))
    return module


def absolute() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: x.abs() + 1)


def clamped() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: x.clamp(-100, 100).relu())


def watched_layers() -> fx.GraphModule:
    module = layers()
    module.act.register_forward_hook(lambda *_: LOG.append("ran"))
    return module


def kept_root() -> fx.GraphModule:
    module = layers()
    module.config = {"layers": 2}
    module.register_forward_hook(lambda *_: LOG.append("ran"))
    return module


def tied() -> fx.GraphModule:
    return fx.symbolic_trace(Tied())


def normed() -> fx.GraphModule:
    return fx.symbolic_trace(Normed())


def branches() -> fx.GraphModule:
    return torch.export.export(Branches(), (torch.ones(3),)).module()


def added() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x, y: x + y.relu())


def scaled() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: torch.softmax(functional.gelu(x, approximate="tanh").mul(2), dim=0))


def noted() -> fx.GraphModule:
    def program(x: Tensor) -> Tensor:
        y = x.sin()
        note(y)
        return y.relu()

    return fx.symbolic_trace(program)


def asserted() -> fx.GraphModule:
    def program(x: Tensor) -> Tensor:
        torch._assert(x.sum() > 0, "positive")
        return x.relu()

    return fx.symbolic_trace(program)


class Scalar(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        torch._check(x.sum().item() > 0)
        return x.relu()


def asserted_scalar() -> fx.GraphModule:
    return torch.export.export(Scalar(), (torch.ones(3),)).module()


def sized() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: x.relu() * x.size(0))


def counting() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: (x.relu(), x.size(0)))


def in_dataclass() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: out(x.relu()))


def in_object() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: cache(x.relu()))


def in_sealed() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: sealed(x.relu()))


def attached() -> fx.GraphModule:
    def program(x: Tensor) -> Tensor:
        w = x.detach().requires_grad_(True)
        return (w * w).sum()

    return fx.symbolic_trace(program)


def sparse() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: x.relu().to_sparse())


def spectrum() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: torch.fft.fft(x.relu()))


def quantised() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: torch.quantize_per_tensor(x.relu(), 0.1, 0, torch.qint8))


def with_lines() -> fx.GraphModule:
    module = added()
    for node in module.graph.nodes:
        node.meta["stack_trace"] = f'File "model.py", line {len(node.name)}, in forward'
    return module


def training_norm() -> fx.GraphModule:
    return fx.symbolic_trace(ConvNorm())


def training_dropouts() -> fx.GraphModule:
    return fx.symbolic_trace(Dropouts().train())


class Shared(Layers):
    def __init__(self) -> None:
        super().__init__()
        self.second = self.first


class Buffered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("held", torch.ones(4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.held.add_(x.mean(0))
        x.mul_(2)
        return x.sin(), self.held.clone()


class FromDict(nn.Module):
    def forward(self, given: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"b": given["x"].relu(), "a": given["x"].sin()}


def shared() -> fx.GraphModule:
    return fx.symbolic_trace(Shared())


class BuffersToo(fx.Tracer):
    """Records buffers as nodes, and so the writes to them."""

    proxy_buffer_attributes = True


def buffered() -> fx.GraphModule:
    model = Buffered()
    return fx.GraphModule(model, BuffersToo().trace(model))


def from_dict() -> fx.GraphModule:
    return torch.export.export(FromDict(), ({"x": rows(3)},)).module()


def in_tuple() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: (x.sin(), x.sin(), [x.cos()]))


def in_dict() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: {"b": x.sin(), "a": x.cos()})


def with_default() -> fx.GraphModule:
    def program(x: Tensor, factor: float = 2.0) -> Tensor:
        return x.sin() * factor

    return fx.symbolic_trace(program)


def functional_dropout() -> fx.GraphModule:
    return fx.symbolic_trace(lambda x: functional.dropout(x, 0.5, True))


def exported_layers() -> fx.GraphModule:
    return torch.export.export(Layers(), (rows(3, 4),)).module()


def repeated() -> fx.GraphModule:
    def program(x: Tensor) -> Tensor:
        x.cos()
        return x.sin() + x.sin() * x.sin()

    return fx.symbolic_trace(program)


def asserted_twice() -> fx.GraphModule:
    def program(x: Tensor) -> Tensor:
        positive = x.sum() > 0
        torch._assert(positive, "positive")
        torch._assert(positive, "positive")
        return x.relu()

    return fx.symbolic_trace(program)
