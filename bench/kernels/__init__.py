"""Programs that the bench times."""
