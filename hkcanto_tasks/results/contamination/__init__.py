"""Contamination checks: benchmark items in training files (`hkcanto contamination`)."""
