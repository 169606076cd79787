"""Preflight: the source is read, never run. Pure: text in, findings out."""

from kernelguard.preflight.rules import inspect, refuses

__all__ = ["inspect", "refuses"]
