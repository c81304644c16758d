"""Write a first declaration of a new benchmark, for `hkcanto new`.

`origins` finds the files, `tables` groups them, `columns` describes their contents, `forms`
recognises kinds of task, and `declaration` writes, checks and installs a `benchmark.toml`.
"""
