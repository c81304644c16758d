"""Tokens per character of each benchmark's items: `hkcanto fertility`."""
