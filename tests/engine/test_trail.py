from __future__ import annotations

import pytest

from appliance.engine.request import Logprob
from appliance.engine.text import TextStream
from appliance.engine.trail import Trail


def run(stop: tuple[str, ...], pieces: list[bytes]) -> tuple[list[tuple[str, bytes]], bytes]:
    """Return (text, the tokens' bytes) that came out after each token, and the tokens that came at the end."""
    stream, trail = TextStream(stop), Trail()
    shown = []
    for piece in pieces:
        start = stream.n_read
        text = stream.push(piece)
        trail.add(start, stream.n_read, Logprob(piece, -0.5))
        shown.append((text, b"".join(each.piece for each in trail.shown(len(stream.text)))))
    stream.finish()
    return shown, b"" if stream.stopped else b"".join(each.piece for each in trail.rest())


@pytest.mark.parametrize(
    ("stop", "pieces", "shown", "rest"),
    [
        ((), [b"Hel", b"lo"], [("Hel", b"Hel"), ("lo", b"lo")], b""),
        ((), [b"caf\xc3", b"\xa9"], [("caf", b"caf\xc3"), ("é", b"\xa9")], b""),
        ((), [b"\xf0\x9f", b"\x98\x80", b"!"], [("", b""), ("😀", b"\xf0\x9f\x98\x80"), ("!", b"!")], b""),
        (("STOP",), [b"go ST", b"AY"], [("go ", b""), ("STAY", b"go STAY")], b""),
        (("STOP",), [b"go", b" ST", b"OP on"], [("go", b"go"), (" ", b""), ("", b"")], b""),
        (("😀",), [b"a", b"\xf0\x9f", b"\x98\x80"], [("a", b"a"), ("", b""), ("", b"")], b""),
        (("STOP",), [b"go ST"], [("go ", b"")], b"go ST"),
        ((), [b"a", b"", b"b"], [("a", b"a"), ("", b""), ("b", b"b")], b""),
        ((), [b"cut \xc3"], [("cut ", b"cut \xc3")], b""),
    ],
)
def test_tokens_come_out_with_their_text_and_none_of_a_stop_string(
    stop: tuple[str, ...], pieces: list[bytes], shown: list[tuple[str, bytes]], rest: bytes
) -> None:
    assert run(stop, pieces) == (shown, rest)
