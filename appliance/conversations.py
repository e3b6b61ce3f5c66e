"""journal.db: conversations, turn by turn, each with the evidence it was given. A caller sees only their own."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from appliance.api.schema import Citation, Conversation, ConversationSummary, Passage, Turn
from appliance.errors import JournalError
from ingest.damage import damage_of, set_aside

_SCHEMA = """
CREATE TABLE IF NOT EXISTS conversations (
    id TEXT PRIMARY KEY, uid INTEGER NOT NULL, title TEXT NOT NULL, updated REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS conversations_by_user ON conversations (uid, updated);
CREATE TABLE IF NOT EXISTS turns (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL, asked REAL NOT NULL,
    question TEXT NOT NULL, sent TEXT NOT NULL, answer TEXT NOT NULL, raw_answer TEXT NOT NULL,
    answered INTEGER NOT NULL, passages TEXT NOT NULL, citations TEXT NOT NULL,
    PRIMARY KEY (conversation, ordinal)
) STRICT;
"""
_TITLE_LENGTH = 80
_PASSAGES: TypeAdapter[list[Passage]] = TypeAdapter(list[Passage])
_CITATIONS: TypeAdapter[list[Citation]] = TypeAdapter(list[Citation])


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A turn with what the model saw (`sent`) and wrote (`raw_answer`), for the next prompt."""

    turn: Turn
    sent: str
    raw_answer: str


class Journal:
    """The conversations of all callers. Thread-safe: one connection, one lock; writes are small.

    A file that is found damaged is set aside, and an empty one begins.

    Raises:
        JournalError: from every method: the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._path = path
        with self._mapped():
            if damage := damage_of(path):
                set_aside(path, damage, "earlier conversations are not shown")
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            # A turn that was shown must outlive a power cut: FULL syncs the WAL at each commit.
            self._db.executescript(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;" + _SCHEMA
            )

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()

    def begin(self) -> str:
        """Return the id of a new conversation; it is kept with its first turn."""
        return uuid.uuid4().hex

    def add(self, conversation: str, uid: int, kept: KeptTurn) -> None:
        """Append a turn; the conversation begins with its first one."""
        turn = kept.turn
        with self._transaction() as db:
            db.execute(
                "INSERT INTO conversations VALUES (?, ?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET updated = excluded.updated",
                (conversation, uid, turn.question[:_TITLE_LENGTH], time.time()),
            )
            db.execute(
                "INSERT INTO turns SELECT ?1, count(*), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9"
                " FROM turns WHERE conversation = ?1",
                (conversation, turn.asked, turn.question, kept.sent, turn.answer, kept.raw_answer, turn.answered,
                 _dump(turn.passages), _dump(turn.citations)),
            )  # fmt: skip

    def turns(self, conversation: str, uid: int) -> list[KeptTurn] | None:
        """Return the turns, oldest first; None when the caller has no such conversation."""
        with self._transaction() as db:
            if self._title(db, conversation, uid) is None:
                return None
            rows = db.execute(
                "SELECT question, answer, answered, passages, citations, asked, sent, raw_answer FROM turns"
                " WHERE conversation = ? ORDER BY ordinal",
                (conversation,),
            ).fetchall()
        return [_kept(row) for row in rows]

    def summaries(self, uid: int) -> list[ConversationSummary]:
        """Return the caller's conversations, newest first."""
        with self._transaction() as db:
            rows = db.execute(
                "SELECT id, title, updated, (SELECT count(*) FROM turns WHERE conversation = id)"
                " FROM conversations WHERE uid = ? ORDER BY updated DESC",
                (uid,),
            ).fetchall()
        return [ConversationSummary(id=i, title=t, updated=u, n_turns=n) for i, t, u, n in rows]

    def get(self, conversation: str, uid: int) -> Conversation | None:
        """Return a conversation with its turns; None when the caller has no such one."""
        turns = self.turns(conversation, uid)
        if turns is None:
            return None
        with self._transaction() as db:
            title = self._title(db, conversation, uid) or ""
        return Conversation(id=conversation, title=title, turns=[kept.turn for kept in turns])

    def shown(self, n_turns: int) -> list[Passage]:
        """Return the passages that the last turns of all callers were given, newest turn first."""
        with self._transaction() as db:
            rows = db.execute("SELECT passages FROM turns ORDER BY rowid DESC LIMIT ?", (n_turns,)).fetchall()
        return [passage for (passages,) in rows for passage in _PASSAGES.validate_json(passages)]

    def delete(self, conversation: str, uid: int) -> bool:
        """Delete a conversation; False when the caller has no such one."""
        with self._transaction() as db:
            found = db.execute("DELETE FROM conversations WHERE id = ? AND uid = ?", (conversation, uid))
            return found.rowcount > 0

    def _title(self, db: sqlite3.Connection, conversation: str, uid: int) -> str | None:
        row = db.execute(
            "SELECT title FROM conversations WHERE id = ? AND uid = ?", (conversation, uid)
        ).fetchone()
        return None if row is None else str(row[0])

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._mapped():
            self._db.execute("BEGIN")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite itself rolls back when the disk is full
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise JournalError(
                f"{self._path}: the conversations cannot be read or written ({error})"
            ) from error


def _dump(items: Sequence[Passage] | Sequence[Citation]) -> str:
    return json.dumps([item.model_dump() for item in items])


def _kept(row: tuple[str, str, int, str, str, float, str, str]) -> KeptTurn:
    question, answer, answered, passages, citations, asked, sent, raw_answer = row
    turn = Turn(
        question=question, answer=answer, answered=bool(answered), passages=_PASSAGES.validate_json(passages),
        citations=_CITATIONS.validate_json(citations), asked=asked,
    )  # fmt: skip
    return KeptTurn(turn, sent, raw_answer)
