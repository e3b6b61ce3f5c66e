"""Every real and hostile file at once, dropped into a live daemon's folder. Skips where the corpus is not there."""

from __future__ import annotations

import asyncio
import shutil
import time
from pathlib import Path

import pytest

from appliance.ops.footprint import footprint
from tests.e2e.daemon_process import DaemonProcess

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
MAX_GROWTH = 50 * 10**6
WITHIN_S = 900.0
REST_S = 30.0
UNFINISHED = {"waiting", "parsing", "embedding"}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus of real files is not at {CORPUS}")


def test_every_file_ends_in_a_state_with_a_reason_and_the_daemon_stays_small(
    own_daemon: DaemonProcess,
) -> None:
    # A first file warms what any file needs: full batches of the embedder, the index, the record's pages.
    sentence = "Boiler {0} is serviced by {1} people in September, as the book on its wall says. "
    text = "\n\n".join(sentence.format(n, 7 * n) * 8 for n in range(100))
    (own_daemon.documents / "first.txt").write_text(text)
    own_daemon.start()
    own_daemon.until_states(first="ready")
    before = footprint(own_daemon.pid).rss
    files = [file for file in CORPUS.rglob("*") if file.is_file() and file.name != "manifest.tsv"]
    for file in files:
        target = own_daemon.documents / file.relative_to(CORPUS)
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(file, target)
    own_daemon.until(lambda status: sum(status.ingest.counts.values()) == len(files) + 1, WITHIN_S)
    own_daemon.until(lambda status: status.ingest.n_waiting == 0, WITHIN_S)
    documents = asyncio.run(own_daemon.listing()).documents
    grown = footprint(own_daemon.pid).rss - before
    deadline = time.monotonic() + REST_S  # memory is given back when nothing is in flight any more
    while grown >= MAX_GROWTH and time.monotonic() < deadline:
        time.sleep(0.5)
        grown = footprint(own_daemon.pid).rss - before
    print(f"{len(files)} files: {own_daemon.until(lambda _: True).ingest.counts}; grown {grown / 1e6:.0f} MB")
    assert not [d.path for d in documents if d.state in UNFINISHED]
    assert not [d.path for d in documents if (d.state == "ready") == bool(d.reason)]
    assert "Traceback" not in own_daemon.log.read_text()
    assert grown < MAX_GROWTH
