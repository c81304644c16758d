"""Reading results: logs of both harnesses → runs → figures → a report or a comparison.

* `logs` reads what the harnesses wrote into `evaluations`.
* `figures` computes values with `intervals` from them, and `comparison` compares two.
* `standings` finds a run's place in the papers' tables.
* `results` and `analyses` turn all this into `blocks`: tables of typed records, and notes.
* `renderers` write blocks as a page, Markdown, JSON, CSV, or to the terminal.
"""
