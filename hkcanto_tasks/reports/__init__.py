"""Reports and comparisons: runs that were read from logs become tables, notes and pages.

* `estimates` computes a run's figures with 95 % intervals; `intervals` and `significance` hold the
  statistics.
* `paired` compares two runs item by item; `verdicts` makes the output of `hkcanto compare` of it.
* `standings` finds the ranks of runs in the papers' tables.
* `overview` and `analyses` make the sections of a report; `report` assembles them.
* `blocks` are the parts of a section: tables of values, notes and answers. `presentation` has the
  titles and columns that sections share.
* `renderers` write blocks as a page, Markdown, JSON or CSV, or to the terminal.
* `commands` are `hkcanto report` and `hkcanto compare`.
"""
