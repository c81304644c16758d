"""Planning evaluations with `hkcanto plan`: how many items are enough, and what they cost."""
