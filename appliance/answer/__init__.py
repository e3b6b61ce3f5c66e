"""One question, start to end: retrieval, prompt, citations, guard."""
