"""The second boundary: one shared page and the memory that referee and worker read and write in place."""
