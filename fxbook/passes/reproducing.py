"""Write a graph as a standalone program for a bug report."""

from __future__ import annotations

import base64
import builtins
import copy
import importlib
import keyword
import operator
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

from fxbook.graph.naming import callable_name
from fxbook.graph.record import not_traced
from fxbook.passes.growing.inputs import inputs_for

_INLINE = 64
"""The largest number of elements for which a tensor is written out."""
_TAKEN = {
    "torch",
    "fx",
    "nn",
    "operator",
    "graph",
    "held",
    "module",
    "inputs",
    "drawn",
    "loaded",
    "generator",
    "result",
}
_HEAD = '''"""A self-contained graph of {nodes} nodes, written with torch {version}: it needs what it imports.{said}"""

import {imports}
from torch import fx, nn
'''
_DRAWN = '''
generator = torch.Generator().manual_seed(0)


def drawn(size, dtype, low, high):
    """Random numbers within the bounds of the original ones, which were too many to write out."""
    return (low + (high - low) * torch.rand(size, generator=generator, dtype=torch.float64)).to(dtype)

'''
_LOADED = '''

def loaded(module, tensors, frozen, training):
    """The module with these numbers."""
    own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    for name, value in tensors.items():
        own[name].data = value
        own[name].requires_grad_(own[name].requires_grad and name not in frozen)
    return module.train(training)

'''


def write_repro(module: fx.GraphModule, path: str | Path, inputs: Sequence[Any] | None = None) -> Path:
    """Write a Python file that builds a module node by node and runs it.

    Tensors with up to 64 elements are written out. Larger ones get random values from a fixed seed, within the bounds
    of the originals, and the file says so. ``meta`` is not written: the file computes ``tensor_meta`` and ``val`` again
    if the graph has them. For an exported module, the guards are left out, and the inputs and results are flat, as the
    nodes have them.

    Args:
        module: the graph with everything it uses, for example the result of ``minimise``.
        path: the file to write; an existing file is overwritten.
        inputs: the inputs to run the module on; by default those from ``inputs_for(module, rows=None)``.

    Returns:
        The path. The file ends with ``module`` and ``inputs``: add your pass below.

    Raises:
        TypeError: ``module`` is not a ``GraphModule``; the message says what to pass.
        ValueError: the graph uses something that no other program can import, such as a function from a notebook.

    Example:
        >>> import tempfile, torch
        >>> from fxbook import write_repro
        >>> module = torch.fx.symbolic_trace(lambda x: torch.relu(x))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = write_repro(module, f"{folder}/repro.py", (torch.ones(2),))
        ...     print(path.read_text("utf-8").splitlines()[7])
        relu = graph.create_node('call_function', torch.relu, (x,), {}, 'relu')
    """
    if not isinstance(module, fx.GraphModule):
        raise not_traced(module)
    given = inputs_for(module, rows=None) if inputs is None else tuple(inputs)
    if isinstance(module.graph._codegen, fx.graph._PyTreeCodeGen):
        # The file takes the inputs in the form that the placeholders have.
        given = tuple(pytree.tree_leaves(given))
    path = Path(path)
    path.write_text(_Program(module, given).text(), "utf-8")
    return path


