"""The number of a row in translation and g2p, which a CSV file has as text."""

from pathlib import Path

import pytest

from hkcanto_tasks import load_task
from hkcanto_tasks.errors import HKCantoError

TOML = """
name = "numbered"
title = "Numbered"
[data]
[prompts.plain]
question = "{PLACEHOLDER}"
[[tasks]]
name = "numbered"
title = "Numbered"
kind = "KIND"
files = "rows.csv"
prompts = { paper = "plain" }
columns = { number = "no", COLUMNS }
"""
KINDS = {
    "g2p": (
        "sentence",
        'sentence = "zh", jyutping = "read"',
        "早晨,zou2 san4",
        "zh,read",
    ),
    "translation": (
        "source",
        'source = "zh", target = "en"',
        "早晨,Good morning",
        "zh,en",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_as_csv_writes_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    placeholder, columns, cells, header = KINDS[kind]
    text = TOML.replace("PLACEHOLDER", placeholder).replace("COLUMNS", columns)
    (tmp_path / "benchmark.toml").write_text(
        text.replace("KIND", kind), encoding="utf-8"
    )
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    monkeypatch.setenv("HKCANTO_DATA", "")
    for number, right in {
        "7": "numbered/7",
        " 12": "numbered/12",
        "3a": "",
        "": "",
    }.items():
        (tmp_path / "rows.csv").write_text(
            f"no,{header}\n{number},{cells}\n", encoding="utf-8"
        )
        if right:
            (sample,) = load_task("numbered").samples
            assert sample.id == right
        else:
            with pytest.raises(HKCantoError, match="no number in 'no'"):
                load_task("numbered")
