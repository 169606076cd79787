"""What the operating system can hold: limits, namespaces, Landlock, workspaces, and whole process trees that really die."""
