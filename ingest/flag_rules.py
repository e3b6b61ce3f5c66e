"""How a text addresses a machine instead of a reader: the form of a rule, and what all languages' rules share.

A rule is a sentence's skeleton. In it a space is the space between two words, and `~3` up to three words that do not
matter. Every repetition is bounded, so that matching takes time linear in the text. Rules err towards silence: manuals
("follow the instructions"), memos ("disregard my last mail"), exams ("answer with yes or no") and policies about AI
must pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SPACE = r"(?:[^\w.!?;:]{1,4})"
WORDS = r"(?:\w{1,30}[^\w.!?;:]{1,4}){0,%s}?"


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of addressing a machine.

    Attributes:
        stems: a text without any of them is not searched.
        may_be_denied: "never ignore the above rules" says the opposite.
    """

    stems: tuple[str, ...]
    pattern: re.Pattern[str]
    may_be_denied: bool = False


def rule(stems: str, skeleton: str, may_be_denied: bool = False) -> Rule:
    """Return a rule from its stems, parted by "|", and its skeleton in small letters."""
    words = re.sub(r"~(\d) ", lambda match: WORDS % match[1], skeleton)
    return Rule(tuple(stems.split("|")), re.compile(words.replace(" ", SPACE)), may_be_denied)


def raw(stems: str, pattern: str) -> Rule:
    """Return a rule whose pattern means its spaces as they stand: single, for the text has no others."""
    return Rule(tuple(stems.split("|")), re.compile(pattern))


# Roles without rules, in any language.
UNBOUND = (
    r"(?:dan|jailbroken|unrestricted|unfiltered|uncensored|evil|amoral|hacker|pirate|"
    r"linux terminal|developer mode|god mode)"
)

# What stands before a rule that may be denied, and turns it round or speaks of other people.
DENIED = re.compile(
    r"(?:\b(?:not|never|don.t|cannot|can.t|mustn.t|shouldn.t|nobody|who|whoever|if you|"
    r"if they|if staff|tends? to|ch(?:oo|o)se to|choosing to|"
    r"decides? to|may|might|people|employees|operators|users|workers|they|we|i|by|nicht|"
    r"niemals|nie|ne pas|jamais|nunca|wer|qui)\W{1,3}(?:\w{1,20}\W{1,3})?|"
    r"\bno\W{1,3})$"
)
