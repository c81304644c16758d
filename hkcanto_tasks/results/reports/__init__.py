"""Reports and comparisons: turn runs from logs into tables, notes and pages.

* `summary` makes the report of `hkcanto report`, `compare` that of `hkcanto compare`; `analyses`
  and `standings` (ranks in the papers' tables) make sections of them.
* `blocks` defines the parts of a section: tables of values and notes. `presentation` has titles and
  columns that sections share.
* `renderers` write blocks as a page, Markdown, JSON or CSV, or to the terminal.
"""
