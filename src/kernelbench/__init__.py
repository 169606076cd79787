"""KernelBench's public names over the KernelGuard engine: same calls, same fields, same files.

An independent face, not an official KernelBench release. Importing it loads no torch, reads no `.env` and patches nothing.
"""
