"""The tasks that the daemon offers, put together. Each is an async generator of events: closing it cancels the task."""

from __future__ import annotations

from pathlib import Path

from appliance.engine.interface import Engine
from appliance.tasks.cache import StepCache
from appliance.tasks.extraction import Extractor
from appliance.tasks.material import Shelf
from appliance.tasks.steps import Steps
from appliance.tasks.summary import Summariser
from appliance.tasks.translation import Translator
from appliance.text.words import Words
from ingest.library import Library


class Tasks:
    """Summaries, translations and extractions; `close` when the last one has ended.

    Args:
        kept: the file of the cache.
        trusted: whether the model is large enough to be trusted with sentences of its own.
    """

    def __init__(
        self,
        library: Library,
        folder: Path,
        engine: Engine,
        words: Words,
        kept: Path,
        *,
        trusted: bool = True,
    ) -> None:
        shelf = Shelf(library, folder)
        self._cache = StepCache(kept)
        self._cache.keep_only(shelf.versions())  # what was made of a deleted document goes at the next start
        self._steps = Steps(engine, self._cache, trusted=trusted)
        summariser, translator, extractor = (
            Summariser(shelf, self._steps, words),
            Translator(shelf, self._steps),
            Extractor(shelf, self._steps),
        )
        self.summarise = summariser.summarise
        self.translate = translator.translate
        self.extract = extractor.extract

    @property
    def busy(self) -> bool:
        """Whether a task is under way; ingest pauses meanwhile."""
        return self._steps.busy

    def close(self) -> None:
        """Close the cache."""
        self._cache.close()
