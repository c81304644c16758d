"""The table of licences is fresh, as far as what it names is installed here."""

import doctest
import re
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from .scripts import REPOSITORY, load_script

licences = load_script("docs/licences.py")
AGAIN = "run `python docs/licences.py`"


def kept() -> dict[str, list[str]]:
    """The rows of the direct dependencies on the page."""
    table = licences.PAGE.read_text("utf-8").partition("direct dependencies\n")[2]
    rows = re.findall(r"^\| `(.+?)` \| (.*) \|$", table.partition("\n## ")[0], re.M)
    return {name: cells.split(" | ") for name, cells in rows}


def test_every_direct_dependency_has_a_row() -> None:
    named = {written: ", ".join(extras) for written, extras in licences.direct().values()}
    assert {name: cells[0] for name, cells in kept().items()} == named, AGAIN


def test_the_licences_are_fresh() -> None:
    rows = kept()
    for name, row in licences.rows().items():
        # Where it was read changes with releases that say the same in another field.
        if licences.installed(name) or name in licences.FOUND:
            assert rows[row.package][1] == row.licence, f"{name}: {AGAIN}"


def test_every_licence_is_known_and_no_version_is_told() -> None:
    text = licences.PAGE.read_text("utf-8")
    assert f"| {licences.UNKNOWN} |" not in text
    assert all(cells[1] for cells in kept().values())
    table = text.partition("## Where")[0]
    assert not re.search(r"\b\d+\.\d+\.\d+\b", table)
    assert str(REPOSITORY) not in text


def test_what_was_found_is_still_needed() -> None:
    assert licences.FOUND.keys() <= licences.direct().keys()
    assert licences.HOMES.keys() <= licences.direct().keys()
    for name, found in licences.FOUND.items():
        of = licences.installed(name)
        if of:
            assert not of.metadata.get_all("License-Expression") or name == "vllm"
            assert licences.licence(of)[0] == found.licence


class Package(Distribution):
    """A package with some metadata and files."""

    def __init__(self, folder: Path, metadata: str) -> None:
        self.folder = folder / "made-1.dist-info"
        self.folder.mkdir()
        self.written = f"Metadata-Version: 2.4\nName: made\nVersion: 1\n{metadata}\n"

    def read_text(self, filename: str) -> str | None:
        if filename == "RECORD":
            return "".join(f"{self.folder.name}/{path.name},,\n" for path in self.folder.iterdir())
        return self.written if filename == "METADATA" else None

    def locate_file(self, path: object) -> Path:
        return self.folder.parent / str(path)


CLASSIFIER = "Classifier: License :: OSI Approved :: "
TERMS = "Redistribution and use in source and binary forms, with or without modification"


@pytest.mark.parametrize(
    ("metadata", "text", "expected"),
    [
        ("License-Expression: mit", "", ("MIT", "`License-Expression`")),
        ("License: Apache 2.0", "", ("Apache-2.0", "`License`")),
        (f"License: UNKNOWN\n{CLASSIFIER}MIT License", "", ("MIT", "classifier")),
        (
            f"License: Dual License\n{CLASSIFIER}BSD License\n{CLASSIFIER}Apache Software License",
            "",
            ("Apache-2.0 / BSD", "classifier"),
        ),
        (f"{CLASSIFIER}BSD License", TERMS, ("BSD-2-Clause", "text in the wheel")),
        (
            f"{CLASSIFIER}BSD License",
            f"{TERMS}\nNeither the name of",
            ("BSD-3-Clause", "text in the wheel"),
        ),
        (f"{CLASSIFIER}BSD License", "", ("BSD", "metadata")),
        ("", "GNU GENERAL\nPUBLIC LICENSE", ("GPL", "text in the wheel")),
        ("", "All rights reserved.", ("unknown", "")),
    ],
)
def test_where_a_licence_is_read(
    metadata: str, text: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    package = Package(tmp_path, metadata)
    if text:
        (package.folder / "LICENSE").write_text(text, encoding="utf-8")
    assert licences.licence(package) == expected


def test_copyleft_is_told() -> None:
    assert licences.COPYLEFT.search("MPL-2.0 AND (Apache-2.0 OR MIT)")
    assert licences.COPYLEFT.search("AGPL-3.0-only")
    assert not licences.COPYLEFT.search("MIT-CMU")
    table = licences.PAGE.read_text("utf-8").partition("## Copyleft")[2]
    for name, cells in kept().items():
        if licences.COPYLEFT.search(cells[1]):
            assert f"| `{name}` |" in table


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(licences).failed == 0
