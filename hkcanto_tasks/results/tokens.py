"""Tokenizers that count tokens, for estimates."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import NetworkUnavailable, OptionError

_BATCH = 1024  # texts
_TIMEOUT = 10.0  # seconds
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
    if path.is_dir() and path.suffix != ".json":
        path = path / _FILE
    elif path.suffix != ".json":
        path = _downloaded(name)
    if not path.is_file():
        advice = "make one in transformers: AutoTokenizer.from_pretrained(…).save_pretrained(folder)"
        what = f"{name} does not exist or lacks {_FILE}"
        raise OptionError(f"{what}. Correct it, or {advice}.")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises a plain Exception
        raise OptionError(
            f"{path} is not a tokenizer that `tokenizers` reads: {error}."
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(texts: Sequence[str]) -> Sequence[int]:
        # No tokenizer can encode lone surrogates.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        counts: list[int] = []
        for start in range(0, len(clean), _BATCH):  # batches bound the memory
            batch = clean[start : start + _BATCH]
            encoded = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            counts += map(len, encoded)
        return counts

    return count


def _downloaded(name: str) -> Path:
    from huggingface_hub import HfApi, hf_hub_download, try_to_load_from_cache

    try:
        cached = try_to_load_from_cache(name, _FILE)
        if isinstance(cached, str):
            return Path(cached)
        # This single request avoids the retries of a download, which take half a minute offline.
        files = HfApi().model_info(name, timeout=_TIMEOUT).siblings or ()
        if _FILE not in [file.rfilename for file in files]:
            return Path(name, _FILE)
        return Path(hf_hub_download(name, _FILE))
    except Exception as error:  # OSError, ValueError, or an error of an HTTP library
        cause = f"({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        advice = (
            "correct the name, unset HF_HUB_OFFLINE, "
            "or set HF_TOKEN (gated model) or HF_ENDPOINT"
        )
        what = f"{name} does not exist here and cannot be downloaded {cause}"
        raise NetworkUnavailable(f"{what}: {advice}.") from error
