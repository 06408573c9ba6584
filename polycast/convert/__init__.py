"""Conversions by real tools, in a sandbox, and what they cost."""
