"""The models of Part II are made offline from a seed, and a missing requirement is reported."""

from __future__ import annotations

import socket
import sys

import pytest
import torch

from fxbook import models


@pytest.mark.parametrize("name", models.NAMES)
def test_a_seed_gives_the_same_model_and_inputs_without_a_network(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("a model used the network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    before = torch.get_rng_state()
    model, inputs = models.small(name)
    again, same = models.small(name)
    assert torch.equal(torch.get_rng_state(), before)
    assert not model.training
    with torch.no_grad():
        assert torch.equal(model(**inputs).logits, again(**same).logits)
        other, others = models.small(name, seed=1)
        assert not torch.equal(model(**inputs).logits, other(**others).logits)


def test_a_configuration_can_be_changed() -> None:
    model, _ = models.small("gpt2", attn_implementation="eager", n_layer=3)
    assert len(model.transformer.h) == 3
    assert model.config._attn_implementation == "eager"


@pytest.mark.parametrize("name", models.NAMES)
def test_a_model_has_the_chosen_number_of_layers(name: str) -> None:
    parts = [len(list(models.small(name, layers=layers)[0].modules())) for layers in (1, 2, 3)]
    assert parts[0] < parts[1] == len(list(models.small(name)[0].modules()))
    assert parts[2] - parts[1] == parts[1] - parts[0]


def test_tokens_are_words() -> None:
    drawn = models.tokens(20, 50)
    assert drawn.shape == (20, 50)
    assert set(drawn.unique().tolist()) == set(range(3, models.VOCABULARY))


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no model 'llama2' here: choose one of gpt2, bert"):
        models.small("llama2")


def test_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match=r'needs transformers, .* run `pip install "fxbook\[models\]"`'):
        models.small("vit")
