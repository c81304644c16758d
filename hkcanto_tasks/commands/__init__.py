"""The commands of `hkcanto`, a module for each."""
