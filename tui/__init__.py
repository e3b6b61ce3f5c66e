"""The terminal screen: a client of the socket, nothing else."""
