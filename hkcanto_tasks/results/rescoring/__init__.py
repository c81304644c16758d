"""Scoring existing answers again, without the model, from harness logs or other tools' files."""
