"""What keeps answers honest: text from documents stays data, and weak evidence is not turned into an answer. Pure."""

from __future__ import annotations

import re

from appliance.answer import refusals
from appliance.answer.language import ENGLISH

DOES_NOT_SAY = ENGLISH.does_not_say

# Delimiters of chat templates in use (ChatML, Llama, Gemma, Mistral, Phi). The engine never obeys them inside content
# (it tokenises content without special tokens); breaking them keeps a small model from imitating them as well.
_CONTROL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?(?:s|start_of_turn|end_of_turn)>|\[/?INST\]|<</?SYS>>", re.IGNORECASE
)
# A line of a document that looks like a part of our own prompt.
_OURS = re.compile(r"^(\s*)(\[\d{1,2}\]|Question:|Passages:)", re.MULTILINE | re.IGNORECASE)


def neutralise(text: str) -> str:
    """Return document text that cannot end its passage, open another, or pass for a turn of the chat."""
    text = _CONTROL.sub(
        lambda match: match.group().replace("<", "‹").replace(">", "›").replace("[", "(").replace("]", ")"),
        text,
    )
    return _OURS.sub(lambda match: f"{match.group(1)}'{match.group(2)}", text)


def says_nothing(answer: str) -> bool:
    """Tell whether the model answered that the documents do not say, in its own words or ours."""
    return refusals.says_nothing(answer)
