"""`bench ingest` as an administrator runs it, at small sizes: real parts, nothing left behind. No bound on time."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from appliance.ops.ingest_figures import NAMES
from tests.ops.bench_process import running_bench

WITHIN_S = 240.0  # it takes half a minute on two cores of its own


def figures(models: Path, *arguments: str) -> dict[str, Any]:
    """Return the figures of a small bench, all of them measured."""
    with running_bench(models, "ingest", "--small", "--json", *arguments) as process:
        out, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 0, said
    found: dict[str, Any] = json.loads(out)["figures"]
    assert [figure["not_available"] for figure in found.values()] == [None] * len(found), said
    return found


def test_the_stages_the_pipeline_and_a_sweep_are_measured_in_processes_of_their_own(
    models_folder: Path,
) -> None:
    names = ["stages", "pipeline_ratio", "unchanged_s"]
    found = figures(models_folder, *only(*names))
    assert list(found) == names
    parts = found["stages"]["parts"]
    assert parts["n_files"] == [7]
    assert parts["n_pages"] == [16]  # ten of the PDF; a file without pages counts as one
    assert parts["n_chunks"][0] > 40
    for stage in ("parse", "cut", "embed", "commit_index"):
        assert parts[f"{stage}_chunks_per_s"][0] > parts[f"{stage}_pages_per_s"][0] > 0
        assert parts[f"{stage}_chunks_per_s"][0] >= found["stages"]["value"]
    assert 0.05 < found["pipeline_ratio"]["value"] < 5  # others may work meanwhile
    assert found["pipeline_ratio"]["target"] == {"at_least": 0.85}
    assert found["unchanged_s"]["value"] > 0
    assert found["unchanged_s"]["parts"]["n_files"] == [300]


def test_a_large_index_is_filled_and_searched(models_folder: Path) -> None:
    [index] = figures(models_folder, *only("index_100k")).values()
    parts = {name: values[0] for name, values in index["parts"].items()}
    assert (parts["n_chunks"], parts["n_indexed"]) == (1000, 1000)
    assert parts["commit_s"] > 0
    assert parts["index_s"] > 0
    assert parts["rss_mb"] > 20
    assert parts["disk_mb"] > 1000 * 384 * 4 / 1e6  # at least the vectors themselves
    for way in ("dense", "lexical", "search"):
        assert 0 < parts[f"{way}_ms_p50"] <= parts[f"{way}_ms_p95"]
    assert index["value"] == parts["search_ms_p95"]


def test_a_chat_is_measured_during_ingest_and_without(models_folder: Path) -> None:
    found = figures(models_folder, *only("chat_decode", "chat_ttft"))
    decode, ttft = found["chat_decode"], found["chat_ttft"]
    assert decode["parts"]["ingest_tps"][0] > 0
    assert decode["value"] == pytest.approx(
        decode["parts"]["ingest_tps"][0] / decode["parts"]["idle_tps"][0], rel=1e-2
    )
    assert ttft["parts"]["idle_ttft_s"][0] > 0
    assert (decode["target"], ttft["target"]) == ({"at_least": 0.8}, {"at_most": 1.3})


def test_the_daemons_peak_memory_is_measured_without_a_chat_model(models_folder: Path) -> None:
    found = figures(models_folder, *only("memory_ratio", "peak_mb_1000", "peak_mb_10000"))
    few, many = found["peak_mb_1000"], found["peak_mb_10000"]
    # The kernel's own count is off by a few pages, even of a peak.
    assert 50 < few["value"] < 1.05 * many["value"] < 2000
    assert (few["parts"]["n_files"], many["parts"]["n_files"]) == ([20], [60])
    assert found["memory_ratio"]["value"] == pytest.approx(many["value"] / few["value"], rel=1e-2)


def test_documents_of_ones_own_are_copied_and_measured(models_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "note.md").write_text("# Boiler\n\nIt is serviced every year in September.\n")
    (tmp_path / "link.md").symlink_to(tmp_path / "below" / "note.md")  # left out, as ingest leaves it out
    found = figures(models_folder, str(tmp_path), *only("stages"))
    assert found["stages"]["parts"]["n_files"] == [1]
    assert found["stages"]["parts"]["n_chunks"] == [1]


@pytest.mark.parametrize(
    ("figure", "said", "number", "code"),
    [
        ("pipeline_ratio", "pipeline_ratio, run 1", signal.SIGINT, 130),
        ("index_100k", "index: committing", signal.SIGTERM, 143),
        ("memory_ratio", "peak memory", signal.SIGINT, 130),
    ],
)
def test_ctrl_c_and_kill_leave_nothing_behind(
    models_folder: Path, figure: str, said: str, number: int, code: int
) -> None:
    with running_bench(models_folder, "ingest", "--small", *only(figure)) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(said):
                break
        process.send_signal(number)
        assert process.wait(timeout=WITHIN_S) == code


def test_what_is_asked_wrongly_is_refused(models_folder: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (["--only", "speed"], f"no figure 'speed'; there are {', '.join(NAMES)}"),
        ([str(tmp_path), *only("stages")], "there is no document in this folder"),
    ):
        with running_bench(models_folder, "ingest", "--small", *arguments) as process:
            _, said = process.communicate(timeout=WITHIN_S)
        assert process.returncode == 2
        assert message in said


def only(*names: str) -> list[str]:
    """Return the options that ask for some figures."""
    return [word for name in names for word in ("--only", name)]
