"""Tasks over whole documents: summaries, translations and extracted rows, in steps that are kept and checked."""
