"""The report of check_pass has the right content and order, and what was not tested does not pass."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn
from torch.fx.experimental import optimization
from torch.fx.experimental.normalize import NormalizeArgs
from torch.fx.passes.dialect.common.cse_pass import CSEPass
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.infra.pass_base import PassResult
from torch.fx.passes.operator_support import create_op_support
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.split_module import split_module

from fxbook import check_pass, draw, inputs_for, invariants, random_graph
from tests.passes.planted.models import in_sealed
from tests.passes.tried.trial import NUMBERS
from tests.passes.wrong import nothing, raises

aten = torch.ops.aten
RELUS = (torch.relu, nn.functional.relu, aten.relu.default)


def negates(module: fx.GraphModule) -> PassResult:
    """Obviously wrong: replace relu with neg."""
    found = [node for node in module.graph.nodes if node.target in RELUS]
    for node in found:
        node.target, node.kwargs = aten.neg.default, {}
    module.recompile()
    return PassResult(module, bool(found))


def program(dynamic: bool = False) -> torch.export.ExportedProgram:
    sizes = ({0: torch.export.Dim.DYNAMIC},) if dynamic else None
    return torch.export.export(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), (torch.ones(2, 4),), dynamic_shapes=sizes)


class Scaled(nn.Module):
    """A model with keyword inputs."""

    def forward(self, x: Tensor, *, factor: Tensor, offset: float = 2.0) -> Tensor:
        return torch.relu(x * factor + offset)


def names(findings: tuple[Any, ...]) -> list[str]:
    return [finding.invariant for finding in findings]


# ---- what did not run does not pass ----------------------------------------------------------------------------------


def test_fixed_sizes_are_kept_and_no_other_size_is_tested() -> None:
    report = check_pass(negates, program().module())
    assert names(report.faults)[0] == "values" and not report
    assert "sizes are fixed" in report.checked["values_at_another_size"]
    assert check_pass(negates, program(dynamic=True).module()).checked["values_at_another_size"] == 2


@pytest.mark.parametrize(
    ("inputs", "kind", "said"),
    [
        ((torch.ones(2, 3), torch.ones(2, 3)), ValueError, r"Shapes: \(2, 3\), \(2, 3\). It raises RuntimeError: mat1"),
        ((torch.ones(2, 2),), ValueError, "missing 1 required positional argument"),
        (torch.ones(2, 2), TypeError, "is a tensor: pass a tuple"),
        ({"x": torch.ones(2, 2)}, TypeError, "pass a tuple"),
    ],
)
def test_inputs_on_which_the_module_does_not_run(inputs: Any, kind: type[Exception], said: str) -> None:
    module = fx.symbolic_trace(lambda x, y: torch.relu(x @ y))
    for ask in (check_pass, invariants.values):
        with pytest.raises(kind, match=said):
            ask(negates, module, inputs)


def test_given_inputs_are_tested_with_other_rows_if_the_graph_allows_it() -> None:
    def burns_the_size(module: fx.GraphModule) -> None:
        for node in module.graph.find_nodes(op="call_method", target="size"):
            node.replace_all_uses_with(2)
            module.graph.erase_node(node)
        module.recompile()

    module = fx.symbolic_trace(lambda x, y: x * y * x.size(0))
    report = check_pass(burns_the_size, module, (torch.ones(2, 3), torch.ones(2, 3)))
    assert names(report.faults)[0] == "values_at_another_size" and report.checked["values_at_another_size"] > 2
    report = check_pass(burns_the_size, module, (torch.ones(2, 3), torch.ones(1, 3)))
    assert names(report.faults)[0] == "values_at_another_size"
    report = check_pass(nothing, fx.symbolic_trace(lambda x: x * x), (torch.tensor(2.0),))
    assert report and "give `others`" in report.checked["values_at_another_size"]
    # A named invariant must be tested.
    assert not check_pass(nothing, program().module(), keep=["values_at_another_size"])
    with pytest.raises(invariants.NotCheckedError, match="sizes are fixed"):
        invariants.values_at_another_size(nothing, program().module())


def test_a_dynamic_size_stays_dynamic() -> None:
    """Comparing the size with a number would fix it in the shape environment, which all copies share."""
    sizes = ({1: torch.export.Dim.DYNAMIC},)
    module = torch.export.export(nn.Softmax(1), (torch.ones(4, 6),), dynamic_shapes=sizes).module()
    for _ in range(2):
        report = check_pass(nothing, module, (torch.ones(4, 6),))
        assert report.checked["values_at_another_size"] == 2 and report.checked["meta"] == 1


def test_nested_tensors_are_reported_as_not_compared() -> None:
    module = fx.symbolic_trace(lambda x: torch.relu(x))
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    report = check_pass(nothing, module, (nested,))
    assert report and any("not compared: whether the pass writes into input 0" in one.message for one in report.advice)
    assert names(check_pass(negates, module, (nested,)).faults) == ["values"]


@pytest.mark.parametrize(
    ("module", "value"),
    [(fx.symbolic_trace(lambda x: torch.relu(x)), torch.ones(2, device="meta")), (in_sealed(), torch.ones(2))],
    ids=["meta", "object"],
)
def test_a_result_that_cannot_be_compared_is_not_equal(module: fx.GraphModule, value: Tensor) -> None:
    report = check_pass(nothing, module, (value,))
    assert not report and "the result cannot be compared" in report.faults[0].message
    assert check_pass(nothing, module, (value,), without=["values"])
    with pytest.raises(invariants.NotCheckedError, match="the result cannot be compared"):
        invariants.values(nothing, module, (value,))


# ---- content ---------------------------------------------------------------------------------------------------------


def test_a_pass_that_raises_is_reported_with_its_error() -> None:
    module = random_graph(7)
    report = check_pass(raises, module, keep=["meta"])
    assert [str(fault) for fault in report.faults] == ["runs: the pass raises KeyError: 'no such layer'"]
    with pytest.raises(invariants.error_of("runs")) as raised:
        report.require()
    assert isinstance(raised.value.__cause__, KeyError)
    with pytest.raises(AssertionError, match=r"^runs: the pass raises KeyError"):
        invariants.gradients(raises, module)


def test_a_fault_in_the_second_run_is_reported_as_such() -> None:
    def only_once(module: fx.GraphModule) -> PassResult:
        [node] = module.graph.find_nodes(op="call_function", target=torch.relu)
        node.target = aten.relu.default
        module.recompile()
        return PassResult(module, True)

    report = check_pass(only_once, fx.symbolic_trace(lambda x: torch.relu(x)), (torch.ones(2),))
    assert report and names(report.advice) == ["idempotence"]
    assert "in its second run, on its own result" in report.advice[0].message


def test_conventions_are_advice_unless_they_are_named() -> None:
    module = random_graph(7)
    report = check_pass(lambda module: None, module)
    assert report and set(names(report.advice)) == {"modified", "changes"}
    assert names(check_pass(lambda module: None, module, keep=["modified"]).faults) == ["modified"]


def test_values_come_first_and_the_text_and_the_table_are_complete() -> None:
    report = check_pass(negates, fx.symbolic_trace(lambda x: torch.relu(x)), (torch.ones(2, 3),))
    assert names(report.faults)[:2] == ["values", "values_at_another_size"] and report.faults[0].node == "relu"
    assert report.changes.changed == 1 and report.changes.nodes == 3 and report.result.modified
    shown = report._repr_html_()
    for finding in (*report.faults, *report.advice):
        assert str(finding) in str(report) and f"<code>{finding.invariant}</code>" in shown


def test_each_invariant_has_an_error_class_that_can_be_pickled() -> None:
    kinds = {invariants.error_of(one.__name__) for one in invariants.ALL}
    assert len(kinds) == len(invariants.ALL) and all(issubclass(kind, invariants.InvariantError) for kind in kinds)
    error = pickle.loads(pickle.dumps(invariants.error_of("values")("values: wrong")))
    assert type(error) is invariants.error_of("values") and str(error) == "values: wrong"


def test_renaming_nodes_is_no_change() -> None:
    def renames(module: fx.GraphModule) -> PassResult:
        [node] = module.graph.find_nodes(op="call_function", target=torch.relu)
        node.name = f"{node.name}_again"
        module.recompile()
        return PassResult(module, False)

    report = check_pass(renames, fx.symbolic_trace(lambda x: torch.relu(x)), (torch.ones(2),))
    assert report and names(report.advice) == ["changes"]


def test_a_weight_with_a_prefix_is_no_fault_and_a_renamed_one_is() -> None:
    def moves(module: fx.GraphModule) -> PassResult:
        return PassResult(split_module(module, None, lambda node: int(node.op == "output")), True)

    def renames(module: fx.GraphModule) -> PassResult:
        module.add_submodule("layer", module.get_submodule("0"))
        [node] = module.graph.find_nodes(op="call_module", target="0")
        node.target = "layer"
        module.delete_all_unused_submodules()
        module.recompile()
        return PassResult(module, True)

    module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
    module(torch.randn(4, 2))
    report = check_pass(moves, module, (torch.ones(3, 2),))
    assert report and "state_kept" in names(report.advice)
    [fault] = check_pass(renames, module, (torch.ones(3, 2),)).faults
    assert fault.message == "the weight `0.bias` is now called `layer.bias` in state_dict"


def test_the_gradient_of_the_input_is_compared_but_not_that_of_a_folded_weight() -> None:
    def halves(module: fx.GraphModule) -> PassResult:
        layer = module.get_submodule("0")
        module.add_submodule("0", twice := nn.Linear(2, 2, bias=False))
        twice.weight = nn.Parameter(layer.weight.detach() * 2)
        module.recompile()
        return PassResult(module, True)

    module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2, bias=False)))
    [fault] = check_pass(halves, module, (torch.ones(1, 2),), keep=["gradients"]).faults
    assert "the gradient of input 0" in fault.message


# ---- kinds of passes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dynamic", [False, True])
def test_in_a_backend_of_torch_compile(dynamic: bool) -> None:
    found: list[Any] = []

    def backend(module: fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        found.append("older" in str(draw(module)).replace("placeholder", ""))
        for inputs in (tuple(example_inputs), inputs_for(module)):
            found.extend((names(check_pass(nothing, module, inputs).faults), names(check_pass(negates, module).faults)))
        return module.forward

    torch._dynamo.reset()
    run = torch.compile(lambda x: torch.relu(x) * x.shape[0], backend=backend, dynamic=dynamic)
    assert torch.equal(run(torch.ones(4, 3)), torch.full((4, 3), 4.0))
    assert found[:2] == [False, []] and found[3] == [] and found[2][0] == found[4][0] == "values"


def test_in_a_compiler_of_aot_autograd() -> None:
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    found: list[Any] = []

    def in_graph(graph: fx.Graph) -> None:
        for node in graph.find_nodes(op="call_function", target=aten.relu.default):
            node.target = aten.neg.default

    def compiler(module: fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        found.append(names(check_pass(nothing, module, tuple(example_inputs)).faults))
        found.append(names(check_pass(invariants.over_graph(in_graph), module, tuple(example_inputs)).faults))
        return make_boxed_func(module.forward)

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(lambda x: torch.relu(x) + 1, backend=aot_autograd(fw_compiler=compiler))(torch.ones(2))
    assert found == [[], ["values", "gradients"]]


def test_inputs_by_name() -> None:
    inputs, kwargs = (torch.ones(2),), {"factor": torch.ones(2)}
    exported = torch.export.export(Scaled(), inputs, kwargs)
    for module in (fx.symbolic_trace(Scaled()), exported.module(), exported):
        given = nothing if isinstance(module, fx.GraphModule) else (lambda program: program)
        assert check_pass(given, module, inputs, kwargs)
    for module in (fx.symbolic_trace(Scaled()), exported.module()):
        assert names(check_pass(negates, module, inputs, kwargs).faults) == ["values", *_other(module), "gradients"]


def _other(module: fx.GraphModule) -> list[str]:
    return [] if "_guards_fn" in str(module.graph) else ["values_at_another_size"]


def test_a_pass_over_an_exported_program() -> None:
    def in_program(exported: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
        for node in exported.graph.find_nodes(op="call_function", target=aten.relu.default):
            node.target = aten.neg.default
        return exported

    given = program()
    report = check_pass(in_program, given)
    assert names(report.faults) == ["values", "gradients"] and isinstance(report.result, torch.export.ExportedProgram)
    assert aten.relu.default in {node.target for node in given.graph.nodes}
    with pytest.raises(TypeError, match=r"return the program, or give program.module\(\)"):
        check_pass(lambda exported: PassResult(exported.graph_module, False), given)
    with pytest.raises(TypeError, match=r"got UnflattenedModule: pass program.module\(\)"):
        check_pass(nothing, torch.export.unflatten(given))


# ---- right passes of torch -------------------------------------------------------------------------------------------


class Block(nn.Module):
    """A model with everything that passes of torch look for."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        self.dropout, self.linear = nn.Dropout(), nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.dropout(torch.relu(self.norm(self.convolution(x)))).mean((2, 3))
        return torch.add(self.linear(x) * 2, self.linear(x) * 2).relu()


