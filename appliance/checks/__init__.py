"""Which passage supports which sentence of an answer, and what conflicts."""
