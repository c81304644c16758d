"""Scoring again, without a model, what was written: logs of the harnesses, files of other tools."""