class _Program:
    def __init__(self, module: fx.GraphModule, inputs: tuple[Any, ...]) -> None:
        self.module, self.inputs = module, inputs
        self.imports = {"torch"}
        self.draws = self.loads = False

    def text(self) -> str:
        body = ["", *self._graph(self.module, "module"), f"inputs = {self._value(self.inputs)}"]
        metas = {key for node in self.module.graph.nodes for key in node.meta}
        if "val" in metas:
            self.imports |= {"torch.fx.passes.fake_tensor_prop", "torch._subclasses"}
            body.append("mode = torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True)")
            body.append("torch.fx.passes.fake_tensor_prop.FakeTensorProp(module, mode).propagate(*inputs)")
        if "tensor_meta" in metas:
            self.imports.add("torch.fx.passes.shape_prop")
            body.append("torch.fx.passes.shape_prop.ShapeProp(module).propagate(*inputs)")
        body += ["result = module(*inputs)", "print(module.code, result)", ""]
        said = "\n\nIts larger tensors hold different numbers from the original ones.\n" if self.draws else ""
        head = _HEAD.format(
            nodes=len(self.module.graph.nodes),
            version=torch.__version__,
            said=said,
            imports="\nimport ".join(sorted(self.imports)),
        )
        return head + (_DRAWN if self.draws else "") + (_LOADED if self.loads else "") + "\n".join(body)

    def _graph(self, module: fx.GraphModule, name: str) -> list[str]:
        """The lines that build a graph module, nested ones first."""
        before, lines, held = [], ["graph = fx.Graph()"], {}
        names: dict[fx.Node, str] = {}
        for node in module.graph.nodes:
            if node.op == "output":
                lines.append(f"graph.output({self._value(node.args[0], names)})")
                continue
            target = repr(node.target)
            if _is_guard(node, module):
                continue
            if node.op == "call_function":
                target = self._function(node.target, node)
            elif node.op in ("call_module", "get_attr") and str(node.target) not in held:
                found = operator.attrgetter(str(node.target))(module)
                if isinstance(found, fx.GraphModule):
                    inner = f"{name}_{len(held)}"
                    before += self._graph(found, inner)
                    held[str(node.target)] = inner
                else:
                    held[str(node.target)] = self._held(found, node)
            names[node] = self._variable(node.name, names)
            arguments = f"{self._value(node.args, names)}, {self._value(dict(node.kwargs), names)}"
            lines.append(f"{names[node]} = graph.create_node({node.op!r}, {target}, {arguments}, {node.name!r})")
        stored = [f"    {path!r}: {value}," for path, value in held.items()]
        lines += ["held = {", *stored, "}"] if held else ["held = {}"]
        return [*before, *lines, f"{name} = fx.GraphModule(held, graph)", f"{name}.training = {module.training}", ""]

    def _variable(self, name: str, names: dict[fx.Node, str]) -> str:
        if not name.isidentifier() or keyword.iskeyword(name) or name in _TAKEN | {*names.values()}:
            return f"node_{len(names)}"
        return name

    def _function(self, function: Any, node: fx.Node) -> str:
        name = callable_name(function)
        if isinstance(function, torch._ops.HigherOrderOperator):
            name = f"torch.ops.higher_order.{function.name()}"
        parts = name.split(".")
        for end in range(len(parts) - 1, 0, -1):
            home = ".".join(parts[:end])
            try:
                importlib.import_module(home)
                if operator.attrgetter(".".join(parts[end:]))(importlib.import_module(home)) is function:
                    self.imports.add(home)
                    return name
            except (ImportError, AttributeError):
                continue
        if getattr(builtins, name, None) is function:
            return name
        raise ValueError(
            f"`{node.name}` calls {name}, which no other program can import: move it to a separate file, and import "
            "it from there before you trace"
        )

    def _held(self, found: Any, node: fx.Node) -> str:
        if isinstance(found, Tensor):
            text = self._tensor(found)
            if isinstance(found, nn.Parameter):
                return f"nn.Parameter({text}, requires_grad={found.requires_grad})"
            return text
        if isinstance(found, nn.Module):
            return self._module(found, node)
        return self._value(found)

    def _module(self, found: nn.Module, node: fx.Node) -> str:
        """The call of the module's class, if its repr is one; otherwise the module, pickled without its values."""
        written = f"nn.{found!r}"
        try:
            with torch.random.fork_rng(devices=[]):
                made = eval(written, {"nn": nn}) if getattr(nn, type(found).__name__, None) is type(found) else None
        except Exception:
            made = None
        alike = made is not None and repr(made) == repr(found) and made.state_dict().keys() == found.state_dict().keys()
        if not alike:
            if any(type(inner).__module__ == "__main__" for inner in found.modules()):
                raise ValueError(f"`{node.name}` calls a {type(found).__name__} of __main__: put its class into a file")
            self.imports |= {"base64", "pickle"}
            try:
                data = base64.b64encode(pickle.dumps(copy.deepcopy(found).to("meta"))).decode()
            except Exception as error:
                raise ValueError(
                    f"`{node.name}` calls a {type(found).__name__}, which cannot be written ({type(error).__name__}: "
                    f"{error}): trace into it, or export the model, which leaves no modules in the graph"
                ) from error
            written = f'pickle.loads(base64.b64decode("{data}")).to_empty(device="cpu")'
        self.loads = True
        own = {**dict(found.named_parameters()), **dict(found.named_buffers())}
        frozen = [name for name, weight in found.named_parameters() if not weight.requires_grad]
        tensors = ", ".join(f"{name!r}: {self._tensor(value)}" for name, value in own.items())
        return f"loaded({written}, {{{tensors}}}, {frozen}, {found.training})"

    def _tensor(self, tensor: Tensor) -> str:
        dtype = tensor.dtype
        cures = (
            (tensor.is_meta, "give it values"),
            (tensor.layout is not torch.strided, "make it dense"),
            (tensor.is_quantized, "dequantize it"),
            (dtype.is_complex, "replace it with its real and its imaginary part"),
        )
        if cure := next((cure for applies, cure in cures if applies), None):
            raise ValueError(f"a tensor of {dtype}, {tensor.layout} on {tensor.device} cannot be written: {cure}")
        value = tensor.detach().cpu()
        size = tuple(value.shape)
        numbers = value.double() if dtype.is_floating_point else value if dtype == torch.bool else value.long()
        if value.numel() <= _INLINE:
            written = f"torch.tensor({_plain(numbers.tolist())}, dtype={dtype}).reshape({size})"
        elif numbers.min() == numbers.max():
            written = f"torch.full({size}, {_plain(numbers.min().item())}, dtype={dtype})"
        else:
            self.draws = True
            bounds = numbers.double().nan_to_num()
            low, high = bounds.min().item(), bounds.max().item() + (not dtype.is_floating_point)
            written = f"drawn({size}, {dtype}, {low}, {high})"
            if dtype == torch.bool:
                written = f"drawn({size}, torch.int64, 0, 2).bool()"
        if not value.is_contiguous() and 0 not in value.stride():
            written = f"torch.empty_strided({size}, {value.stride()}, dtype={dtype}).copy_({written})"
        return written + ("" if tensor.device.type == "cpu" else f'.to("{tensor.device}")')

    def _value(self, value: Any, names: dict[fx.Node, str] | None = None) -> str:
        match value:
            case fx.Node():
                return (names or {})[value]
            case Tensor():
                return self._tensor(value) + (".requires_grad_()" if value.requires_grad else "")
            case tuple():
                inner = ", ".join(self._value(item, names) for item in value)
                return f"({inner}{',' if len(value) == 1 else ''})"
            case list():
                return f"[{', '.join(self._value(item, names) for item in value)}]"
            case dict():
                pairs = (f"{key!r}: {self._value(item, names)}" for key, item in value.items())
                return f"{{{', '.join(pairs)}}}"
            case slice():
                parts = (self._value(part, names) for part in (value.start, value.stop, value.step))
                return f"slice({', '.join(parts)})"
            case torch.device():
                return f"torch.{value!r}"
            case float() | None | bool() | int() | str() | complex() | torch.dtype() | torch.layout():
                return _plain(value)
            case torch.memory_format():
                return str(value)
        if value is Ellipsis:
            return "..."
        raise ValueError(f"an argument of class {type(value).__name__} cannot be written: {value!r}")


def _is_guard(node: fx.Node, module: fx.GraphModule) -> bool:
    called = getattr(module, str(node.target), None) if node.op == "call_module" and not node.users else None
    return type(called).__name__ == "GuardsFn"


def _plain(value: Any) -> str:
    """A number, or nested lists of numbers, as Python source, even ``nan`` and infinity, which have no literal."""
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    text = repr(value)
    return f'float("{text}")' if isinstance(value, float) and text in ("nan", "inf", "-inf") else text
