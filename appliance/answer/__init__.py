"""One question, start to end: what was said before, the prompt, the answer as it is composed and checked."""
