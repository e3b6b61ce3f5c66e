"""What is searched for: the words of a question, and how rare they are among the documents."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from appliance.answer.words import Words, surface_words
from ingest.library import Library


def fts_query(query: str) -> str:
    """Return an FTS5 query that matches any content word of `query`; nothing in it is FTS5 syntax."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in surface_words(query))


def rarity(query: str, library: Library, words: Words) -> Mapping[str, float]:
    """Return the inverse document frequency of each content word of the query, by stem."""
    surface = surface_words(query)
    frequency = library.document_frequency(surface)
    n_chunks = max(1, library.n_chunks())
    stems = {word: words.content(word) for word in surface}
    return {
        stem[0]: float(np.log(1 + n_chunks / (1 + frequency.get(word, 0))))
        for word, stem in stems.items()
        if stem
    }
