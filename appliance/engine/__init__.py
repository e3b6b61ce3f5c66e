"""The language model in its own process: scheduling, slots, sampling; nothing about documents."""
