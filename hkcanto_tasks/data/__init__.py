"""Locate, download and read the benchmarks' data, and match its files to subjects."""
