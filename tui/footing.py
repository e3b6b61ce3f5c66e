"""What stands under an answer: which sentences to check, how it was made, and who had how much of the context. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from appliance.api.schema import Citation, DoneEvent
from tui.foreign import one_line

_QUIET, _WARNING = "$foreground 60%", "$text-warning"
_MAX_QUOTE = 160  # characters
_MAX_CONFLICTS = 5  # told one by one
QUOTED = "The model gave no answer; the document says:"


def checks(citations: Sequence[Citation]) -> Content:
    """Return what to say of sentences that no passage supports, or that one contradicts; empty where there are none."""
    against = [citation for citation in citations if citation.state == "contradicted"]
    lines = [_conflict(citation) for citation in against[:_MAX_CONFLICTS]]
    if len(against) > _MAX_CONFLICTS:
        lines.append(Content.styled(f"[!] and {len(against) - _MAX_CONFLICTS} more", _WARNING))
    if any(citation.state != "contradicted" and not citation.numbers for citation in citations):
        lines.append(
            Content.assemble(("[?]", f"bold {_WARNING}"), (" no passage supports this sentence", _QUIET))
        )
    return Content("\n").join(lines)


def is_quotation(answer: str, citations: Sequence[Citation]) -> bool:
    """Tell whether an answer is nothing but a sentence of a document, as `DoneEvent.origin` tells of a new one."""
    return len(citations) == 1 and citations[0].quotation and answer.startswith("“")


def footing(done: DoneEvent) -> Content:
    """Return the small print: speed and context on one line, then what went wrong."""
    timings, context = done.timings, done.context
    used = context.n_prompt + timings.n_decoded
    facts = [f"first word after {timings.ttft_s:.1f} s"]
    # Zero where the model was not asked: nothing near enough was found.
    facts += [f"{timings.decode_tps:.1f} tokens/s"] if timings.decode_tps > 0 else []
    facts += [f"context {used:,} of {context.n_ctx:,}"] if used else []
    lines = [Content.styled(" · ".join(facts), _QUIET)]
    if done.finish_reason == "length":
        lines.append(Content.styled("Cut off: the answer reached its length limit.", _WARNING))
    if done.finish_reason == "cancelled":
        lines.append(Content.styled("Stopped.", _WARNING))
    if context.left_out:
        lines.append(Content.styled(f"Left out: {'; '.join(map(one_line, context.left_out))}", _WARNING))
    return Content("\n").join(lines)


def budget(done: DoneEvent) -> Content:
    """Return who had how many tokens of the context, a line each."""
    context, n_decoded = done.context, done.timings.n_decoded
    answer = f"answer, {n_decoded:,} of at most {context.max_answer:,}"
    rows = [
        ("system", context.n_system), ("earlier turns", context.n_history), ("passages", context.n_passages),
        ("question", context.n_question), (answer, n_decoded),
        ("free", max(0, context.n_ctx - context.n_prompt - n_decoded)),
    ]  # fmt: skip
    lines = [f"{n_tokens:>8,}  {what}" for what, n_tokens in rows]
    return Content.styled("\n".join([f"{context.n_ctx:>8,}  tokens of context", *lines]), _QUIET)


def _conflict(citation: Citation) -> Content:
    source = citation.sources[0] if citation.sources else None
    passage = f"passage {source.number}" if source else "a passage"
    ours = ", ".join(f"“{one_line(text)}”" for text in citation.conflicts)
    quote = one_line(citation.quote)
    quote = quote if len(quote) <= _MAX_QUOTE else quote[: _MAX_QUOTE - 1] + "…"
    return Content.assemble(
        ("[!]", "bold $text-error"),
        (f" {ours or 'this sentence'} conflicts with {passage}", _WARNING),
        (f": “{quote}”" if quote else "", _QUIET),
    )
