"""The machine's description, from a recorded tree."""

from __future__ import annotations

from pathlib import Path

from appliance.ops.machine import describe


def test_machine_is_described_with_the_load_before_the_start(tmp_path: Path) -> None:
    files = {
        "proc/cpuinfo": "processor\t: 0\nmodel name\t: A CPU\nflags\t\t: fpu avx2 fma\n\nprocessor\t: 1\n",
        "proc/self/status": "Name:\tpython\nCpus_allowed_list:\t0-3\n",
        "proc/meminfo": "MemTotal:       8388608 kB\nMemAvailable:   1 kB\n",
        "proc/loadavg": "1.75 0.50 0.25 1/200 4242\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    machine = describe(tmp_path)
    assert (machine.cpu, machine.n_cores, machine.memory_gib) == ("A CPU", 4, 8.0)
    assert machine.features == ("avx2", "fma")
    assert machine.load_before == 1.75
    assert machine.is_busy
    assert machine.llama_cpp_python
