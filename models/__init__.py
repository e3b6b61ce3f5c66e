"""Model files: what exists, what is installed, how it is fetched; running and compiling the embedder."""
