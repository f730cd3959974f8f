"""Random graphs are valid, varied, restricted as requested, reproducible, and small if a test fails."""

from __future__ import annotations

import collections
import copy
import importlib
import itertools
import operator
import re
import sys
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import FailedHealthCheck
from torch import Tensor, fx, nn
from torch.fx.passes.shape_prop import ShapeProp, TensorMetadata
from torch.utils import _pytree as pytree

from fxbook import check_pass, how_often, inputs_for, random_graph, random_graphs

QUICK = settings(max_examples=40, deadline=None, database=None, derandomize=True)
SEEDS = range(300)


@pytest.fixture(scope="module")
def graphs() -> list[fx.GraphModule]:
    return [random_graph(seed) for seed in SEEDS]


def nodes(module: fx.GraphModule, *ops: str) -> list[fx.Node]:
    return [node for node in module.graph.nodes if not ops or node.op in ops]


def tensors(result: object) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, Tensor)]


# ---- validity --------------------------------------------------------------------------------------------------------


@QUICK
@given(random_graphs(), st.sampled_from((1, 2, 3, 5, 8)))
def test_a_graph_lints_and_runs_at_any_number_of_rows(module: fx.GraphModule, rows: int) -> None:
    module.graph.lint()
    given_, kept = inputs_for(module, rows), inputs_for(module, rows)
    results = tensors(module(*given_))
    assert results and all(result.shape[0] == rows and result.isfinite().all() for result in results)
    assert all(torch.equal(one, other) for one, other in zip(given_, kept, strict=True)), "it writes into an input"
    assert all(result.dtype == torch.float64 for result in results if result.is_floating_point())


def backward(module: fx.GraphModule, rows: int = 3) -> bool:
    """Whether a gradient reaches an input."""
    inputs = inputs_for(module, rows)
    leaves = [tensor.requires_grad_() for tensor in inputs if tensor.is_floating_point()]
    total = sum(result.sum() for result in tensors(module(*inputs)) if result.requires_grad)
    if isinstance(total, Tensor):
        total.backward()
    return any(leaf.grad is not None for leaf in leaves)


@pytest.mark.parametrize("rows", [1, 3, 5])
def test_backward_works(graphs: list[fx.GraphModule], rows: int) -> None:
    assert sum(backward(module, rows) for module in graphs) > len(graphs) * 0.8


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_other_dtypes_stay_bounded(dtype: torch.dtype) -> None:
    for module in (random_graph(seed, dtype=dtype) for seed in range(60)):
        results = [result for result in tensors(module(*inputs_for(module))) if result.is_floating_point()]
        assert all(result.dtype == dtype and result.isfinite().all() for result in results)
        backward(module)


def test_meta_is_that_of_shapeprop(graphs: list[fx.GraphModule]) -> None:
    for module in graphs[:60]:
        again = copy.deepcopy(module)
        inputs = [x.requires_grad_(x.is_floating_point()) for x in inputs_for(module)]
        ShapeProp(again).propagate(*inputs)
        for ours, other in zip(nodes(module), nodes(again), strict=True):
            assert ours.op == "output" or ours.meta.get("tensor_meta") == other.meta.get("tensor_meta")


@pytest.mark.parametrize("seed", range(12))
def test_the_same_graph_in_operators_of_aten(seed: int) -> None:
    module, exported = random_graph(seed), random_graph(seed, dialect="aten")
    called = [node.target for node in nodes(exported, "call_function")]
    # Sizes are computed with Python's operators.
    assert all(isinstance(one, torch._ops.OpOverload) or one.__module__ == "_operator" for one in called)
    assert all("val" in node.meta for node in nodes(exported, "placeholder", "call_function"))
    for rows in (1, 3, 5):
        torch.testing.assert_close(
            tensors(exported(*inputs_for(exported, rows))), tensors(module(*inputs_for(module, rows)))
        )
    check_pass(lambda module: None, exported, keep=["lint", "code", "values", "values_at_another_size", "gradients"])


# ---- variety ---------------------------------------------------------------------------------------------------------


