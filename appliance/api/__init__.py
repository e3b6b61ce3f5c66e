"""HTTP over the unix socket: routes, the callers behind them, the one table of errors."""
