"""Tokens per character of each benchmark's questions: `hkcanto fertility`."""
