"""Marks text that addresses a machine rather than a reader. Pure; keeps every word, judges no intent.

A flag is a warning beside a passage, no defence: what keeps documents from giving orders is that their text is only
ever data. So a rule that would cry wolf over ordinary manuals is worth less than an attack it misses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from ingest.flag_answers import ANSWERS, SCRIPTS
from ingest.flag_english import ENGLISH, TOKENS
from ingest.flag_languages import FRENCH, GERMAN, OTHERS, SPANISH
from ingest.flag_rules import DENIED, Rule
from ingest.unit import INSTRUCTION, Unit

RULES = (*TOKENS, *ENGLISH, *GERMAN, *FRENCH, *SPANISH, *OTHERS, *ANSWERS, *SCRIPTS)
N_TOGETHER = 64
BETWEEN = "\n;\n"  # ends a sentence for every rule, so that none reaches from one unit into the next
N_BEFORE = 40  # characters in front of a match that may turn it round
# Letters written with characters that no screen shows (Unicode tags) are a message for machines alone.
TAGS = re.compile("[\U000e0020-\U000e007e]{8,}")
TAG_LETTERS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
# Letters of other alphabets that look like Latin ones, where they stand in a word with Latin letters.
LOOKALIKES = str.maketrans("аеорсхуікмтнвԁһјѕԛԝαορνικτυχ", "aeopcxyikmthbdhjsqwaopviktux")
MIXED = re.compile(r"\w*(?:[a-z][\u0370-\u052f]|[\u0370-\u052f][a-z])\w*")
SPACED = re.compile(r"\b(?:\w ){4,}\w\b")  # "i g n o r e"; a wider gap parts its words
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def with_flags(units: Sequence[Unit]) -> list[Unit]:
    """Return the units, those that address the machine with the flag `INSTRUCTION` added."""
    flagged: list[Unit] = []
    for first in range(0, len(units), N_TOGETHER):
        batch = units[first : first + N_TOGETHER]
        # Nearly always nothing is found: one search over many short units is cheaper than one over each.
        flagged += map(_flagged, batch) if _is_suspect(BETWEEN.join(map(_text, batch))) else batch
    return flagged


def _flagged(unit: Unit) -> Unit:
    return replace(unit, flags=unit.flags | {INSTRUCTION}) if is_instruction_like(_text(unit)) else unit


def _text(unit: Unit) -> str:
    return f"{unit.header}\n{unit.text}" if unit.header else unit.text


def _is_suspect(text: str) -> bool:
    """Tell whether any rule finds anything, before what may deny it is looked at."""
    plain = _plain(text)
    found = (
        rule for rule in RULES if any(stem in plain for stem in rule.stems) and rule.pattern.search(plain)
    )
    return TAGS.search(text) is not None or any(found)


def is_instruction_like(text: str) -> bool:
    """Tell whether a text addresses the machine that reads it; takes time linear in the text."""
    if TAGS.search(text):
        return True
    plain = _plain(text)
    return any(_matches(rule, plain) for rule in RULES)


def _plain(text: str) -> str:
    """Return the text as the rules expect it: one form of each letter, small, single spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", UNSEEN.sub("", text.translate(TAG_LETTERS)))
        text = MIXED.sub(lambda word: word.group().translate(LOOKALIKES), text.lower())
    text = text.lower()
    if SPACED.search(text):
        text = SPACED.sub(lambda run: run.group().replace(" ", ""), text)
    return " ".join(text.split())


def _matches(rule: Rule, text: str) -> bool:
    if not any(stem in text for stem in rule.stems):
        return False
    if not rule.may_be_denied:
        return rule.pattern.search(text) is not None
    return any(
        not DENIED.search(text[max(0, match.start() - N_BEFORE) : match.start()])
        for match in rule.pattern.finditer(text)
    )
