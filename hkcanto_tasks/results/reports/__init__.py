"""Reports and comparisons: turn runs from logs into tables, notes and pages.

* `estimates` computes a run's figures with 95 % intervals; `intervals` and `significance` contain
  the statistics.
* `paired` compares two runs item by item; `verdicts` makes the report of `hkcanto compare`.
* `standings` ranks runs in the papers' tables.
* `overview` and `analyses` make the sections of a report; `report` assembles them.
* `blocks` defines the parts of a section: tables of values, notes and answers. `presentation` has
  titles and columns that sections share.
* `renderers` write blocks as a page, Markdown, JSON or CSV, or to the terminal.
"""
