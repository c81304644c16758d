"""Contamination: which benchmark items stand in a training file: `hkcanto contamination`."""
