"""One warm host in a temp folder of its own."""
