"""Numbers as lists write them: letters and Roman numerals."""

from __future__ import annotations

ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    )
)
MAX_ROMAN = 4000
MAX_LETTERS = 26 * 20


def letters(n: int) -> str:
    """Return "a", "b", … "z", "aa", "bb", …; digits where n is out of range."""
    return chr(ord("a") + (n - 1) % 26) * ((n - 1) // 26 + 1) if 0 < n <= MAX_LETTERS else str(n)


def roman(n: int) -> str:
    """Return "i", "ii", "iii", "iv", …; digits where n is out of range."""
    if not 0 < n < MAX_ROMAN:
        return str(n)
    text = ""
    for worth, sign in ROMAN:
        text += sign * (n // worth)
        n %= worth
    return text
