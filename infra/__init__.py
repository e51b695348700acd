"""Adapters: one vendor a file, settings, and the composition root."""
