"""Subtitles (SRT, VTT): what is said, as paragraphs with the time they are said at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.formats.encoding import decode
from ingest.formats.reading import Reading
from ingest.formats.tidy import one_line, visible
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import Unit

TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
CUE = re.compile(rf"^\s*{TIME}\s*-->\s*{TIME}")
VOICE = re.compile(r"<v(?:\.[^<>\s]{1,40})?\s+([^<>]{1,80})>")
TAG = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]{0,100}\}")
MIN_CHARS = 200  # of a paragraph; after that it ends with the next sentence
MAX_CHARS = 500
PAUSE_S = 4.0  # a longer silence ends a paragraph
SENTENCE_ENDS = (".", "!", "?", "…", '."', '?"', '!"', "。", "！", "？")


@dataclass(frozen=True, slots=True)
class _Cue:
    start: float
    end: float
    text: str
    speaker: str


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read subtitles; each unit's locator holds the seconds at which it begins and ends."""
    lines = visible(decode(data, limits.legacy_encoding)).split("\n")
    return Reading(list(_paragraphs(_cues(lines))))


def _cues(lines: list[str]) -> Iterator[_Cue]:
    """Yield cues; the number or name above a time, notes and styles are not said."""
    shown = ""
    i = 0
    while i < len(lines):
        timed = CUE.match(lines[i])
        i += 1
        if not timed:
            continue
        texts = []
        while i < len(lines) and lines[i].strip() and not CUE.match(lines[i]):
            texts.append(lines[i])
            i += 1
        if i < len(lines) and CUE.match(lines[i]) and texts and texts[-1].strip().isdigit():
            texts.pop()  # no empty line between cues: the next one's number
        voice = VOICE.search(" ".join(texts))
        # Captions that roll up show each line twice.
        plain = [line for line in (one_line(TAG.sub("", text)) for text in texts) if line and line != shown]
        if plain:
            shown = plain[-1]
            yield _Cue(
                _seconds(timed, 1), _seconds(timed, 5), " ".join(plain), one_line(voice[1]) if voice else ""
            )


def _seconds(timed: re.Match[str], first: int) -> float:
    hours, minutes, seconds, fraction = (timed[first + i] or "0" for i in range(4))
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def _paragraphs(cues: Iterator[_Cue]) -> Iterator[Unit]:
    batch: list[_Cue] = []
    n_chars = 0
    for cue in cues:
        if batch and _ends(batch[-1], cue, n_chars):
            yield _unit(batch)
            batch, n_chars = [], 0
        batch.append(cue)
        n_chars += len(cue.text) + 1
    if batch:
        yield _unit(batch)


def _ends(last: _Cue, cue: _Cue, n_chars: int) -> bool:
    if cue.speaker != last.speaker or cue.start - last.end > PAUSE_S or n_chars + len(cue.text) > MAX_CHARS:
        return True
    return n_chars >= MIN_CHARS and last.text.endswith(SENTENCE_ENDS)


def _unit(cues: list[_Cue]) -> Unit:
    text = " ".join(cue.text for cue in cues)
    speaker = f"{cues[0].speaker}: " if cues[0].speaker else ""
    return Unit(speaker + text, Locator(time=(cues[0].start, cues[-1].end)))
