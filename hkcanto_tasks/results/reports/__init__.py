"""Reports and comparisons: turn runs from logs into tables, notes and pages.

* `summary` makes the report of `hkcanto report`. Its first section is on `one_model`, `two_models`
  or `many_models`; `analyses`, `standings` (ranks in the papers' tables), `paper_tables` and
  `how_made` make the others.
* `compare` makes the report of `hkcanto compare`, from `pairs` (two runs of a task) and the `gate`;
  `any_logs` compares logs of other tasks.
* `blocks` defines the parts of a section: tables of values and notes. `presentation` has titles and
  columns that sections share.
* `renderers` write blocks as a page, Markdown, JSON or CSV, or to the terminal.
"""
