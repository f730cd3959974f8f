"""The four operations of chapter 15 on three blocks: outputs, gradients and names of weights, each compared.

What they are compared with is computed without the passes: the block itself, with weights that are changed by hand.
"""

from __future__ import annotations

import copy
import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn

from tests.taken import taken

_NAMES = (
    *("exported", "traced", "SelfAttention", "same"),
    *("use_sdpa", "add_lora", "merge_lora", "Adapter", "quantize_linears", "prune_heads"),
)
_ROUNDING = {"rtol": 1e-4, "atol": 1e-5}


@dataclasses.dataclass(frozen=True)
class Block:
    """What is known of a block beforehand.

    Attributes:
        linear: how the names of its linear weights end, without those that are tied to an embedding.
        transposed: whether these weights are stored as ``(in, out)``.
        adapted: the last names of the layers that get adapters.
        heads: of the first attention, those that go.
        cut: where these heads are in each of its weights: the dimension, into how many equal parts it falls, and which
            of them go. The last two are the layer behind the attention.
    """

    linear: tuple[str, ...]
    transposed: bool
    adapted: tuple[str, ...]
    heads: list[int]
    cut: dict[str, tuple[int, int, list[int]]]


_OF_BLOCK = {f"{name}.{part}": (0, 4, [1, 2]) for name in ("query", "key", "value") for part in ("weight", "bias")}
BLOCKS = {
    # Four heads, of which two share a key.
    "llama": Block(
        ("_proj.weight", "lm_head.weight"),
        False,
        ("q_proj", "v_proj"),
        [0, 1],
        {
            "layers.0.self_attn.q_proj.weight": (0, 4, [0, 1]),
            "layers.0.self_attn.k_proj.weight": (0, 2, [0]),
            "layers.0.self_attn.v_proj.weight": (0, 2, [0]),
            "layers.0.self_attn.o_proj.weight": (1, 4, [0, 1]),
        },
    ),
    # Four heads; query, key and value are computed in one layer.
    "gpt2": Block(
        ("c_attn.weight", "c_proj.weight", "c_fc.weight"),
        True,
        ("c_attn",),
        [1],
        {
            "h.0.attn.c_attn.weight": (1, 12, [1, 5, 9]),
            "h.0.attn.c_attn.bias": (0, 12, [1, 5, 9]),
            "h.0.attn.c_proj.weight": (0, 4, [1]),
        },
    ),
    "written here": Block(
        ("query.weight", "key.weight", "value.weight", "out.weight"),
        False,
        ("query", "value"),
        [1, 2],
        {**_OF_BLOCK, "out.weight": (1, 4, [1, 2])},
    ),
}


@pytest.fixture(scope="module")
def chapter() -> SimpleNamespace:
    return SimpleNamespace(**dict(zip(_NAMES, taken("15_operate_on_a_transformer", *_NAMES), strict=True)))


@pytest.fixture(scope="module", params=BLOCKS)
def given(request: pytest.FixtureRequest, chapter: SimpleNamespace) -> tuple[fx.GraphModule, tuple[Tensor, ...], Block]:
    """The graph of a block as the chapter captures it, its inputs, and what is known of it."""
    name = request.param
    torch.manual_seed(0)
    if name != "written here":
        program, tokens = chapter.exported(name)
        return program, (tokens,), BLOCKS[name]
    inputs = torch.randn(2, 8, 32), torch.ones(8, 8, dtype=torch.bool).triu(1)
    return chapter.traced(chapter.SelfAttention(32, 4).eval(), *inputs), inputs, BLOCKS[name]


def computed(program: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, dict[str, Tensor | None]]:
    """The output, and the gradients by the name of the weight; of an input that can have one, by its place."""
    program.zero_grad()
    leaves = [one.clone().requires_grad_() if one.is_floating_point() else one for one in inputs]
    output = program(*leaves)
    output.square().sum().backward()
    slopes = {name: weight.grad for name, weight in program.named_parameters()}
    return output.detach(), slopes | {str(place): leaf.grad for place, leaf in enumerate(leaves)}


def close(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, **_ROUNDING)


def names(program: nn.Module) -> list[str]:
    return list(program.state_dict())


def test_attention_in_one_call(
    given: tuple[fx.GraphModule, tuple[Tensor, ...], Block], chapter: SimpleNamespace
) -> None:
    program, inputs, _ = given
    after = copy.deepcopy(program)
    assert chapter.use_sdpa(after).modified
    assert not [node for node in after.graph.nodes if "softmax" in str(node.target)]
    assert chapter.same(program, after, *inputs)
    close(computed(after, inputs), computed(program, inputs))


