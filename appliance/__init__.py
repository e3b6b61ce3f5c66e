"""The daemon and its clients: sockets, answers, the engine. Documents are ingest/, weights are models/."""
