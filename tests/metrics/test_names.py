"""Type checkers see the same names as the package has."""

import ast
from pathlib import Path

import hkcanto_metrics


def test_the_stub_has_the_names_of_the_package() -> None:
    stub = (
        Path(hkcanto_metrics.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    )
    imported = [
        node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)
    ]
    homes = {name.asname: node.module for node in imported for name in node.names}
    assert sorted(hkcanto_metrics.__all__) == sorted(map(str, homes))
    for name, home in homes.items():
        assert getattr(hkcanto_metrics, str(name)).__module__ == home
