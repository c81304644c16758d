"""The commands of `hkcanto`, one module each; `hkcanto_tasks.cli` collects them."""