def writes(node: fx.Node) -> bool:
    if node.op == "call_module":
        return getattr(node.graph.owning_module.get_submodule(node.target), "inplace", False)
    name = node.target if isinstance(node.target, str) else node.target.__name__
    return node.op in ("call_method", "call_function") and (
        (name.endswith("_") and not name.endswith("__")) or name in ("iadd", "imul") or "inplace" in node.kwargs
    )


def layer(node: fx.Node) -> nn.Module | None:
    return node.graph.owning_module.get_submodule(node.target) if node.op == "call_module" else None


def dtypes(found: list[fx.Node]) -> set[torch.dtype]:
    metas = [node.meta.get("tensor_meta") for node in found]
    return {meta.dtype for meta in metas if isinstance(meta, TensorMetadata)}


def shapes(module: fx.GraphModule) -> set[torch.Size]:
    metas = [node.meta.get("tensor_meta") for node in nodes(module, "placeholder")]
    return {meta.shape for meta in metas}


KINDS = {
    "all six opcodes": lambda module: len({node.op for node in nodes(module)}) == 6,
    "works in place": lambda module: any(map(writes, nodes(module))),
    "works in place, and no node uses it": lambda module: any(writes(n) and not n.users for n in nodes(module)),
    "a module called twice": lambda module: (
        max(collections.Counter(node.target for node in nodes(module, "call_module")).values(), default=0) > 1
    ),
    "one module at two paths": lambda module: (
        len(list(module.named_modules(remove_duplicate=False))) > len(list(module.modules()))
    ),
    "a weight of two modules": lambda module: any("tied" in path for path, _ in module.named_modules()),
    "a parameter": lambda module: any("scale" in name for name, _ in module.named_parameters()),
    "a dead node": lambda module: any(
        not node.users and not writes(node) for node in nodes(module, "call_function", "call_method", "call_module")
    ),
    "arguments by name": lambda module: any(
        isinstance(value, fx.Node) for node in nodes(module) for value in node.kwargs.values()
    ),
    "a tuple of nodes": lambda module: any(
        node.target is torch.cat and isinstance((*node.args, *node.kwargs.values())[0], tuple)
        for node in nodes(module, "call_function")
    ),
    "an item": lambda module: any(node.target is operator.getitem for node in nodes(module)),
    "a size": lambda module: any(node.target == "size" or node.target is getattr for node in nodes(module)),
    "a mask": lambda module: any(node.target is operator.gt for node in nodes(module)),
    "a convolution, and its norm": lambda module: any(
        isinstance(layer(node), nn.BatchNorm2d) and isinstance(layer(node.all_input_nodes[0]), nn.Conv2d)
        for node in nodes(module, "call_module")
    ),
    "a convolution as a function": lambda module: any(node.target is nn.functional.conv2d for node in nodes(module)),
    "four dimensions": lambda module: any(len(shape) == 4 for shape in shapes(module)),
    "an embedding": lambda module: any(isinstance(layer(node), nn.Embedding) for node in nodes(module)),
    "whole numbers": lambda module: torch.int64 in dtypes(nodes(module)),
    "an input of whole numbers": lambda module: torch.int64 in dtypes(nodes(module, "placeholder")),
    "an input of truth values": lambda module: torch.bool in dtypes(nodes(module, "placeholder")),
    "attention": lambda module: any(
        node.target is nn.functional.scaled_dot_product_attention or isinstance(layer(node), nn.MultiheadAttention)
        for node in nodes(module)
    ),
    "several inputs": lambda module: len(nodes(module, "placeholder")) > 1,
    "an output that is a tuple": lambda module: isinstance(nodes(module, "output")[0].args[0], tuple),
    "an output that is a dict": lambda module: isinstance(nodes(module, "output")[0].args[0], dict),
    "a call that occurs twice": lambda module: (
        max(
            collections.Counter(
                (node.target, str(node.args), str(node.kwargs)) for node in nodes(module, "call_function")
            ).values(),
            default=0,
        )
        > 1
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_graph_occurs(kind: str, graphs: list[fx.GraphModule]) -> None:
    assert sum(map(KINDS[kind], graphs)) >= 3


# ---- switches --------------------------------------------------------------------------------------------------------


def storages(value: object) -> set[int]:
    return {tensor.untyped_storage().data_ptr() for tensor in tensors(value)}


class Ran(NamedTuple):
    """A node that has run: the tensors among its arguments, its result, and whether it wrote into an argument."""

    node: fx.Node
    given: list[Tensor]
    result: object
    wrote: bool

    @property
    def called(self) -> str:
        return str(layer(self.node) or self.node.target).lower()

    @property
    def is_call(self) -> bool:
        return self.node.op.startswith("call")

    @property
    def views(self) -> bool:
        new = [one for one in tensors(self.result) if all(one is not other for other in self.given)]
        return self.is_call and bool(storages(new) & storages(self.given))

    @property
    def several(self) -> bool:
        """Whether an argument or the result is a tuple or a list of tensors."""
        given = [arg for arg in (*self.node.args, *self.node.kwargs.values()) if isinstance(arg, tuple | list)]
        return self.is_call and (
            any("tensor_meta" in one.meta for arg in given for one in arg if isinstance(one, fx.Node))
            or (isinstance(self.result, tuple | list) and not isinstance(self.result, torch.Size))
        )


def ran(module: fx.GraphModule) -> list[Ran]:
    seen = []

    class Watching(fx.Interpreter):
        def run_node(self, node: fx.Node) -> object:
            given = tensors(self.fetch_args_kwargs_from_env(node))
            versions = [tensor._version for tensor in given]
            result = super().run_node(node)
            seen.append(Ran(node, given, result, versions != [tensor._version for tensor in given]))
            return result

    Watching(module, garbage_collect_values=False).run(*inputs_for(module))
    return seen


def is_repeat(node: fx.Node) -> bool:
    def text(node: fx.Node) -> str:
        return repr((node.op, node.target, node.args, node.kwargs))

    return node.op.startswith("call") and node is not next(one for one in node.graph.nodes if text(one) == text(node))


SWITCHES = {
    "modules": lambda one: one.node.op == "call_module",
    "methods": lambda one: one.node.op == "call_method",
    "attributes": lambda one: one.node.op == "get_attr",
    "kwargs": lambda one: bool(one.node.kwargs),
    "in_place": lambda one: one.wrote,
    "views": lambda one: one.views,
    "tuples": lambda one: one.several,
    "sizes": lambda one: isinstance(one.result, int | torch.Size),
    "masks": lambda one: any(tensor.dtype == torch.bool for tensor in tensors(one.result)),
    "integers": lambda one: any(tensor.dtype == torch.int64 for tensor in tensors(one.result)),
    "images": lambda one: (
        re.search("conv|pool", one.called) or (one.node.op == "placeholder" and one.result.dim() == 4)
    ),
    "attention": lambda one: re.search("attention|matmul", one.called),
    "repeats": lambda one: is_repeat(one.node),
    "dead_code": lambda one: (one.is_call or one.node.op == "get_attr") and not one.node.users and not one.wrote,
    "several_outputs": lambda one: one.node.op == "output" and not isinstance(one.node.args[0], fx.Node),
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_what_is_switched_off_does_not_occur(switch: str, graphs: list[fx.GraphModule]) -> None:
    occurs = SWITCHES[switch]
    assert any(map(occurs, itertools.chain.from_iterable(map(ran, graphs[:100]))))
    for seed in range(40):
        assert not [one.node for one in ran(random_graph(seed, **{switch: False})) if occurs(one)]


def test_there_may_be_one_input() -> None:
    assert not any(KINDS["several inputs"](random_graph(seed, inputs=1)) for seed in range(100))


def test_without_dead_code_the_result_is_the_same_and_each_write_is_read(graphs: list[fx.GraphModule]) -> None:
    needed = 0
    for seed, module in enumerate(graphs[:150]):
        calls = ran(random_graph(seed, dead_code=False))
        expected = tensors(module(*inputs_for(module)))
        torch.testing.assert_close(tensors(calls[-1].result), expected, rtol=0, atol=0)
        for place, one in enumerate(calls):
            if one.wrote and not one.node.users:
                read = [tensor for later in calls[place + 1 :] for tensor in later.given]
                assert storages(one.result) & storages(read), f"{one.node} in the graph of seed {seed}"
                needed += 1
    assert needed > 3


def test_a_switch_leaves_the_calls_that_the_user_adds() -> None:
    also = [("call_method", "erf", 1), ("call_module", lambda features: nn.Softplus(), 1), torch.detach]
    off = dict.fromkeys(SWITCHES, False)
    found = [node for seed in range(60) for node in nodes(random_graph(seed, also=also, **off))]
    assert {"call_method", "call_module"} <= {node.op for node in found}
    assert torch.detach in {node.target for node in found}


# ---- custom operators ------------------------------------------------------------------------------------------------


def test_only_the_given_functions_occur() -> None:
    own = {torch.relu, torch.hypot}
    graphs = [random_graph(seed, functions=(torch.relu, (torch.hypot, 2))) for seed in range(60)]
    assert {node.target for module in graphs for node in nodes(module, "call_function")} == own
    assert {node.op for module in graphs for node in nodes(module)} == {"placeholder", "call_function", "output"}


@pytest.mark.parametrize(
    ("limit", "error", "says"),
    [
        ({"functions": ("relu",)}, TypeError, "cannot be called"),
        ({"steps": 0}, ValueError, "one step and one input"),
        ({"dtype": torch.int64}, ValueError, "need floating point"),
        ({"inplace": False}, TypeError, "inplace"),
        ({"dialect": "edge"}, ValueError, 'choose "torch" or "aten"'),
    ],
)
def test_a_wrong_limit_is_rejected_at_once(limit: dict, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        random_graphs(**limit)
    with pytest.raises(error, match=says):
        random_graph(0, **limit)


# ---- seeds and inputs ------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_module_and_uses_no_global_generator() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, second = random_graph(11), random_graph(11)
    assert torch.equal(torch.rand(1), expected)
    assert first.code == second.code
    for name, held in first.state_dict().items():
        assert torch.equal(held, second.state_dict()[name])
    assert len({random_graph(seed).code for seed in range(50)}) > 45


def test_a_seed_of_hypothesis_gives_the_same_graphs_whatever_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn() -> list[str]:
        codes: list[str] = []

        @hypothesis.seed(0)
        @settings(max_examples=30, deadline=None, database=None, phases=[Phase.generate])
        @given(random_graphs(steps=8))
        def test(module: fx.GraphModule) -> None:
            codes.append(module.code)

        test()
        return codes

    before = drawn()
    # Hypothesis also uses numbers that it finds in loaded modules.
    (tmp_path / "full_of_numbers.py").write_text(f"NUMBERS = {[*range(512)]}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("full_of_numbers")
    try:
        assert drawn() == before
    finally:
        del sys.modules["full_of_numbers"]


def test_meta_has_the_range_of_an_integer_input() -> None:
    found = [node for seed in range(60) for node in nodes(random_graph(seed), "placeholder")]
    for node in found:
        assert ("range" in node.meta) is (dtypes([node]) == {torch.int64})
    module = next(node.graph.owning_module for node in found if "range" in node.meta)
    at_most = [
        torch.full_like(x, node.meta["range"][1] - 1) if "range" in node.meta else x
        for node, x in zip(nodes(module, "placeholder"), inputs_for(module), strict=True)
    ]
    assert tensors(module(*at_most))


def test_inputs_for_a_graph_that_was_traced() -> None:
    traced = fx.symbolic_trace(lambda x, mask: x * mask)
    with pytest.raises(ValueError, match="the placeholder `x` has no shape"):
        inputs_for(traced)
    ShapeProp(traced).propagate(torch.ones(2, 3, dtype=torch.float32), torch.ones(2, 3, dtype=torch.bool))
    x, mask = inputs_for(traced, rows=None)
    assert (x.shape, x.dtype, mask.dtype) == ((2, 3), torch.float32, torch.bool)
    assert inputs_for(traced, rows=7)[0].shape == (7, 3)
    assert not torch.equal(inputs_for(traced, seed=1)[0], inputs_for(traced, seed=2)[0])


# ---- passes on random graphs -----------------------------------------------------------------------------------------


def drops_convolutions(module: fx.GraphModule) -> fx.GraphModule:
    """Wrong; works on a new trace of the module, like many passes."""
    module = fx.symbolic_trace(module)
    for node in nodes(module, "call_module"):
        if isinstance(layer(node), nn.Conv2d):
            node.replace_all_uses_with(node.all_input_nodes[0])
            module.graph.erase_node(node)
    module.recompile()
    return module


def raises(module: fx.GraphModule) -> None:
    raise KeyError


def test_how_often_a_pass_changes_a_graph() -> None:
    often = how_often(drops_convolutions, 40)
    assert 4 <= often.changed < 40 and str(often) == f"changed {often.changed} of 40"
    assert str(how_often(fx.symbolic_trace, 40)) == "changed 0 of 40", "a new trace is no change"
    assert str(how_often(raises, 3)) == "changed 0, raised on 3 of 3"


@settings(QUICK, max_examples=10)
@given(random_graphs(changed_by=drops_convolutions))
def test_every_graph_is_one_that_the_pass_changes(module: fx.GraphModule) -> None:
    assert any(isinstance(one, nn.Conv2d) for one in module.modules())


def test_a_seed_gives_a_graph_that_the_pass_changes() -> None:
    module = random_graph(0, changed_by=drops_convolutions)
    assert module.code == random_graph(0, changed_by=drops_convolutions).code
    assert any(isinstance(one, nn.Conv2d) for one in module.modules())


@pytest.mark.room(name="passes")
@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"images": False}, "with images=True it changes some"),
        ({"images": False, "modules": False}, "with all switches on it changes some"),
        ({"functions": (torch.relu,)}, "with more than `functions` it changes some"),
    ],
)
def test_if_a_pass_changes_no_graph_the_error_says_what_may_be_missing(limits: dict, says: str) -> None:
    message = f"`drops_convolutions` changed 0 of 120 random graphs: {says}"
    with pytest.raises(ValueError, match=message):
        random_graph(0, changed_by=drops_convolutions, **limits)


def test_hypothesis_raises_the_same_error() -> None:
    @QUICK
    @given(random_graphs(changed_by=drops_convolutions, images=False))
    def test(module: fx.GraphModule) -> None:
        raise AssertionError("no graph is drawn")

    with pytest.raises(FailedHealthCheck, match="changed 0 of 120 random graphs: with images=True"):
        test()


# ---- small failures --------------------------------------------------------------------------------------------------


def smallest(fails: object) -> tuple[fx.GraphModule, str]:
    """The graph that Hypothesis reports in the end, and its message."""
    seen: list[fx.GraphModule] = []

    @settings(QUICK, max_examples=400, phases=(Phase.generate, Phase.shrink))
    @given(random_graphs())
    def test(module: fx.GraphModule) -> None:
        if fails(module):
            seen.append(module)
            raise AssertionError

    with pytest.raises(AssertionError) as caught:
        test()
    return seen[-1], "\n".join(getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize(
    ("fails", "targets"),
    [
        (lambda module: any(n.target is torch.tanh for n in nodes(module)), [torch.tanh]),
        (lambda module: any(n.target == "add_" for n in nodes(module)), [torch.add, "add_"]),
        (KINDS["works in place, and no node uses it"], None),
        (KINDS["a call that occurs twice"], [torch.relu, torch.relu]),
        (KINDS["a module called twice"], ["block_0.linear", "block_0.linear"]),
    ],
)
def test_a_failing_graph_is_made_small_and_shown_with_its_code(fails: object, targets: list | None) -> None:
    module, shown = smallest(fails)
    called = [node.target for node in nodes(module) if node.op.startswith("call")]
    assert module.code.strip() in shown
    assert called == targets if targets else len(called) <= 3
