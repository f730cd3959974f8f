"""Architectures of `transformers`, as small as their configurations allow, with seeded random weights."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from fxbook.models import images, tokens

os.environ.setdefault("HF_HUB_OFFLINE", "1")

_WORDS = {"vocab_size": 64, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
_SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
_TEXT = {**_WORDS, **_SIZES, "max_position_embeddings": 32}
_GROUPED = {**_TEXT, "num_key_value_heads": 2}

# By family: the class of the model, the class of its configuration, and the settings.
_FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "albert": ("AlbertForSequenceClassification", "AlbertConfig", {**_TEXT, "embedding_size": 32}),
    "bert": ("BertForSequenceClassification", "BertConfig", _TEXT),
    "bloom": ("BloomForCausalLM", "BloomConfig", {**_WORDS, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "distilbert": (
        "DistilBertForSequenceClassification",
        "DistilBertConfig",
        {"vocab_size": 64, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 32},
    ),
    "electra": ("ElectraForSequenceClassification", "ElectraConfig", {**_TEXT, "embedding_size": 32}),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", {**_GROUPED, "head_dim": 8, "query_pre_attn_scalar": 8}),
    "gpt2": (
        "GPT2LMHeadModel",
        "GPT2Config",
        {**_WORDS, "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 4},
    ),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", _TEXT),
    "llama": ("LlamaForCausalLM", "LlamaConfig", _GROUPED),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**_GROUPED, "sliding_window": None}),
    "opt": (
        "OPTForCausalLM",
        "OPTConfig",
        {
            **_WORDS,
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "ffn_dim": 64,
            "max_position_embeddings": 32,
            "word_embed_proj_dim": 32,
        },
    ),
    "phi": ("PhiForCausalLM", "PhiConfig", _TEXT),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", _GROUPED),
    "roberta": ("RobertaForSequenceClassification", "RobertaConfig", {**_TEXT, "max_position_embeddings": 40}),
    "convnext": (
        "ConvNextForImageClassification",
        "ConvNextConfig",
        {"num_stages": 2, "hidden_sizes": [16, 32], "depths": [1, 1], "patch_size": 4},
    ),
    "deit": ("DeiTForImageClassification", "DeiTConfig", {**_SIZES, "image_size": 32, "patch_size": 8}),
    "mobilenet_v2": (
        "MobileNetV2ForImageClassification",
        "MobileNetV2Config",
        {"image_size": 32, "depth_multiplier": 0.25, "depth_divisible_by": 8, "min_depth": 8},
    ),
    "regnet": (
        "RegNetForImageClassification",
        "RegNetConfig",
        {"embedding_size": 16, "hidden_sizes": [16, 32], "depths": [1, 1], "groups_width": 8},
    ),
    "resnet": (
        "ResNetForImageClassification",
        "ResNetConfig",
        {"embedding_size": 16, "hidden_sizes": [16, 32], "depths": [2, 2], "layer_type": "basic"},
    ),
    "vit": ("ViTForImageClassification", "ViTConfig", {**_SIZES, "image_size": 32, "patch_size": 8}),
}
_OF_IMAGES = ("convnext", "deit", "mobilenet_v2", "regnet", "resnet", "vit")
NAMES = tuple(_FAMILIES)


class Logits(nn.Module):
    """A model wrapped as in chapter 10, so that it has one input and one result."""

    def __init__(self, model: nn.Module, options: dict[str, Any]) -> None:
        super().__init__()
        self.model = model
        self.options = options

    def forward(self, given: Tensor) -> Tensor:
        return self.model(given, **self.options).logits


def make(name: str, **config: Any) -> tuple[Logits, Callable[[int], Tensor]]:
    """A model in eval mode with trained batch norms, and a function that makes a batch of a given size.

    Args:
        name: one of ``NAMES``.
        config: changes to the configuration, such as ``attn_implementation="eager"``.
    """
    import transformers

    transformers.logging.set_verbosity_error()
    model, settings, sizes = _FAMILIES[name]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made = getattr(transformers, model)(getattr(transformers, settings)(**{**sizes, **config}))
        for module in made.modules():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                # As after training: an untrained batch norm is almost the identity.
                for tensor in (module.running_mean, module.bias):
                    nn.init.normal_(tensor)
                for tensor in (module.running_var, module.weight):
                    nn.init.uniform_(tensor, 0.5, 2.0)
    of_images = name in _OF_IMAGES
    # A language model also returns a cache of a class that torch.export does not know.
    options = {"use_cache": False} if model.endswith("CausalLM") else {}

    def batch(rows: int) -> Tensor:
        with torch.random.fork_rng():
            torch.manual_seed(rows)
            return images(rows) if of_images else tokens(rows)

    return Logits(made.eval(), options).eval(), batch
