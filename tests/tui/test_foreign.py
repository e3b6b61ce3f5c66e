"""Foreign text cannot act on the terminal, and keeps its length."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from tui.foreign import one_line, readable


def test_an_escape_sequence_is_shown_instead_of_obeyed() -> None:
    assert readable("\x1b[31mred\x07") == "␛[31mred␇"


def test_text_direction_marks_and_lone_surrogates_are_replaced() -> None:
    assert readable("a\u202eb\udcffc") == "a\ufffdb\ufffdc"


def test_one_line_joins_white_space() -> None:
    assert one_line(" a\r\n\tb  c ") == "a b c"


@given(st.text(st.characters()))
def test_readable_keeps_the_length_and_leaves_no_control_characters(text: str) -> None:
    shown = readable(text)
    assert len(shown) == len(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c != "\n"]
