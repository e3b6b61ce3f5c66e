"""Numbers written out, in English and German, up to the thousands. Pure."""

from __future__ import annotations

_VALUES = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "zwölf": 12, "zwanzig": 20, "dreißig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60, "siebzig": 70,
    "achtzig": 80, "neunzig": 90, "hundert": 100, "tausend": 1000,
}  # fmt: skip
WRITTEN = "|".join(sorted(_VALUES, key=len, reverse=True))  # a regular expression: any of the words


def value_of(text: str) -> int | None:
    """Return the number that words say ("two hundred and five" is 205); None where they say none ("two three")."""
    total = current = 0
    for word in text.casefold().replace("-", " ").split():
        value = _VALUES.get(word, 0)  # 0: "and"
        if value == 1000 and not total:
            total, current = max(current, 1) * 1000, 0
        elif value == 100 and current < 10:
            current = max(current, 1) * 100
        elif value < 100 and (
            current % 100 == 0 or (value < 10 and current % 10 == 0 and current % 100 >= 20)
        ):
            current += value
        elif value:
            return None
    return total + current or None
