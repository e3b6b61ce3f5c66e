"""What an administrator runs beside the daemon: measuring, tuning. Nothing here serves anyone."""
