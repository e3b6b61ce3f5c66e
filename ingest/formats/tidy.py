"""Characters that no reader should see: controls, halves of pairs, soft hyphens, terminal colours."""

from __future__ import annotations

import re
import unicodedata

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
OVERSTRIKE = re.compile(r".\x08")
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]"
)
LIGATURES = str.maketrans(
    {
        "\ufb00": "ff",
        "\ufb01": "fi",
        "\ufb02": "fl",
        "\ufb03": "ffi",
        "\ufb04": "ffl",
        "\ufb05": "st",
        "\ufb06": "st",
    }
)
SPACES = re.compile(r"[^\S\n]+")


def visible(text: str) -> str:
    """Drop what is not text (controls, lone surrogates, soft hyphens); spaces and line ends stay, composed (NFC)."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x85", "\n")
    text = text.replace("\u2028", "\n").replace("\u2029", "\n").translate(LIGATURES)
    return unicodedata.normalize("NFC", UNSEEN.sub("", text))


def one_line(text: str) -> str:
    """Return the visible text with every run of white space as one space."""
    return " ".join(visible(text).split())


def lines_kept(text: str) -> str:
    """Return the visible text with runs of spaces as one and empty lines gone; line ends stay."""
    lines = (SPACES.sub(" ", line).strip() for line in visible(text).split("\n"))
    return "\n".join(line for line in lines if line)


def without_terminal_codes(text: str) -> str:
    """Strip colour codes and overstrikes, as logs and manual pages carry them."""
    if "\x1b" in text:
        text = ANSI.sub("", text)
    return OVERSTRIKE.sub("", text) if "\x08" in text else text
