"""Facts about models besides their results: size, open weights, a link (`models.toml`)."""

import re
import tomllib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import msgspec

from ...errors import OptionError, on_disk

FILE = "models.toml"
UNKNOWN = "unknown"

_BILLIONS = re.compile(r"(?:(\d+)x)?(\d+(?:\.\d+)?)([BM])(?![A-Za-z0-9])", re.IGNORECASE)
_CLASSES = ((3.0, "up to 3B"), (10.0, "3B to 10B"), (40.0, "10B to 40B"))
_LARGEST = "above 40B"


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `models.toml`.

    Attributes:
        size: The size, such as `7B`, `270M` or `8x7B`; needed if the model's name lacks it.
        open: Whether anyone can load the weights.
        link: The address of the model's page.
    """

    size: Annotated[str, msgspec.Meta(pattern=r"^(\d+x)?\d+(\.\d+)?[BM]$")] = ""
    open: bool | None = None
    link: Annotated[str, msgspec.Meta(pattern=r"^(https?://\S+)?$")] = ""


def read_models(folder: Path) -> Mapping[str, Model]:
    """Return the entries of the `models.toml` in a folder, by the models' names.

    Raises:
        OptionError: It is not TOML, or has an invalid entry.
        DataNotFound: It cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    with on_disk(path):
        text = path.read_bytes()
    try:
        return msgspec.convert(tomllib.loads(text.decode()), dict[str, Model])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise OptionError(
            f'{path}: {error}. An entry is ["ORGANISATION/NAME"] with size = "7B", open = true and '
            'link = "https://…".'
        ) from error


def size_class(name: str, model: Model) -> str:
    """Return a model's size class, from its entry or its name.

    Examples:
        >>> size_class("org/tuned-7b-chat", Model()), size_class("org/8x7B", Model())
        ('3B to 10B', 'above 40B')
        >>> size_class("GPT-4o", Model()), size_class("GPT-4o", Model(size="270M"))
        ('unknown', 'up to 3B')
    """
    found = _BILLIONS.search(model.size or name)
    if not found:
        return UNKNOWN
    billions = float(found[2]) * int(found[1] or 1) / (1000 if found[3] in "mM" else 1)
    return next((title for most, title in _CLASSES if billions <= most), _LARGEST)


def openness(model: Model, availability: str) -> str:
    """Return `open`, `closed` or `unknown`: a model's entry comes before its record."""
    known = {"open_weights": "open", "closed_weights": "closed"}
    if model.open is None:
        return known.get(availability, UNKNOWN)
    return "open" if model.open else "closed"


def slug(name: str) -> str:
    """Return a unique file name for a model's name, safe on every system and server.

    Examples:
        >>> slug("org/model-7b"), slug("Qwen2 72B")
        ('org--model-7b', 'qwen2-72b-eb9c0e')
    """
    plain = re.sub(r"[^a-z0-9._-]+", "-", name.lower().replace("/", "--")).strip("-.")[:80]
    if plain.replace("--", "/") == name:
        return plain
    return f"{plain}-{sha256(name.encode()).hexdigest()[:6]}"
