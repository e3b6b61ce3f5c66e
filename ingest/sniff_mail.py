"""Tells mail, mailboxes and saved web pages from other text, by the headers they begin with."""

from __future__ import annotations

import re

MAX_LINES = 60  # of headers looked at: relays put long ones in front
KNOWN = re.compile(
    r"^(?:From|To|Cc|Bcc|Sender|Subject|Date|Received|Return-Path|Message-ID|In-Reply-To|References|MIME-Version|"
    r"Content-Type|Content-Transfer-Encoding|Delivered-To|Reply-To|Authentication-Results|DKIM-Signature|Importance|"
    r"Received-SPF|User-Agent|(?:X|ARC|List|Thread|Resent)-[\w-]+):",
    re.IGNORECASE,
)
SEPARATOR = re.compile(r"From (?=\S[^\d\n]*\d).*\r?\n[\w-]+:[ \t]")
PAGE_TYPE = re.compile(r"^content-type:\s*(?:multipart/related|text/html)", re.IGNORECASE | re.MULTILINE)
SAVED_BY = re.compile(r"^(?:snapshot-content-location:|from:\s*\"?<?saved by )", re.IGNORECASE | re.MULTILINE)
SENT = re.compile(
    r"^(?:(?:to|cc|bcc|received|return-path|delivered-to):|from:.*@)", re.IGNORECASE | re.MULTILINE
)


def mail_kind(text: str) -> str:
    """Return "eml", "mbox" or "mhtml" for text that begins as one, else ""."""
    start = text.lstrip("\ufeff\r\n")
    if SEPARATOR.match(start):
        return "mbox"
    header = _header(start)
    if not header or not KNOWN.match(header[0]) or not _is_mail(header):
        return ""
    return "mhtml" if _is_saved_page("\n".join(header)) else "eml"


def _header(text: str) -> list[str]:
    lines = [line.rstrip("\r") for line in text.split("\n")[:MAX_LINES]]
    return lines[: lines.index("")] if "" in lines else lines


def _is_mail(header: list[str]) -> bool:
    if header[0].lower().startswith("content-type: multipart/"):
        return True
    n_known = sum(bool(KNOWN.match(line)) for line in header)
    return n_known >= 3 or (n_known == 2 and any("mime-version" in line.lower() for line in header))


def _is_saved_page(header: str) -> bool:
    """Tell a page that a browser saved from a mail with pictures in it: nobody sent it to anybody."""
    if SAVED_BY.search(header):
        return True
    return bool(PAGE_TYPE.search(header)) and not SENT.search(header)
