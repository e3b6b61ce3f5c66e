"""What kind of thing a question asks for, and whether a sentence has one that the question does not. Pure.

A sentence without a date answers no "when". Only what can be told by the first words of English and German questions;
for all others every sentence will do.
"""

from __future__ import annotations

import re

_WHEN = re.compile(
    r"\b(?:when|wann|(?:what|which) (?:year|date|century|day|month)|welche[ms] (?:jahr|datum))\b",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    r"\b(?:how (?:many|much|old|long|far|tall|high|large|big|often)|what (?:percentage|percent|number|ratio|age)|"
    r"wie ?(?:viele?|hoch|alt|lange?|weit|oft|groß))\b",
    re.IGNORECASE,
)
_WHO = re.compile(r"\b(?:who|whom|whose|where|which (?:person|city|country)|wer|wem|wen|wo)\b", re.IGNORECASE)
_DATE = re.compile(
    r"\b(?:[12]\d{3}|\d{2,4}s|January|February|March|April|May|June|July|August|September|October|November|December|"
    r"century|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|Jahrhundert)\b"
)
_NUMBER = re.compile(
    r"\b(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|hundred|thousand|million|"
    r"billion|dozen|third|quarter|percent|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|Prozent)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-ZÄÖÜ][\w’'-]+")


def fits(question: str, sentence: str) -> bool:
    """Tell whether a sentence has what the question asks for: a date, number or name that it does not say itself."""
    known = question.casefold()
    if _WHEN.search(question):
        return any(found.group().casefold() not in known for found in _DATE.finditer(sentence))
    if _HOW_MANY.search(question):
        own = known.split()
        return any(found.group().casefold() not in own for found in _NUMBER.finditer(sentence))
    if _WHO.search(question):
        return any(found.group().casefold() not in known for found in _NAME.finditer(sentence[1:]))
    return True
