"""How many questions are enough: `hkcanto plan`."""
