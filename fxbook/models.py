"""Small real models: architectures of `transformers` with a few layers and random weights, made from a seed.

Nothing is downloaded. `transformers` is in the extra ``models``, and is imported only when the first model is made.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from fxbook.extras import needing

if TYPE_CHECKING:
    from transformers import PreTrainedModel

VOCABULARY = 64
# Smaller ids are the tokens that begin, end and pad a sentence.
_FIRST_WORD = 3
_SPECIAL = {"vocab_size": VOCABULARY, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
_SIZES = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
# Two queries share each key and each value.
_GROUPED = {"num_key_value_heads": 2, "max_position_embeddings": 32}


@contextlib.contextmanager
def _silent_logs() -> Iterator[None]:
    """Silence the import of torchao by `transformers`, which reports each GPU library that it cannot load."""
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(disabled)


def tokens(batch: int = 2, length: int = 8) -> Tensor:
    """Random tokens of the models' vocabulary, none of them special: ``(batch, length)``, int64."""
    return torch.randint(_FIRST_WORD, VOCABULARY, (batch, length))


def images(batch: int = 2) -> Tensor:
    """Random images: ``(batch, 3, 32, 32)``, float32."""
    return torch.randn(batch, 3, 32, 32)


@dataclasses.dataclass(frozen=True)
class _Architecture:
    model: str
    config: str
    sizes: Mapping[str, Any]
    inputs: Callable[[], dict[str, Tensor]] = lambda: {"input_ids": tokens()}
    depth: Callable[[int], dict[str, Any]] = lambda layers: {"num_hidden_layers": layers}


def _pixels() -> dict[str, Tensor]:
    return {"pixel_values": images()}


_ARCHITECTURES = {
    "gpt2": _Architecture(
        "GPT2LMHeadModel",
        "GPT2Config",
        {**_SPECIAL, "n_positions": 32, "n_embd": 32, "n_head": 4},
        depth=lambda layers: {"n_layer": layers},
    ),
    "bert": _Architecture(
        "BertForSequenceClassification", "BertConfig", {**_SPECIAL, **_SIZES, "max_position_embeddings": 32}
    ),
    "llama": _Architecture("LlamaForCausalLM", "LlamaConfig", {**_SPECIAL, **_SIZES, **_GROUPED}),
    "qwen2": _Architecture("Qwen2ForCausalLM", "Qwen2Config", {**_SPECIAL, **_SIZES, **_GROUPED}),
    "vit": _Architecture(
        "ViTForImageClassification", "ViTConfig", {**_SIZES, "image_size": 32, "patch_size": 8}, _pixels
    ),
    "resnet": _Architecture(
        "ResNetForImageClassification",
        "ResNetConfig",
        {"embedding_size": 16, "hidden_sizes": [16, 32], "layer_type": "basic"},
        _pixels,
        lambda layers: {"depths": [layers, layers]},
    ),
}
NAMES = tuple(_ARCHITECTURES)


def small(name: str, seed: int = 0, *, layers: int = 2, **config: Any) -> tuple[PreTrainedModel, dict[str, Tensor]]:
    """A model from `transformers`, as its authors wrote it but a few layers deep, and inputs to pass by keyword.

    The weights and the inputs are generated from the seed, without changing the caller's random state. The model is in
    eval mode. Its output has `logits`: ``(2, 8, 64)`` for `gpt2`, `llama` and `qwen2`, ``(2, 2)`` for the others.

    Args:
        name: one of ``NAMES``.
        seed: the seed for the weights and the inputs.
        layers: the number of layers (for `resnet`, in each of its two stages).
        config: changes to the configuration, for example ``attn_implementation="eager"``.

    Raises:
        ValueError: the name is not in ``NAMES``.
        ImportError: `transformers` is not installed.
    """
    if name not in _ARCHITECTURES:
        raise ValueError(f"There is no model {name!r} here: choose one of {', '.join(NAMES)}.")
    # Without a network, the library would wait for a connection.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with needing("models", "A model of Part II"), warnings.catch_warnings():
        # In a notebook, tqdm asks for ipywidgets for a progress bar that nothing here shows.
        warnings.filterwarnings("ignore", message="IProgress not found")
        import transformers
    transformers.logging.set_verbosity_error()
    architecture = _ARCHITECTURES[name]
    with _silent_logs():
        kind, settings = getattr(transformers, architecture.model), getattr(transformers, architecture.config)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind(settings(**{**architecture.sizes, **architecture.depth(layers), **config}))
        return model.eval(), architecture.inputs()
