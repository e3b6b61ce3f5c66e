from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.engine.text import TextStream


def run(stop: tuple[str, ...], pieces: list[bytes]) -> tuple[list[str], str, bool]:
    stream = TextStream(stop)
    shown = [stream.push(piece) for piece in pieces]
    return shown, stream.finish(), stream.stopped


@pytest.mark.parametrize(
    ("stop", "pieces", "shown", "rest", "stopped"),
    [
        ((), [b"Hel", b"lo"], ["Hel", "lo"], "", False),
        ((), [b"caf\xc3", b"\xa9!"], ["caf", "é!"], "", False),
        ((), [b"\xf0\x9f", b"\x98", b"\x80"], ["", "", "😀"], "", False),
        ((), [b"cut \xc3"], ["cut "], "\ufffd", False),
        ((), [b"bad \xff\xff here"], ["bad \ufffd\ufffd here"], "", False),
        (("STOP",), [b"go ST", b"OP on"], ["go ", ""], "", True),
        (("STOP",), [b"go ST", b"AY"], ["go ", "STAY"], "", False),
        (("STOP",), [b"go ST"], ["go "], "ST", False),
        (("aab",), [b"aaa", b"ab"], ["a", "a"], "", True),
        (("\n\n", "User:"), [b"one\n", b"\ntwo"], ["one", ""], "", True),
        (("\n\n", "User:"), [b"one\nUs", b"er: two"], ["one\n", ""], "", True),
        (("é",), [b"caf\xc3", b"\xa9 noir"], ["caf", ""], "", True),
        (("b", "abc"), [b"a", b"bc"], ["", ""], "", True),
        (("",), [b"an empty stop stops nothing"], ["an empty stop stops nothing"], "", False),
    ],
)
def test_text_comes_out_whole_and_without_a_trace_of_the_stop(
    stop: tuple[str, ...], pieces: list[bytes], shown: list[str], rest: str, stopped: bool
) -> None:
    assert run(stop, pieces) == (shown, rest, stopped)


def test_nothing_comes_out_after_a_stop() -> None:
    stream = TextStream(("END",))
    assert stream.push(b"fine END not") == "fine "
    assert stream.push(b"more") == ""
    assert stream.finish() == ""
    assert stream.text == "fine "


@given(
    text=st.text(alphabet="ab\né😀", max_size=40),
    stop=st.text(alphabet="ab\né😀", min_size=1, max_size=4),
    cuts=st.lists(st.integers(1, 6), min_size=1),
)
def test_wherever_tokens_cut_the_bytes_the_stop_is_found_and_never_begun(
    text: str, stop: str, cuts: list[int]
) -> None:
    stream, data, shown, at = TextStream((stop,)), text.encode(), "", 0
    expected, found, _ = text.partition(stop)
    while data and not stream.stopped:
        n = cuts[at % len(cuts)]
        shown += stream.push(data[:n])
        data, at = data[n:], at + 1
        assert expected.startswith(shown)
    assert shown + stream.finish() == expected
    assert stream.stopped == bool(found)
