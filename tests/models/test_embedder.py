"""The compiled embedder gives sentence-transformers' vectors, from many threads, without torch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from models.embedder import Embedder, OnnxEmbedder, open_embedder
from models.errors import CompileError, ModelFileError
from models.reference_texts import REFERENCE_TEXTS

TEXTS = [
    "The pump has to be serviced every 500 hours.",
    "Staff may carry over five days of leave into the next year.",
    "Die Feuerlöscher werden alle zwei Jahre geprüft.",
    "Invoice 2025-0417: 1,204.50 EUR",
]


@pytest.fixture(scope="module")
def embedder(models_folder: Path) -> Embedder:
    return open_embedder(models_folder / "all-minilm-l6-v2" / "onnx")


@pytest.fixture(scope="module")
def reference(models_folder: Path) -> Embedder:
    return open_embedder(models_folder / "all-minilm-l6-v2" / "onnx", "sentence-transformers")


def test_vectors_are_those_of_sentence_transformers(embedder: Embedder, reference: Embedder) -> None:
    cosines = (embedder.embed(REFERENCE_TEXTS) * reference.embed(REFERENCE_TEXTS)).sum(axis=1)
    assert cosines.mean() > 0.98
    assert cosines.min() > 0.93


def test_both_backends_measure_texts_alike(embedder: Embedder, reference: Embedder) -> None:
    assert (embedder.n_dims, embedder.max_tokens) == (reference.n_dims, reference.max_tokens) == (384, 254)
    for text in REFERENCE_TEXTS:
        assert embedder.token_spans(text) == reference.token_spans(text)


def test_vectors_have_length_one_and_keep_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = [text for n in range(1, 14) for text in (f"word {n}", "many words " * n)]
    vectors = embedder.embed(texts)
    assert vectors.shape == (26, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        # Activations are quantised over the batch, so a text alone differs a little from the same in company.
        assert float(embedder.embed([text])[0] @ vector) > 0.97


def test_no_texts_make_no_vectors(embedder: Embedder, reference: Embedder) -> None:
    assert embedder.embed([]).shape == reference.embed([]).shape == (0, 384)


def test_meaning_decides_which_text_is_nearest(embedder: Embedder) -> None:
    question = embedder.embed(["How often does the pump need maintenance?"])[0]
    assert int(np.argmax(embedder.embed(TEXTS) @ question)) == 0


def test_the_fingerprint_names_model_backend_precision_and_weights(
    embedder: Embedder, reference: Embedder
) -> None:
    assert embedder.fingerprint == "all-minilm-l6-v2-onnx-int8-53aa51172d14"
    assert reference.fingerprint == "all-minilm-l6-v2-sentence-transformers-fp32-53aa51172d14"


def test_token_spans_are_character_positions_of_the_whole_text(embedder: Embedder) -> None:
    text = "Ölfilter wechseln: 日本 ok"
    spans = embedder.token_spans(text)
    assert embedder.count_tokens(text) == len(spans)
    assert [text[start:end] for start, end in spans][-3:] == ["日", "本", "ok"]
    assert spans == sorted(spans)
    long = "one two three " * 500
    assert embedder.count_tokens(long) == 1500  # not cut at the window
    assert embedder.token_spans(long)[-1] == (len(long) - 6, len(long) - 1)


def test_what_is_beyond_the_window_is_cut_off(embedder: Embedder) -> None:
    window = "pump " * embedder.max_tokens
    assert embedder.count_tokens(window) == embedder.max_tokens
    np.testing.assert_array_equal(embedder.embed([window]), embedder.embed([window + "banana"]))


@pytest.mark.parametrize("text", ["a" * 2_000_000, "日" * 200_000, "-" * 200_000, "\x00" * 200_000, ""])
def test_odd_and_endless_strings_do_no_harm(embedder: Embedder, text: str) -> None:
    started = time.monotonic()
    assert np.isfinite(embedder.embed([text])).all()
    assert embedder.count_tokens(text) == len(embedder.token_spans(text))
    assert time.monotonic() - started < 20


def test_threads_share_one_embedder(embedder: Embedder) -> None:
    expected = [embedder.embed([text])[0] for text in TEXTS]

    def work(n: int) -> bool:
        text = n % len(TEXTS)
        spans = embedder.token_spans(TEXTS[text])
        return len(spans) > 3 and bool(np.array_equal(embedder.embed([TEXTS[text]])[0], expected[text]))

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(64)))


def test_running_the_embedder_takes_no_torch_no_telemetry_and_no_second_thread(
    models_folder: Path, tmp_path: Path
) -> None:
    script = (
        "import sys, time; from pathlib import Path; from models.embedder import open_embedder\n"
        f"embedder = open_embedder(Path({str(models_folder.absolute() / 'all-minilm-l6-v2' / 'onnx')!r}))\n"
        "embedder.embed(['a text']); embedder.token_spans('a text')\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'onnx', 'httpx'} & set(sys.modules)\n"
        "before = time.process_time() - time.thread_time()\n"
        "embedder.embed(['some text to embed ' * 20] * 64)\n"
        "elsewhere = time.process_time() - time.thread_time() - before\n"
        "sys.exit(f'imported {heavy}, {elsewhere} s on other threads' if heavy or elsewhere > 0.05 else 0)"
    )
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd()}
    ended = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert list(tmp_path.rglob("*")) == []  # no ~/.cache/Microsoft


def test_a_folder_that_is_not_compiled_says_how_to_compile_it(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"python -m models\.compile_embedder"):
        open_embedder(tmp_path / "onnx")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "embedder.json"])
def test_a_damaged_file_is_named(models_folder: Path, tmp_path: Path, file: str) -> None:
    folder = tmp_path / "onnx"
    shutil.copytree(models_folder / "all-minilm-l6-v2" / "onnx", folder)
    (folder / file).write_bytes(b"damaged")
    with pytest.raises(ModelFileError, match=file):
        OnnxEmbedder(folder)
