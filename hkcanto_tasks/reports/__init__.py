"""Reports and comparisons: runs that were read from logs become tables, notes and pages.

* `estimates` computes a run's figures with 95 % intervals; `intervals` and `significance` hold the
  statistics.
* `paired` compares two runs item by item; `verdicts` is what `hkcanto compare` says of it.
* `standings` finds the places of runs in the papers' tables.
* `overview` and `analyses` make the sections of a report out of this; `report` puts them together.
* `blocks` is what a section is made of: tables of values, notes and answers. `presentation` has the
  titles and columns that sections share.
* `renderers` write blocks as a page, Markdown, JSON or CSV, or to the terminal.
* `commands` are `hkcanto report` and `hkcanto compare`.
"""
