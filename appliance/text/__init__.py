"""Text as search, checks and prompts see it: words, languages, what is addressed to a machine, refusals."""