def partitions(module: fx.GraphModule) -> fx.GraphModule:
    functions = create_op_support(lambda _, node: node.op == "call_function")
    return CapabilityBasedPartitioner(module, functions, allows_single_node_partition=True).partition_and_fuse()


def normalizes(module: fx.GraphModule) -> fx.GraphModule:
    return NormalizeArgs(module).transform()


def quantises(module: fx.GraphModule) -> fx.GraphModule:
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import prepare_fx

    return prepare_fx(module, get_default_qconfig_mapping("x86"), (torch.ones(2, 3, 8, 8),))


RIGHT = (optimization.fuse, optimization.remove_dropout, CSEPass(), partitions, normalizes, quantises)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", RIGHT, ids=lambda run: getattr(run, "__name__", type(run).__name__))
def test_no_fault_is_reported_for_a_correct_pass_of_torch(run: Any) -> None:
    inputs = (torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(0)),)
    module = fx.symbolic_trace(Block().eval())
    ShapeProp(module).propagate(*inputs)
    report = check_pass(run, module, inputs).require()
    assert report.changes and report.checked["values_at_another_size"] >= 2


def detaches_relu(module: fx.GraphModule) -> PassResult:
    for node in module.graph.find_nodes(op="call_function", target=torch.relu):
        with module.graph.inserting_before(node):
            node.args = (module.graph.call_method("detach", node.args),)
    module.recompile()
    return PassResult(module, True)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_gradients_are_compared_even_if_the_caller_turned_them_off(mode: Callable[[], Any]) -> None:
    module = fx.symbolic_trace(lambda x: torch.relu(x) * 2)
    with mode():
        report = check_pass(detaches_relu, module, (torch.ones(2),))
    assert [fault.invariant for fault in report.faults] == ["gradients"]


