"""What runs beside hostile code: fork server, keeper, and the worker that loads a program and answers at the gate."""
