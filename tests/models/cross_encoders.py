"""Makes cross-encoders as their publishers would, small ones: random, or with a score that can be foretold."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

WINDOW = 64


def random_cross_encoder(folder: Path, tokenizer: Path, n_labels: int = 1) -> Path:
    """Write a cross-encoder of random weights, with the tokenizer of another folder; return its folder."""
    torch.manual_seed(5)
    model = BertForSequenceClassification(_config(32, n_layers=2, num_labels=n_labels, initializer_range=0.3))
    return _save(model, folder, tokenizer)


def word_counter(folder: Path, tokenizer: Path, word: str) -> Path:
    """Write a cross-encoder whose score grows with the share of one word among the tokens of a pair."""
    model = BertForSequenceClassification(_config(8, n_layers=1, layer_norm_eps=1.0))
    token = AutoTokenizer.from_pretrained(tokenizer).convert_tokens_to_ids(word)
    layer = model.bert.encoder.layer[0]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for module in model.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.fill_(1)
        # Every token is nothing but the word; all attend to all alike; what they see is passed on as it is.
        model.bert.embeddings.word_embeddings.weight[token, :2] = torch.tensor([4.0, -4.0])
        for dense in (layer.attention.self.value, layer.attention.output.dense, model.bert.pooler.dense):
            dense.weight.copy_(torch.eye(8))
        model.classifier.weight[0, 0] = 1
    return _save(model, folder, tokenizer)


def _config(width: int, n_layers: int, **more: float) -> BertConfig:
    return BertConfig(
        vocab_size=30522, hidden_size=width, num_hidden_layers=n_layers, num_attention_heads=1,
        intermediate_size=2 * width, max_position_embeddings=WINDOW, **({"num_labels": 1} | more),
    )  # fmt: skip


def _save(model: BertForSequenceClassification, folder: Path, tokenizer: Path) -> Path:
    model.eval().save_pretrained(folder)
    AutoTokenizer.from_pretrained(tokenizer, model_max_length=WINDOW).save_pretrained(folder)
    return folder
