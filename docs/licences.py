"""Generate `docs/reference/licences.md`, the licences of hkcanto's dependencies, with pip-licenses.

    python docs/licences.py

Run it in an environment with all extras, `pip install -e ".[dev,evaluate,g2p,report]"`; a package
that is not installed needs an entry in `REMARKS`. A test fails when a direct dependency's row is
stale.
"""

import json
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "reference" / "licences.md"
CORE, DEVELOPMENT = "core", ("dev", "docs", "e2e")
UNKNOWN = "UNKNOWN"

# Additions to pip-licenses' table: licences missing from the metadata, and remarks.
REMARKS = {
    "agent-client-protocol": (
        "Apache-2.0",
        "The metadata names no licence; the wheel contains the licence text, read on 2026-11-22.",
    ),
    "cantonesedetect": (
        "MIT",
        "The metadata lacks a licence and a home page. The licence is from `LICENSE` in the "
        "repository <https://github.com/CanCLID/cantonesedetect> (commit bbfb132) and in the "
        "wheel, read on 2026-11-22.",
    ),
    "numpy": (
        "",
        "The Linux wheels of `numpy` and `scipy` contain GCC's runtime libraries (GPL-3.0-or-later "
        "WITH GCC-exception-3.1); the exception lets programs under any licence use them.",
    ),
    "pycantonese": (
        "",
        "The wheel contains data sets under their own terms, each with its licence text: HKCanCor "
        "and rime-cantonese (CC-BY-4.0), Common Voice sentences (MPL-2.0), CTCPC (CC0-1.0) and "
        "**CantoMap (GPL-3.0)**. hkcanto uses the package to convert characters and find "
        "words, and never opens CantoMap (`pycantonese.cantomap()`). If you redistribute "
        "`pycantonese`, in a container for example, you also redistribute CantoMap under the GPL.",
    ),
    "ray": (
        "Apache-2.0",
        "Not installed for this table; the licence is from its metadata and `LICENSE.txt` in the "
        "wheel, read on 2026-11-23 (<https://github.com/ray-project/ray>).",
    ),
    "tojyutping": (
        "BSD-2-Clause",
        "The metadata lacks a licence. The licence is from `LICENSE` in the repository (commit "
        "bd0ecd8, version 3.2.0) and in the wheel, read on 2026-11-22. At first the licence was "
        "MIT, then CC-BY-4.0 until 2024-07-17.",
    ),
    "vllm": (
        "Apache-2.0",
        "Not installed for this table; the licence is from its newest wheel, read on 2026-11-22 "
        "(<https://github.com/vllm-project/vllm>). It brings PyTorch and, on Linux, CUDA libraries "
        "under NVIDIA's own terms.",
    ),
}


def direct() -> dict[str, list[str]]:
    """Return users' direct dependencies and the extras that name each.

    Examples:
        >>> direct()["tojyutping"], direct()["numpy"]
        (['g2p'], ['core'])
    """
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    lists = {CORE: project["dependencies"], **project["optional-dependencies"]}
    named: dict[str, list[str]] = {}
    for extra in (each for each in lists if each not in DEVELOPMENT):
        for requirement in map(Requirement, lists[extra]):
            if requirement.name != project["name"]:
                named.setdefault(canonicalize_name(requirement.name), []).append(extra)
    return dict(sorted(named.items()))


def brought() -> set[str]:
    """Return the installed packages that the direct dependencies require, also indirectly."""
    seen, waiting = set[tuple[str, str]](), [(name, "") for name in direct()]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            lines = requires(name) or []
        except PackageNotFoundError:
            continue
        for each in map(Requirement, lines):
            if each.marker is None or each.marker.evaluate({"extra": extra}):
                waiting += [
                    (canonicalize_name(each.name), more) for more in ("", *each.extras)
                ]
    return {name for name, _ in seen} - direct().keys()


def licences() -> dict[str, dict[str, Any]]:
    """Return the `Name`, `License` and `URL` that pip-licenses finds for each package."""
    command = [
        sys.executable,
        "-m",
        "piplicenses",
        "--format=json",
        "--with-urls",
        "--with-system",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = {canonicalize_name(each["Name"]): each for each in json.loads(done.stdout)}
    for name, (licence, _) in REMARKS.items():
        row = rows.setdefault(name, {"Name": name, "License": UNKNOWN, "URL": UNKNOWN})
        row["License"] = licence if row["License"] == UNKNOWN else row["License"]
    for row in rows.values():
        row["License"] = row["License"].partition("\n")[
            0
        ]  # some metadata holds the whole text
        row["URL"] = "" if row["URL"] == UNKNOWN else row["URL"]
    return rows


def page() -> str:
    """Return the page, in Markdown."""
    known, extras = licences(), direct()
    others = sorted(name for name in brought() if name in known)
    return "\n".join(
        [
            "<!-- Made by `python docs/licences.py`; do not edit. -->\n",
            "# Licences of dependencies\n",
            "hkcanto is under the Apache License 2.0 and contains none of these packages: `pip` "
            "installs them beside it, each under its own licence. The tables list the licences "
            "that pip-licenses reads in the packages' metadata. They are not legal advice. For the "
            "licences of data sets, see "
            "[NOTICE](https://github.com/hkcanto/hkcanto/blob/main/NOTICE).\n",
            f"hkcanto without extras installs the packages marked `{CORE}`; extras install the "
            "others.\n",
            "| package | extras | licence | home page |\n|---|---|---|---|",
            *(
                f"| `{known[name]['Name']}` | {', '.join(extras[name])} | {known[name]['License']} "
                f"| {known[name]['URL']} |"
                for name in extras
            ),
            "\n## Remarks\n",
            *(f"* `{name}`: {remark}" for name, (_, remark) in REMARKS.items()),
            "* MPL and LGPL: a program under any licence may use and import such packages without "
            "obligations. If you distribute a changed copy of such a package's files, you must "
            "distribute its source too. None of the packages on this page is under the GPL or "
            "AGPL alone.",
            f"\n## {len(others)} indirect dependencies\n",
            "These packages were installed on Linux when the table was made. The dependencies of "
            "`vllm` are not among them.\n",
            "| package | licence |\n|---|---|",
            *(
                f"| `{known[name]['Name']}` | {known[name]['License']} |"
                for name in others
            ),
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
