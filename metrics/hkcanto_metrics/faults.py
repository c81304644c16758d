"""Say in plain words what msgspec finds wrong with a record that a person wrote or logged."""

import json
import re

_TYPES = {
    "object": "an object",
    "array": "a list",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
}
_PARTS = {"array": "entries", "object": "keys", "str": "characters"}
_LIMITS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
# The form of each message of msgspec, and what is said instead, after the place.
_FORMS = (
    (r"Object missing required field `(?P<name>.+)`", "lacks {name}"),
    (r"Object contains unknown field `(?P<name>.+)`", "has an unknown key {name}"),
    (r"Invalid enum value (?P<name>.+)", "cannot be {name}"),
    (r"Expected `\w+` matching regex (?P<name>.+)", "has to match {name}{value}"),
    (
        r"Expected `\w+` (?P<limit>[<>]=?) (?P<name>\S+)",
        "has to be {limit} {name}{value}",
    ),
    (
        r"Expected `(?P<part>\w+)` of (at least |at most )?length (?P<limit>[<>]=?)? ?(?P<name>.+)",
        "has to have {limit} {name} {part}{value}",
    ),
    (
        r"Expected `(?P<expected>.+)`, got `(?P<given>.+)`",
        "is {given}{value}, not {expected}",
    ),
)
_UNKNOWN = object()
_LONGEST = 60


def in_words(
    problem: object,
    record: object = _UNKNOWN,
    place: str = "",
) -> str:
    """Return a validation error of msgspec in plain words.

    Args:
        problem: The error, or its message.
        record: The record that was read, to show its wrong value; by default no value is shown.
        place: The place of that record in its file: "prompts.plain".

    Examples:
        >>> in_words("Expected `object`, got `int` - at `$.config`")
        'config is a whole number, not an object'
        >>> in_words("Expected `int`, got `str` - at `$[1].rows`", [{}, {"rows": "9"}], "subjects")
        'subjects no. 2, rows is a text ("9"), not a whole number'
        >>> in_words("Object missing required field `results`")
        'it lacks results'
        >>> in_words("Invalid enum value 'hk' - at `$.script`")
        "script cannot be 'hk'"
        >>> in_words("Expected `int` >= 0 - at `$.shuffle`", {"shuffle": -1})
        'shuffle has to be at least 0 (it is -1)'
        >>> in_words("Expected `array` of length >= 1 - at `$.columns`")
        'columns has to have at least 1 entries'
    """
    message, _, inner = str(problem).partition(" - at `")
    of_key = inner.startswith("key` in `")
    inner = inner.removeprefix("key` in `").strip("$`")
    where = _place(f"{place}{inner}")
    subject = f"a key of {where or 'it'}" if of_key else where or "it"
    value = "" if of_key else _value(record, inner)
    for form, said in _FORMS:
        found = re.fullmatch(form, message)
        if found:
            return f"{subject} {_said(said, found.groupdict(), value)}"
    return f"{where}: {message}" if where else message


def _said(
    form: str,
    words: dict[str, str | None],
    value: str,
) -> str:
    """Fill in what a message says."""
    value = f"it is {value}" if value and "given" not in words else value
    filled_in = {
        "name": words.get("name"),
        "limit": _LIMITS.get(words.get("limit") or "", ""),
        "part": _PARTS.get(words.get("part") or ""),
        "given": _types(words.get("given") or ""),
        "expected": _types(words.get("expected") or ""),
        "value": f" ({value})" if value else "",
    }
    return " ".join(form.format(**filled_in).split())


def _types(names: str) -> str:
    return " or ".join(_TYPES.get(name, name) for name in names.split(" | "))


def _place(path: str) -> str:
    """Return a path as a person says it: numbers count from 1."""
    numbered = re.sub(r"\[(\d+)\]", lambda index: f" no. {int(index[1]) + 1},", path)
    return (
        numbered.replace("[...]", ", one of its values,")
        .replace(",.", ", ")
        .strip(" .,")
    )


def _value(record: object, path: str) -> str:
    """Return the value at a path as JSON; empty if it is unknown, or shown by its type alone."""
    for index, key in re.findall(r"\[(\d+|\.\.\.)\]|\.([^.\[]+)", path):
        if isinstance(record, dict) and key in record:
            record = record[key]
        elif isinstance(record, list | tuple) and index.isdecimal():
            record = record[int(index)]
        else:
            return ""
    if record is _UNKNOWN or isinstance(record, dict):
        return ""
    text = json.dumps(record, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
