"""The model's own chat template: messages in, prompt tokens out.

Contents are data. They never pass through the template: marks stand in for them while it renders, and the
text is cut at the marks. Only what the template wrote is read for control tokens; a content that spells one
stays text.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from typing import Any, NoReturn, Protocol

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from appliance.engine.pieces import block, pieces
from appliance.engine.request import Message
from appliance.errors import ChatTemplateError, EngineError

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# Around each mark while rendering: Python's strip() takes it, no template writes it. Where it is gone, the
# template strips contents, and the content is stripped in its place.
_PAD = "\u2003"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the prompt: text of the template, or a message's content."""

    text: str
    content_of: Message | None = None


class ChatTemplate:
    """A template ready to render; `source` None takes ChatML.

    Raises:
        EngineError: the template cannot be compiled.
    """

    def __init__(self, source: str | None, bos_text: str = "", eos_text: str = "") -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _to_json
        environment.globals |= {"raise_exception": _refuse, "strftime_now": _strftime_now}
        self._tokens = {"bos_token": bos_text, "eos_token": eos_text}
        try:
            self._template = environment.from_string(source or CHATML)
        except TemplateError as error:
            raise EngineError(f"the model's chat template is damaged: {error}") from error

    def parts(self, messages: Sequence[Message]) -> list[Part]:
        """Return the prompt up to where the assistant speaks, in pieces.

        Raises:
            ChatTemplateError: the template refuses these messages, or leaves one out.
        """
        try:
            return self._parts(messages)
        except ChatTemplateError:
            # Some templates (Gemma) know no system role: there it goes in front of the first question.
            folded = _fold_system(messages)
            if folded is None:
                raise
            return self._parts(folded)

    def _parts(self, messages: Sequence[Message]) -> list[Part]:
        key = secrets.token_hex(8)
        marks = [f"{key}x{at}x" if message.content else "" for at, message in enumerate(messages)]
        standins = [
            {"role": message.role, "content": f"{_PAD}{mark}{_PAD}" if mark else ""}
            for message, mark in zip(messages, marks, strict=True)
        ]
        try:
            text = self._template.render(
                messages=standins, add_generation_prompt=True, tools=None, documents=None, **self._tokens
            )
        except Exception as error:  # whatever the template's code runs into
            raise ChatTemplateError(f"the model's chat template refuses these messages: {error}") from error
        for at, mark in enumerate(marks):
            if mark not in text:
                raise ChatTemplateError(
                    f"the model's chat template leaves out message {at + 1} ({messages[at].role})"
                )
        return _cut(text, key, messages)


class Tokeniser(Protocol):
    """What of a model turns text into tokens."""

    @property
    def bos(self) -> int | None:
        """See `Model`."""

    @property
    def control(self) -> Mapping[int, str]:
        """See `Model`."""

    def tokenise(self, text: str, special: bool) -> list[int]:
        """See `Model`."""


class KnownReplies(Protocol):
    """Where exact tokens of earlier answers are found."""

    def tokens(self, text: str) -> Sequence[int] | None:
        """Return the tokens that an answer was made of, None when it is not known."""


@dataclass(frozen=True, slots=True)
class Span:
    """Which of a prompt's tokens, [start, end), are a passage of the document version `owner`."""

    start: int
    end: int
    owner: str


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """A prompt as the model takes it, and where the passages in it are."""

    tokens: list[int]
    spans: tuple[Span, ...] = ()


def prompt_tokens(parts: Sequence[Part], tokeniser: Tokeniser, replies: KnownReplies) -> PromptTokens:
    """Return the prompt's tokens. Answers of ours keep the tokens they had, so that the KV cache fits."""
    tokens: list[int] = []
    spans: list[Span] = []
    for part in parts:
        message = part.content_of
        if message is None:
            tokens += tokeniser.tokenise(part.text, special=True)
        elif message.role == "assistant" and (known := replies.tokens(part.text)) is not None:
            tokens += known
        else:
            for piece in pieces(part.text):
                start = len(tokens)
                tokens += content_tokens(piece.text, tokeniser)
                spans += [Span(start, len(tokens), piece.owner)] if piece.owner else []
    if tokeniser.bos is not None and tokens[:1] != [tokeniser.bos]:
        tokens.insert(0, tokeniser.bos)
        spans = [Span(span.start + 1, span.end + 1, span.owner) for span in spans]
    return PromptTokens(tokens, tuple(spans))


def base_of(messages: Sequence[Message]) -> list[Message]:
    """Return the shortest messages whose first passage stands where that of these, as a first turn, would stand.

    Empty where they hold no passage. What stands before it is what every passage is computed behind.
    """
    for message in reversed(messages):
        lead = list(takewhile(lambda piece: not piece.owner, found := pieces(message.content)))
        if message.role == "user" and len(lead) < len(found):
            # The last x since some templates strip what a message ends with, and marks count as white space.
            content = "".join(piece.text for piece in lead) + block(found[len(lead)].owner, "x") + "x"
            return [one for one in messages if one.role == "system"] + [replace(message, content=content)]
    return []


def content_tokens(text: str, tokeniser: Tokeniser) -> list[int]:
    """Return the tokens of a text that is data: never a control token."""
    tokens = tokeniser.tokenise(text, special=False)
    if tokeniser.control.keys().isdisjoint(tokens):
        return tokens
    # Some vocabularies build "<s>" out of its letters, or mark the end of a turn as a word: spell those out.
    spelled: list[int] = []
    for token in tokens:
        for piece in [token] if token not in tokeniser.control else _letters(token, tokeniser):
            spelled.append(piece)
    return spelled


def _letters(token: int, tokeniser: Tokeniser) -> list[int]:
    pieces = (tokeniser.tokenise(letter, special=False) for letter in tokeniser.control[token])
    return [piece for letter in pieces for piece in letter if piece not in tokeniser.control]


def _cut(text: str, key: str, messages: Sequence[Message]) -> list[Part]:
    parts: list[Part] = []
    end = 0
    for found in re.finditer(f"({_PAD}?){key}x(\\d+)x({_PAD}?)", text):
        message = messages[int(found[2])]
        content = message.content if found[1] else message.content.lstrip()
        parts.append(Part(text[end : found.start()]))
        parts.append(Part(content if found[3] else content.rstrip(), message))
        end = found.end()
    parts.append(Part(text[end:]))
    return [part for part in parts if part.text]


def _fold_system(messages: Sequence[Message]) -> list[Message] | None:
    match messages:
        case [Message(role="system", content=system), Message(role="user", content=question), *rest]:
            return [Message("user", f"{system}\n\n{question}"), *rest]
        case _:
            return None


def _refuse(reason: str) -> NoReturn:
    raise TemplateError(reason)


def _strftime_now(form: str) -> str:
    return datetime.now().strftime(form)


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
