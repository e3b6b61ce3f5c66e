"""The daemon's own errors.

ApplianceError
├── ConfigError          the settings do not make sense; fix the named key
├── AlreadyRunningError  another daemon has this home
├── NotRunningError      no daemon answers on the socket
├── NotFoundError        no such document, conversation or model, or not the caller's
├── NotAllowedError      the caller may not do that to this file
├── ConflictError        a file of that name is there already
├── BadUploadError       the file cannot be taken in
├── JournalError         the conversations cannot be read or written
├── UnsupportedRequestError  a parameter that is understood but not offered
├── BadTaskError         a task whose document, columns or text cannot be meant
├── NotReadableYetError  the document has no text that could be worked on, or not yet
├── DocumentChangedError the document changed while a task worked on it
└── EngineError
    ├── EngineNotReadyError  the model is loading, or cannot be loaded
    ├── EngineLostError      the engine died while answering
    ├── EngineBusyError      the queue is full
    ├── DeadlineError        the answer was not finished in the time it was given
    ├── SamplingError        the grammar, schema or logit_bias cannot be followed
    ├── ChatTemplateError    the model's chat template refuses these messages
    └── PromptTooLongError   the prompt can never fit the context
"""

from __future__ import annotations


class ApplianceError(Exception):
    """Anything this package raises on purpose; the message names the thing and what to do."""


class ConfigError(ApplianceError):
    """A setting is unknown, of the wrong type or out of range: correct the key that the message names."""


class AlreadyRunningError(ApplianceError):
    """A daemon owns this home already: stop it, or use another --home."""

    def __init__(self, home: str, pid: int) -> None:
        super().__init__(f"a daemon is already running on {home} (pid {pid}); stop it, or use another --home")
        self.pid = pid


class NotRunningError(ApplianceError):
    """No daemon answers on the socket: start it with `appliance serve`."""


class NotFoundError(ApplianceError):
    """There is no such thing, or the caller may not see it: list what there is."""


class NotAllowedError(ApplianceError):
    """The file's owner and mode do not let the caller do that: ask its owner."""


class ConflictError(ApplianceError):
    """A file of that name lies in the folder already: choose another name, or replace it on purpose."""


class BadUploadError(ApplianceError):
    """The file cannot be taken in: its name is unusable, or it is too large."""


class JournalError(ApplianceError):
    """The conversations (journal.db) cannot be read or written: check disk space and rights; answers go on."""


class UnsupportedRequestError(ApplianceError):
    """The request asks for something that is not offered here: leave the named parameter out."""


class BadTaskError(ApplianceError):
    """A task names its document, columns or text so that it cannot be done: correct what the message names."""


class NotReadableYetError(ApplianceError):
    """The document has no text to work on, or not yet: wait until it is `ready`, or see to the reason that it gives."""


class DocumentChangedError(ApplianceError):
    """The document was changed while a task worked on it: start the task again, on the new version."""


class EngineError(ApplianceError):
    """The language model could not answer."""


class EngineNotReadyError(EngineError):
    """The model is still loading, or could not be loaded: wait, or read `appliance status`."""


class EngineLostError(EngineError):
    """The engine process died while it was answering; it is being restarted: ask again."""


class EngineBusyError(EngineError):
    """The queue is full: try again after `retry_after_s` seconds."""

    def __init__(self, n_waiting: int, retry_after_s: float) -> None:
        before = f"{n_waiting} questions are waiting already" if n_waiting else "the engine is busy"
        super().__init__(f"{before}; try again in {retry_after_s:.0f} s")
        self.n_waiting = n_waiting
        self.retry_after_s = retry_after_s


class DeadlineError(EngineError):
    """The answer was not finished in time: give it more, ask for fewer tokens, or ask when fewer people do."""

    def __init__(self, deadline_s: float, n_decoded: int) -> None:
        super().__init__(
            f"not finished within {deadline_s:g} s: {n_decoded} tokens of the answer had been made"
        )
        self.deadline_s = deadline_s
        self.n_decoded = n_decoded


class SamplingError(EngineError):
    """The request's grammar, schema or logit_bias cannot be followed: correct what the message names."""


class ChatTemplateError(EngineError):
    """The model's chat template refuses these messages: send them in an order and with roles that it knows."""


class PromptTooLongError(EngineError):
    """The prompt and its answer can never fit: shorten it, or raise `engine.n_ctx`."""

    def __init__(self, n_prompt: int, max_tokens: int, n_ctx: int) -> None:
        super().__init__(
            f"prompt {n_prompt} tokens + answer {max_tokens} tokens, context {n_ctx}: shorten the "
            "prompt, ask for fewer tokens, or raise engine.n_ctx"
        )
        self.n_prompt = n_prompt
        self.max_tokens = max_tokens
        self.n_ctx = n_ctx
