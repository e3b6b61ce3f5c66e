"""What the bench prints, by example."""

from __future__ import annotations

import json
from dataclasses import replace

from appliance.ops.figures import Measured
from appliance.ops.machine import Machine
from appliance.ops.report import Report, ThreadRow

REPORT = Report(
    machine=Machine("A CPU", 2, ("avx2", "fma"), 23.5, "Linux 6.1, Python 3.11", "0.3.36", 0.05),
    model="qwen2.5-coder-0.5b-instruct",
    date="2031-05-01T10:00:00Z",
    settings={"step_target_ms": 150.0, "n_ctx": 8192},
    results={
        "decode_ratio": Measured([0.99, 0.97, 0.98], {"socket_tps": [39.0, 40.0], "bare_tps": [40.0, 41.0]}),
        "stall": Measured([312.4]),
        "restart_s": Measured([0.876], {"daemon_start_to_ready_s": [2.25]}),
        "warm_start": Measured(reason="this build saves no prefixes"),
    },
    threads=[ThreadRow(1, 100.04, 25.0), ThreadRow(2, 190.0, 41.26)],
    n_runs=3,
    took_s=65.4,
)


def test_json_has_value_target_and_runs_of_each_figure() -> None:
    data = json.loads(json.dumps(REPORT.to_json()))
    assert list(data) == [
        "model", "date", "n_runs", "took_s", "machine", "settings", "figures", "threads",
    ]  # fmt: skip
    assert list(data["figures"]) == ["decode_ratio", "stall", "warm_start", "restart_s"]
    assert data["figures"]["decode_ratio"] == {
        "value": 0.98,
        "unit": "ratio",
        "meaning": "tokens/s of one stream through the socket ÷ a bare llama_decode loop",
        "target": {"at_least": 0.95},
        "met": True,
        "runs": [0.99, 0.97, 0.98],
        "parts": {"socket_tps": [39.0, 40.0], "bare_tps": [40.0, 41.0]},
        "not_available": None,
    }
    assert (data["figures"]["stall"]["target"], data["figures"]["stall"]["met"]) == (
        {"at_most": 300.0},
        False,
    )
    assert data["figures"]["restart_s"]["target"] is None
    assert data["figures"]["warm_start"]["value"] is None
    assert data["figures"]["warm_start"]["not_available"] == "this build saves no prefixes"
    assert data["threads"][0] == {"n_threads": 1, "prefill_tps": 100.0, "decode_tps": 25.0}
    assert data["machine"]["load_before"] == 0.05


def test_table_tells_met_missed_and_not_available() -> None:
    lines = REPORT.table().splitlines()
    assert lines[0] == "qwen2.5-coder-0.5b-instruct, 2031-05-01T10:00:00Z, median of 3, 65 s"
    assert lines[1] == "A CPU, 2 cores (avx2 fma), 23.5 GiB, load before 0.05"
    by_name = {line.split()[0]: line.split() for line in lines[3:] if line and line[0] != " "}
    assert by_name["decode_ratio"][1:5] == ["0.980", "≥", "0.95", "met"]
    assert by_name["stall"][1:6] == ["312", "ms", "≤", "300.00", "missed"]
    assert by_name["warm_start"][1:3] == ["not", "available"]
    assert by_name["restart_s"][1:3] == ["0.88", "s"]


def test_markdown_is_a_section_with_both_tables() -> None:
    text = REPORT.markdown()
    assert text.startswith(
        "### qwen2.5-coder-0.5b-instruct\n\n2031-05-01T10:00:00Z; A CPU, 2 cores (avx2, fma)"
    )
    assert "| `decode_ratio` | 0.980 | ≥ 0.95 | socket_tps 39.5, bare_tps 40.5 |" in text
    assert "| `stall` | 312 ms (missed) | ≤ 300.00 |  |" in text
    assert "| `warm_start` | not available | ≤ 0.50 | this build saves no prefixes |" in text
    assert "| `restart_s` | 0.88 s | reported | daemon_start_to_ready_s 2.25 |" in text
    assert text.endswith("| 2 | 190.0 | 41.3 |")


def test_load_above_one_is_busy() -> None:
    assert not replace(REPORT.machine, load_before=1.0).is_busy
    assert replace(REPORT.machine, load_before=1.01).is_busy
