"""Reading results: logs of both harnesses → evaluations → figures → a report or a comparison.

* `logs` reads what the harnesses wrote into `evaluations`.
* `figures` computes values with intervals from them; `significance` and `comparison` compare two.
* `published` reads the papers' tables (`published/` of a benchmark).
* `analyses` turn evaluations into `blocks`: tables, charts and notes.
* `renderers` write blocks as a page, Markdown, JSON, CSV, or to the terminal.
"""
