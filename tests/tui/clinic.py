"""A believable clinic for the scripted daemon: its documents, what it answers, how long that takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from appliance.api.schema import (
    Citation,
    CitationEvent,
    ContextBudget,
    Conversation,
    DoneEvent,
    Passage,
    PassagesEvent,
    PrefillEvent,
    QueuedEvent,
    Timings,
    TokenEvent,
    Turn,
)
from appliance.api.schema_documents import Document, DocumentsReply, DocumentText, IngestStatus, TextBlock
from tests.tui.fake_daemon import STATUS, FakeDaemon, Step

FOLDER = "/var/lib/appliance/documents"


def document(id: int, path: str, state: str = "ready", reason: str = "", pages: int | None = None,
             chunks: int = 0) -> Document:  # fmt: skip
    """Make a document; the parts that no test looks at are filled in."""
    title = path.rsplit("/", 1)[-1].rsplit(".", 1)[0].replace("-", " ").capitalize()
    return Document(id=id, path=path, title=title, format=path.rsplit(".", 1)[-1], state=state, reason=reason,
                    size=48_200 + id * 9_731, modified=1_790_000_000.0 + id * 86_400, n_pages=pages, n_chunks=chunks,
                    sha256=f"{id:02x}" * 32)  # fmt: skip


DOCUMENTS = [
    document(1, "vaccine-storage.pdf", pages=6, chunks=31),
    document(2, "staff-handbook.docx", pages=24, chunks=142),
    document(3, "fridge-thermo-2000-manual.pdf", pages=18, chunks=97),
    document(4, "hygiene-plan.pdf", pages=12, chunks=58),
    document(5, "price-list-2026.csv", chunks=12),
    document(6, "notes/team-meeting-2026-03.md", chunks=6),
    document(7, "notes/incident-log.txt", "embedding", "18 of 40 chunks", chunks=0),
    document(
        8,
        "scans/delivery-note-0412.pdf",
        "needs_ocr",
        "3 pages of images, no text: scan it with text recognition",
        3,
    ),
    document(
        9, "contracts/insurance.pdf", "needs_password", "it opens only with a password; save it without one"
    ),
    document(10, "old/backup-2019.pdf", "damaged", "the file ends in the middle of page 4", 4),
    document(11, "intranet-opening-hours.html", "waiting"),
    document(12, "Impfplan-für-Mitarbeiter.docx", pages=2, chunks=9),
]


def passage(number: int, doc: Document, locator: str, text: str, best: str) -> Passage:
    """Make a passage whose best sentence is `best`."""
    at = text.find(best)
    return Passage(number=number, chunk_id=doc.id * 100 + number, document_id=doc.id, path=doc.path, title=doc.title,
                   locator=locator, place={}, text=text, best=(at, at + len(best)), score=0.9 / number)  # fmt: skip


STORAGE = passage(
    1, DOCUMENTS[0], "page 2, Storage › Temperature",
    "Vaccines are kept between 2 °C and 8 °C at all times. The display is read and written down twice a day, at "
    "opening and at closing. The door is not opened longer than needed.",
    "Vaccines are kept between 2 °C and 8 °C at all times.",
)  # fmt: skip
BREACH = passage(
    2, DOCUMENTS[0], "page 3, When the temperature was wrong",
    "If the temperature was above 8 °C or below 2 °C, do not use and do not throw away any vaccine. Mark the box "
    "“blocked”, note the time, and call the pharmacy on extension 214.",
    "do not use and do not throw away any vaccine",
)  # fmt: skip
ALARM = passage(
    3, DOCUMENTS[2], "page 9, Alarms",
    "The alarm sounds after 10 minutes outside the set range. Press MUTE to silence it for 30 minutes; the display "
    "keeps blinking until the range is reached again.",
    "The alarm sounds after 10 minutes outside the set range.",
)  # fmt: skip
MEETING = passage(
    4, DOCUMENTS[5], "line 14–19, Fridge",
    "The fridge in room 3 was warm on Monday (9.1 °C). Jana blocked the box and called the pharmacy. From now on the "
    "early shift reads the display first.",
    "The fridge in room 3 was warm on Monday (9.1 °C).",
)  # fmt: skip
PASSAGES = [STORAGE, BREACH, ALARM, MEETING]

QUESTION = "The vaccine fridge shows 9 °C this morning. What do I do?"
ANSWER = (
    "Vaccines must stay **between 2 °C and 8 °C**, so 9 °C is too warm.\n\n"
    "1. Do not use any vaccine from it, and do not throw any away.\n"
    "2. Mark the box “blocked” and note the time.\n"
    "3. Call the pharmacy on extension 214.\n\n"
    "The alarm sounds after 10 minutes outside the range. It can be switched off completely."
)


def cited(answer: str, *sentences: tuple[str, list[int], str]) -> list[Citation]:
    """Make citations of (sentence, numbers, quote)."""
    return [
        Citation(start=answer.index(s), end=answer.index(s) + len(s), numbers=numbers, quote=quote)
        for s, numbers, quote in sentences
    ]


CITATIONS = cited(
    ANSWER,
    (
        "Vaccines must stay **between 2 °C and 8 °C**, so 9 °C is too warm.",
        [1],
        "Vaccines are kept between 2 °C and 8 °C",
    ),
    (
        "Do not use any vaccine from it, and do not throw any away.",
        [2],
        "do not use and do not throw away any vaccine",
    ),
    ("Mark the box “blocked” and note the time.", [2, 4], "Mark the box “blocked”, note the time"),
    ("Call the pharmacy on extension 214.", [2], "call the pharmacy on extension 214"),
    ("The alarm sounds after 10 minutes outside the range.", [3], "The alarm sounds after 10 minutes"),
    ("It can be switched off completely.", [], ""),
)
NOT_SAID = "The documents do not say."


def done(
    answer: str, citations: list[Citation], answered: bool = True, left_out: tuple[str, ...] = ()
) -> DoneEvent:
    """Make the end of an answer."""
    budget = ContextBudget(n_ctx=4096, n_system=212, n_history=0, n_passages=903, n_question=18, max_answer=512,
                           left_out=list(left_out))  # fmt: skip
    timings = Timings(retrieval_s=0.04, ttft_s=1.9, total_s=8.2, prefill_tps=610.0, decode_tps=14.2, n_prompt=1133,
                      n_reused=212, n_decoded=max(1, len(answer) // 4))  # fmt: skip
    return DoneEvent(finish_reason="stop", answer=answer, answered=answered, citations=citations, context=budget,
                     timings=timings, model="qwen2.5-coder-1.5b-instruct", conversation="c1")  # fmt: skip


def script(answer: str, citations: list[Citation], passages: list[Passage], answered: bool = True, pace_s: float = 0.0,
           left_out: tuple[str, ...] = ()) -> list[Step]:  # fmt: skip
    """Make the events of a whole answer, `pace_s` between tokens."""
    steps: list[Step] = [QueuedEvent(position=1), pace_s * 8, PassagesEvent(passages=passages)]
    for share in range(0, 11, 2):
        steps += [PrefillEvent(n_done=share * 113, n_prompt=1133), pace_s * 5]
    steps += _tokens(answer, citations, pace_s)
    return [*steps, done(answer, citations, answered, left_out)]


def _tokens(answer: str, citations: list[Citation], pace_s: float) -> Iterator[Step]:
    at, open_citations = 0, sorted(citations, key=lambda citation: citation.end)
    for piece in re.findall(r"\s*\S+|\s+", answer):
        at += len(piece)
        yield TokenEvent(text=piece)
        yield pace_s
        while open_citations and open_citations[0].end <= at:
            yield CitationEvent(citation=open_citations.pop(0))


def text_around(wanted: Passage, doc: Document) -> DocumentText:
    """Make the page around a passage."""
    before = ("This page is for everybody who takes vaccines out of the fridge or puts them in. The person in charge "
              "is named on the door; in the holidays it is the deputy.")  # fmt: skip
    after = ("Deliveries are unpacked within five minutes. The cold chain label is read before anything is signed: red "
             "means that the delivery is refused.")  # fmt: skip
    texts = [before, wanted.text, after]
    chunk_ids = [wanted.chunk_id - 1, wanted.chunk_id, wanted.chunk_id + 1]
    return DocumentText(document=doc, blocks=[
        TextBlock(chunk_id=i, locator=wanted.locator, text=text, wanted=i == wanted.chunk_id)
        for i, text in zip(chunk_ids, texts, strict=True)
    ])  # fmt: skip


def documents_reply(documents: list[Document], current: str = "") -> DocumentsReply:
    """Make the reply of /api/documents with its counts."""
    counts: dict[str, int] = {}
    for doc in documents:
        counts[doc.state] = counts.get(doc.state, 0) + 1
    ingest = IngestStatus(folder=FOLDER, current=current, n_waiting=counts.get("waiting", 0), counts=counts,
                          watching="inotify")  # fmt: skip
    return DocumentsReply(documents=documents, ingest=ingest)


def furnish(daemon: FakeDaemon, pace_s: float = 0.07) -> None:
    """Give the daemon the clinic: documents, two answers, a kept conversation."""
    daemon.documents = documents_reply(DOCUMENTS, current="notes/incident-log.txt")
    daemon.status = STATUS.model_copy(update={"ingest": daemon.documents.ingest})
    by_id = {doc.id: doc for doc in DOCUMENTS}
    daemon.texts = {p.chunk_id: text_around(p, by_id[p.document_id]) for p in PASSAGES}
    left_out = ("passage 5, staff-handbook.docx, page 11",)
    daemon.answers.extend([
        script(ANSWER, CITATIONS, PASSAGES, pace_s=pace_s, left_out=left_out),
        script(NOT_SAID, [], PASSAGES[2:], answered=False, pace_s=pace_s),
    ])  # fmt: skip
    turn = Turn(question=QUESTION, answer=ANSWER, answered=True, passages=PASSAGES, citations=CITATIONS,
                asked=1_790_000_000.0)  # fmt: skip
    nothing = Turn(question="Who is the mayor?", answer=NOT_SAID, answered=False, passages=PASSAGES[:1], citations=[],
                   asked=1_790_090_000.0)  # fmt: skip
    daemon.conversations = {
        "c1": Conversation(id="c1", title=QUESTION, turns=[turn, nothing]),
        "c2": Conversation(id="c2", title="Who is the mayor?", turns=[nothing]),
    }
