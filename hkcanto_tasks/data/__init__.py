"""Where the benchmarks' files come from, what is in them, and which of them is whose."""
