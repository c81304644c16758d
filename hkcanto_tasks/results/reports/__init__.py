"""Reports and comparisons: turn runs from logs into tables, notes and pages.

* `summary` makes the report of `hkcanto report`; `analyses` and `standings` (ranks in the papers'
  tables) make sections of it.
* `compare` makes the report of `hkcanto compare`, from `pairs` (two runs of a task) and the `gate`;
  `any_logs` compares logs of other tasks.
* `blocks` defines the parts of a section: tables of values and notes. `presentation` has titles and
  columns that sections share.
* `renderers` write blocks as a page, Markdown, JSON or CSV, or to the terminal.
"""
