"""Faults that msgspec finds, in words."""

from typing import Any

import msgspec
import pytest

from hkcanto_metrics.faults import in_words


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    title: str = ""
    shots: int = 0
    names: list[str] = []


def fault(record: Any) -> str:
    with pytest.raises(msgspec.ValidationError) as problem:
        msgspec.convert(record, Entry)
    return in_words(problem.value, record)


def test_a_value_is_shown_as_it_is_written() -> None:
    assert fault({"shots": "五"}) == 'shots is a text ("五"), not a whole number'
    assert fault({"names": ["a", 7]}).startswith("names no. 2 is a whole number (7)")


def test_a_long_value_is_cut() -> None:
    text = fault({"shots": "五" * 300})
    assert text.count("五") < 300
    assert "五…" in text or "…" in text
