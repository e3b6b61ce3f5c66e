"""From a question to passages: candidates of what the caller may see, ranked, weighed, joined."""