def test_in_a_backend_only_inputs_that_require_grad_have_gradients() -> None:
    """A Dynamo graph has running statistics among its inputs, and batch_norm rejects them if they require grad."""
    reports = []

    def backend(module: fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        reports.append(check_pass(detaches_relu, module, tuple(example_inputs)))
        return module.forward

    network = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    torch.compile(lambda x: torch.relu(network(x)), backend=backend)(torch.randn(4, 3))
    assert "gradients" in [fault.invariant for fault in reports[0].faults]


@pytest.mark.parametrize(
    "value", [torch.eye(3).to_sparse_csr(), torch.ones(2, 2).to_mkldnn(), torch.ones(2, requires_grad=True) * 2]
)
def test_inputs_that_python_cannot_copy(value: Tensor) -> None:
    module = fx.symbolic_trace(lambda x: torch.relu(x))
    assert check_pass(lambda module: PassResult(module, False), module, (value,))


def test_invalid_options_are_rejected() -> None:
    module = fx.symbolic_trace(lambda x, y: x @ y)
    given = (torch.ones(2, 2), torch.ones(2, 2))
    with pytest.raises(ValueError, match=r"does not run on `others` of the shapes \(1, 3\), \(2, 2\)"):
        check_pass(detaches_relu, module, given, others=[(torch.ones(1, 3), torch.ones(2, 2))])
    with pytest.raises(TypeError, match="rtol is 'high'"):
        check_pass(detaches_relu, module, given, rtol="high")  # type: ignore[arg-type]


def test_a_node_that_moved_is_a_change() -> None:
    module = fx.symbolic_trace(lambda x: torch.sin(x) + torch.cos(x))

    def moves(module: fx.GraphModule) -> PassResult:
        sin, cos = list(module.graph.nodes)[1:3]
        cos.append(sin)
        module.recompile()
        return PassResult(module, True)

    assert "changed nothing" not in str(check_pass(moves, module, (torch.ones(2),)))


def test_a_pass_that_may_change_values_may_do_so_with_other_weights() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor([-1.5, 0.5]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x * self.scale)

    def doubles(module: fx.GraphModule) -> PassResult:
        [relu] = module.graph.find_nodes(op="call_function", target=torch.relu)
        with module.graph.inserting_after(relu):
            relu.replace_all_uses_with(
                doubled := module.graph.call_function(torch.mul, (relu, 2)), lambda user: user is not doubled
            )
        module.recompile()
        return PassResult(module, True)

    module, inputs = fx.symbolic_trace(Scaled()), (torch.tensor([1.0, 0.0]),)
    others = [name for name in NUMBERS if name != "values"]
    accused = check_pass(doubles, module, inputs, without=[*others, "idempotence"])
    assert [finding.invariant for finding in accused.faults] == ["determinism"]
    assert not check_pass(doubles, module, inputs, without=[*others, "values", "idempotence"]).faults