def changed_by(adapters: dict[str, Any], program: nn.Module) -> nn.Module:
    """The block, its weights changed as adapters beside them would."""
    changed = copy.deepcopy(program)
    for name, adapter in adapters.items():
        change = (adapter.scale * adapter.up @ adapter.down).detach()
        changed.get_parameter(name).data += change.T if adapter.transposed else change
    return changed


def test_adapters_are_added_and_trained_and_merged(
    given: tuple[fx.GraphModule, tuple[Tensor, ...], Block], chapter: SimpleNamespace
) -> None:
    program, inputs, block = given
    tuned = copy.deepcopy(program)
    assert chapter.add_lora(tuned, layers=block.adapted).modified
    layers = [name for name in names(program) if name.removesuffix(".weight").endswith(block.adapted)]
    adapters = {name: tuned.get_submodule(f"lora.{name}") for name in layers}
    own = {f"lora.{name}.{part}" for name in layers for part in ("down", "up")}
    assert set(names(tuned)) == {*names(program), *own} and len(layers) >= 2
    assert torch.equal(tuned(*inputs), program(*inputs))

    def holds() -> float:
        """Adapters compute what the changed weights do, and learn what follows from the gradients of these."""
        (output, slopes), (expected, whole) = computed(tuned, inputs), computed(changed_by(adapters, program), inputs)
        close(output, expected)
        for name, adapter in adapters.items():
            slope = whole[name].T if adapter.transposed else whole[name]
            close(adapter.up.grad, adapter.scale * slope @ adapter.down.T)
            close(adapter.down.grad, adapter.scale * adapter.up.T @ slope)
        assert {name for name, slope in slopes.items() if slope is not None} - {"0"} == own
        close(slopes["0"], whole["0"])
        return output.square().mean().item()

    first = holds()
    optimizer = torch.optim.Adam([weight for weight in tuned.parameters() if weight.requires_grad], lr=0.02)
    for _ in range(5):
        optimizer.zero_grad()
        tuned(*inputs).square().mean().backward()
        optimizer.step()
    assert holds() < first
    assert all(torch.equal(value, tuned.state_dict()[name]) for name, value in program.state_dict().items())

    merged = copy.deepcopy(tuned)
    assert chapter.merge_lora(merged).modified
    close(merged(*inputs), tuned(*inputs))
    close(computed(merged, inputs), computed(changed_by(adapters, program), inputs))
    assert names(merged) == names(program)


def test_weights_of_eight_bits(
    given: tuple[fx.GraphModule, tuple[Tensor, ...], Block], chapter: SimpleNamespace
) -> None:
    program, inputs, block = given
    small, rounded = copy.deepcopy(program), copy.deepcopy(program)
    assert chapter.quantize_linears(small).modified
    weights = [name for name in names(program) if name.endswith(block.linear)]
    tied = {id(weight) for name, weight in program.named_parameters() if "embed" in name or "wte" in name}
    weights = [name for name in weights if id(program.get_parameter(name)) not in tied]
    told = {f"{name}.{part}" for name in weights for part in ("scale", "values")}
    assert set(names(small)) == {*names(program)} - {*weights} | told
    for name in weights:
        weight = rounded.get_parameter(name).data
        step = weight.abs().amax(0 if block.transposed else 1, keepdim=True) / 127
        assert small.get_submodule(name).values.dtype == torch.int8
        weight.copy_((weight / step).round() * step)
        assert ((weight - program.get_parameter(name)).abs() <= 0.501 * step).all()
    (output, slopes), (expected, whole) = computed(small, inputs), computed(rounded, inputs)
    close(output, expected)
    assert slopes.keys() == whole.keys() - set(weights)
    close(slopes, {name: whole[name] for name in slopes})


def test_heads_are_cut(given: tuple[fx.GraphModule, tuple[Tensor, ...], Block], chapter: SimpleNamespace) -> None:
    program, inputs, block = given
    few = copy.deepcopy(program)
    chapter.use_sdpa(few)
    assert chapter.prune_heads(few, heads={0: block.heads}, inputs=inputs).modified
    silent, kept = copy.deepcopy(program), {}
    for name in names(program):
        for end, (dim, parts, gone) in block.cut.items():
            if name.endswith(end):
                places = torch.arange(program.get_parameter(name).shape[dim]) * parts
                places = places // program.get_parameter(name).shape[dim]
                kept[name] = dim, torch.isin(places, torch.tensor(gone)).logical_not().nonzero().flatten()
    assert len(kept) == len(block.cut)
    behind, (dim, stays) = list(kept.items())[-1]
    before = silent.get_parameter(behind).data
    before.copy_(torch.zeros_like(before).index_copy(dim, stays, before.index_select(dim, stays)))
    (output, slopes), (expected, whole) = computed(few, inputs), computed(silent, inputs)
    close(output, expected)
    close(slopes, whole | {name: whole[name].index_select(*where) for name, where in kept.items()})
    assert names(few) == names(program)
