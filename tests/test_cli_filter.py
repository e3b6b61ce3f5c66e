"""What the options of `ask` and `search` become: dates to moments, paths to ids."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest
import typer

from appliance.api.schema_documents import Document, DocumentsReply, IngestStatus
from appliance.cli_filter import Wanted, days, ids_of


@pytest.mark.parametrize(
    ("date", "begin", "end"),
    [
        ("2024", datetime(2024, 1, 1), datetime(2025, 1, 1)),
        ("2024-02", datetime(2024, 2, 1), datetime(2024, 3, 1)),
        ("2024-12", datetime(2024, 12, 1), datetime(2025, 1, 1)),
        ("2024-2-28", datetime(2024, 2, 28), datetime(2024, 2, 29)),
        ("2024-12-31", datetime(2024, 12, 31), datetime(2025, 1, 1)),
    ],
)
def test_a_date_is_a_year_a_month_or_a_day(date: str, begin: datetime, end: datetime) -> None:
    assert days(date) == (begin, end)


@pytest.mark.parametrize(
    "date", ["", "24", "2024-13", "2023-02-29", "2024-00-05", "yesterday", "0000", "9999-12-31"]
)
def test_what_is_no_date_is_named(date: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no date"):
        days(date)


def listed(folder: Path, *paths: str) -> DocumentsReply:
    found = [
        Document(
            id=id, path=path, title="", format="pdf", state="ready", reason="", size=1, modified=0.0, n_pages=1,
            n_chunks=1, sha256="", collection=os.path.dirname(path),
        )
        for id, path in enumerate(paths, 1)
    ]  # fmt: skip
    status = IngestStatus(
        folder=str(folder), current="", step="", n_waiting=0, counts={}, watching="inotify", problem=""
    )
    return DocumentsReply(documents=found, ingest=status)


def test_a_document_is_named_as_it_is_listed_or_by_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = listed(tmp_path, "house/boiler.pdf", "boiler.pdf")
    assert ids_of("house/boiler.pdf", reply) == [1]
    assert ids_of(str(tmp_path / "house" / "boiler.pdf"), reply) == [1]
    (tmp_path / "house").mkdir()
    monkeypatch.chdir(tmp_path / "house")
    assert ids_of("../boiler.pdf", reply) == [2]


def test_a_document_that_is_not_there_is_named_with_what_is_near(tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match=r"no document 'boilr.pdf'; did you mean boiler.pdf\?"):
        ids_of("boilr.pdf", listed(tmp_path, "boiler.pdf"))


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(None, None, None, None, None), ""),
        (
            Wanted(["house", "office"], [], ["pdf"], "2024", None),
            "collection house or office, type pdf, since 2024",
        ),
    ],
)
def test_options_are_said_in_one_line(wanted: Wanted, said: str) -> None:
    assert str(wanted) == said
