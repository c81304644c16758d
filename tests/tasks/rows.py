"""Questions of ours in the columns of HKMMLU's files, as CSV or Parquet."""

import csv
import io
from collections.abc import Iterable
from typing import Any

COLUMNS = ("Question", "A", "B", "C", "D", "Answer")
LAW = ("香港邊個部門負責檢控？", "律政司", "運輸署", "食環署", "衞生署", "A")
MUSIC = ("邊個詞人人稱「詞神」？", "None", "NA", "007", "0.10", "C")


def as_csv(rows: Iterable[Iterable[str]], header: Iterable[str] = COLUMNS) -> str:
    file = io.StringIO()
    csv.writer(file).writerows([header, *rows])
    return file.getvalue()


def as_parquet(records: list[dict[str, Any]]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), file)
    return file.getvalue()
