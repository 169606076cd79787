"""Reward hardening under its documented names."""
