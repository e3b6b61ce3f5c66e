"""Golden questions: what is asked, what the right answer says, and where it stands. One JSON object a line.

Keys: `question`; `answers`, any of which is right; `document`, as the folder names it, null where the documents do
not say; and, as far as known, `passage` (how the paragraph with the answer begins), `page`, `id`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from appliance.errors import ApplianceError

FILE_NAME = "questions.jsonl"  # in the home: the site's own


class QuestionsError(ApplianceError):
    """A file of golden questions cannot be used: correct the line that the message names."""


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question whose answer is known.

    Attributes:
        answers: words of a right answer, as the document says them; empty where the documents do not say.
        document: path in the folder; None where the documents do not say.
        passage: how the paragraph that holds the answer begins; empty where nobody wrote it down.
        page: of that paragraph, from 1.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    document: str | None = None
    passage: str = ""
    page: int | None = None

    @property
    def answerable(self) -> bool:
        """Whether the documents hold the answer."""
        return self.document is not None


def read(file: Path) -> list[GoldenQuestion]:
    """Read a file of golden questions, in its order.

    Raises:
        QuestionsError: it cannot be read, or a line is no such question.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionsError(f"{file}: cannot be read: {error}") from error
    found = [_question(line, f"{file}, line {n}", str(n)) for n, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise QuestionsError(f"{file}: holds no question; `appliance evaluate add` writes one")
    return found


def sample(questions: Sequence[GoldenQuestion], n: int | None) -> list[GoldenQuestion]:
    """Return at most `n` answerable and `n` other questions, spread evenly over the file: always the same ones."""
    answerable = [question for question in questions if question.answerable]
    others = [question for question in questions if not question.answerable]
    return _spread(answerable, n) + _spread(others, n)


def _spread(questions: Sequence[GoldenQuestion], n: int | None) -> list[GoldenQuestion]:
    if n is None or n >= len(questions):
        return list(questions)
    return [questions[i * len(questions) // n] for i in range(n)]


def append(file: Path, question: GoldenQuestion) -> None:
    """Add a question to a file, which is made where there is none."""
    kept = {name: value for name, value in asdict(question).items() if value not in ("", None)}
    line = json.dumps(kept | {"document": question.document}, ensure_ascii=False)
    with file.open("a", encoding="utf-8") as out:
        out.write(line + "\n")
        out.flush()
        os.fsync(out.fileno())


def _question(line: str, place: str, id: str) -> GoldenQuestion:
    try:
        data: Any = json.loads(line)
    except ValueError as error:
        raise QuestionsError(f"{place}: is no JSON: {error}") from error
    if (
        not isinstance(data, dict)
        or not isinstance(data.get("question"), str)
        or not data["question"].strip()
    ):
        raise QuestionsError(f'{place}: needs a "question"')
    answers, document, page = data.get("answers") or (), data.get("document"), data.get("page")
    if not isinstance(answers, list | tuple) or not all(isinstance(answer, str) for answer in answers):
        raise QuestionsError(f'{place}: "answers" must be a list of texts')
    if not isinstance(document, str | None) or not isinstance(page, int | None):
        raise QuestionsError(f'{place}: "document" must be a path or null, "page" a number')
    if document is not None and not answers and not data.get("passage") and page is None:
        raise QuestionsError(
            f'{place}: says no "answers", "passage" or "page" by which a right answer is known'
        )
    return GoldenQuestion(
        str(data.get("id", id)),
        data["question"],
        tuple(answers),
        document,
        str(data.get("passage") or ""),
        page,
    )
