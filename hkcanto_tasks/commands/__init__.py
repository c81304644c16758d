"""The commands of `hkcanto`, a module each; `hkcanto_tasks.cli` puts them together."""
