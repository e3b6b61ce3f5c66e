from __future__ import annotations

import time

import pytest

from appliance.engine import grammar
from appliance.errors import SamplingError

CHAIN = "\n".join(f'a{n} ::= a{n + 1} "x" | a{n + 1} "y"' for n in range(40)) + '\na40 ::= "z"'

LINE = "\n".join(f"a{n} ::= a{n + 1}" for n in range(3000)) + '\na3000 ::= "z"'


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "a"',
        'root ::= [0-9]+ ("," [0-9]+)*\n',
        'root ::=\n  "a" |\n  "b"\n',
        'root ::= ("a"\n "b") # said twice\nother ::= .',
        'x ::= "later"\nroot ::= "(" root ")" | x',
        'root ::= "é😀\\n\\"\\\\\\x41\\u00e9\\U0001F600" [^\\]\\-a-z]',
        'root ::= "a"{3} "b"{2,} "c"{0,1999} "d"{4,5}',
        'root ::= "x" root | ""',
        "root ::=",
        "root ::= " + " | ".join(f'"{n}"' for n in range(3000)),
    ],
)
def test_grammar_that_llama_can_follow_passes(text: str) -> None:
    grammar.check(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no rule `root`"),
        ('answer ::= "a"', "no rule `root`"),
        ("root ::= yes", "`root` refers to `yes`, which is not defined"),
        ("root ::= (", r"line 1: `\)` is missing"),
        ('root = "a"', "line 1: cannot be read from"),
        ('x ::= "a"\nroot ::= "b\\q"', "line 2: cannot be read from"),
        ('root ::= "a" ::= "b"', "the rule should end here"),
        ('root ::= "a"\nroot ::= "b"', "`root` is defined twice"),
        ("root ::= <[3]>", "cannot be read"),
        ('root ::= "a\0"', "NUL"),
        ('root ::= "\ud800"', "surrogate"),
        ('root ::= "a"{5,2}', "n not below m"),
        ('root ::= "a"{2000}', "1999 the most"),
        ('root ::= "a"{99999999999999999999}', "1999 the most"),
        ('root ::= "a"{9}{9}', "repeats a repetition"),
        ("root ::= *", "nothing to repeat"),
        ('root ::= ""*', "nothing to repeat"),
        ('root ::= root "a"', r"`root` can begin with itself"),
        ('root ::= b "x"\nb ::= c d\nc ::= "q"?\nd ::= root', "can begin with itself"),
        ('root ::= ("a"?)*', "repeated without end and may be empty"),
        ("root ::= " + "(" * 65 + '"a"' + ")" * 65, "nested more than 64 deep"),
        ('root ::= "' + "a" * 1000 + '"{1999}', "written out"),
        (f"root ::= a0\n{CHAIN}", "goes on in more than 4000 ways"),
        (f"root ::= a0\n{LINE}", "too long a chain"),
        ("root ::= " + '"a"? ' * 5000, "goes on in more than 4000 ways"),
        ("root ::= " + '("a") ' * 4001, "more than 4000 rules"),
        ("#" * 300_000, "262144 are the most"),
    ],
)  # fmt: skip
def test_grammar_that_would_break_or_hang_llama_is_refused_at_once(text: str, reason: str) -> None:
    started = time.process_time()
    with pytest.raises(SamplingError, match=reason):
        grammar.check(text)
    assert time.process_time() - started < 2
