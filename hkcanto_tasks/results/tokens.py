"""Tokenizers that count tokens, for estimates."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import NetworkUnavailable, OptionError

_BATCH, _TIMEOUT = 1024, 10.0  # texts, seconds
_FILE = "tokenizer.json"

TokenCounter = Callable[[Sequence[str]], Sequence[int]]
"""A tokenizer for counting: texts → the number of tokens of each, without special tokens."""


def load_tokenizer(name: str) -> TokenCounter:
    """Load a tokenizer for counting, without ever running code that comes with it.

    The name is a `tokenizer.json` file, or a folder or a model on the Hugging Face hub that has one
    (needs `tokenizers`).
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise OptionError(
            f"{name} needs tokenizers: pip install tokenizers."
        ) from error
    path = Path(name).expanduser()
    if path.suffix != ".json":
        path = path / _FILE if path.is_dir() else _downloaded(name)
    if not path.is_file():
        how = "make one in transformers: AutoTokenizer.from_pretrained(…).save_pretrained(folder)"
        raise OptionError(
            f"{name} does not exist, or has no {_FILE} in it. Correct it, or {how}."
        )
    try:
        loaded = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises a plain Exception
        raise OptionError(
            f"{path} is not a tokenizer that `tokenizers` reads: {error}."
        ) from error
    loaded.no_truncation()
    loaded.no_padding()

    def count(texts: Sequence[str]) -> Sequence[int]:
        # Batches bound the memory; no tokenizer can encode lone surrogates.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        batches = (
            clean[start : start + _BATCH] for start in range(0, len(clean), _BATCH)
        )
        encoded = (
            loaded.encode_batch_fast(batch, add_special_tokens=False)
            for batch in batches
        )
        return [len(tokens) for batch in encoded for tokens in batch]

    return count


def _downloaded(name: str) -> Path:
    from huggingface_hub import HfApi, hf_hub_download, try_to_load_from_cache

    try:
        if isinstance(cached := try_to_load_from_cache(name, _FILE), str):
            return Path(cached)
        # This single request avoids the retries of a download, which take half a minute offline.
        files = HfApi().model_info(name, timeout=_TIMEOUT).siblings or ()
        is_there = _FILE in [file.rfilename for file in files]
        return Path(hf_hub_download(name, _FILE)) if is_there else Path(name, _FILE)
    except Exception as error:  # OSError, ValueError, or an error of an HTTP library
        why = f"({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        how = "correct the name, unset HF_HUB_OFFLINE, or set HF_TOKEN (gated model) or HF_ENDPOINT"
        what = f"{name} does not exist here and cannot be downloaded {why}"
        raise NetworkUnavailable(f"{what}: {how}.") from error
