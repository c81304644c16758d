"""The table of licences is fresh for the packages that are installed here."""

import doctest
import re

import pytest
from packaging.utils import canonicalize_name

from .scripts import REPOSITORY, load_script

licences = load_script("docs/licences.py")
AGAIN = "run `python docs/licences.py`"
TEXT = licences.PAGE.read_text("utf-8")
ROWS = {
    canonicalize_name(name): cells.split(" | ")
    for name, cells in re.findall(r"^\| `(.+?)` \| (.*) \|$", TEXT, re.M)
}


def test_every_direct_dependency_has_a_row() -> None:
    named = {name: ", ".join(extras) for name, extras in licences.direct().items()}
    assert {name: row[0] for name, row in ROWS.items() if len(row) == 3} == named, AGAIN


def test_the_licences_are_fresh() -> None:
    pytest.importorskip("piplicenses")
    for name, found in licences.licences().items():
        if name in licences.direct():
            assert ROWS[name][1] == found["License"], f"{name}: {AGAIN}"


def test_every_licence_is_known_and_no_version_or_path_is_told() -> None:
    assert licences.UNKNOWN not in TEXT
    assert not re.search(r"\b\d+\.\d+\.\d+\b", TEXT.partition("## Remarks")[0])
    assert str(REPOSITORY) not in TEXT


def test_nothing_is_under_the_gpl() -> None:
    """Lesser licences are accepted: they impose no obligations for importing a library."""
    for name, row in ROWS.items():
        assert not re.search(r"\bA?GPL|(?<!Lesser) General Public", " ".join(row)), name


def test_remarks_are_on_packages_of_the_page() -> None:
    assert licences.REMARKS.keys() <= ROWS.keys()


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(licences).failed == 0
