"""The real release, and a cache that is filled from a local server."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .quiz import quiz as quiz
from .web_server import WebServer


@pytest.fixture
def server() -> Iterator[WebServer]:
    """A server with nothing to serve yet."""
    running = WebServer()
    yield running
    running.close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: WebServer) -> Path:
    """An empty cache; downloads are allowed, and go to the local server."""
    for variable in (
        "HKCANTO_DATA",
        "HKCANTO_DATA_DIR",
        "HKCANTO_OFFLINE",
        "HF_HUB_OFFLINE",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HKCANTO_GITHUB_ENDPOINT", server.url)
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    # huggingface_hub reads these once, at its import.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hf"))
    return tmp_path / "cache"


@pytest.fixture
def hkeval2025() -> Path:
    """The real release, for tests marked `realdata`."""
    return Path(os.environ["HKCANTO_DATA_DIR"]) / "hkeval2025"
