"""Tokenizers that count tokens, for estimates and for lengths in reports."""

from collections.abc import Callable, Sequence, Sized
from functools import partial
from pathlib import Path

from ..errors import HKCantoError, NetworkUnavailable, OptionError

_BATCH, _TIMEOUT = 1024, 10.0  # texts, seconds
_TIKTOKEN, _FILE = "tiktoken:", "tokenizer.json"
_NO_FILE = (
    "{}: it does not exist, or has no " + _FILE + " in it. Correct the name, or make the file: "
    "AutoTokenizer.from_pretrained(…).save_pretrained(folder) in transformers, and give its folder."
)
_Encode = Callable[[Sequence[str]], Sequence[Sized]]

Count = Callable[[Sequence[str]], Sequence[int]]
"""A tokenizer for counting: texts → the number of tokens of each, without special tokens."""


def load_tokenizer(name: str) -> Count:
    """Load a tokenizer for counting, without ever running code that comes with it.

    The name is a `tokenizer.json` file, or a folder or a model on the Hugging Face hub that has one
    (needs `tokenizers`); or `tiktoken:<encoding>` (needs `tiktoken`).
    """
    try:
        count = _tiktoken(name) if name.startswith(_TIKTOKEN) else _tokenizers(name)
    except HKCantoError:
        raise
    except ImportError as error:
        raise OptionError(f"{name} needs {error.name}: pip install {error.name}.") from error
    except Exception as error:  # OSError, ValueError, or an error of an HTTP library
        raise NetworkUnavailable(
            f"{name} does not exist here and cannot be downloaded ({type(error).__name__}: "
            f"{' '.join(str(error).split())[:200]}): correct the name, unset HF_HUB_OFFLINE, set "
            "HF_TOKEN for a gated model, HF_ENDPOINT to a mirror, or TIKTOKEN_CACHE_DIR to a copy."
        ) from error

    def batched(texts: Sequence[str]) -> Sequence[int]:
        # Batches bound the memory; no tokenizer can encode lone surrogates.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        parts = (clean[start : start + _BATCH] for start in range(0, len(clean), _BATCH))
        return [len(tokens) for part in parts for tokens in count(part)]

    return batched


def _tokenizers(name: str) -> _Encode:
    from tokenizers import Tokenizer as Loaded

    path = Path(name).expanduser()
    if path.suffix != ".json" and not path.is_dir():
        path = _downloaded(name)
    file = path / _FILE if path.is_dir() else path
    if not file.is_file():
        raise OptionError(_NO_FILE.format(name))
    try:
        loaded = Loaded.from_file(str(file))
    except Exception as error:  # the library raises a plain Exception
        raise OptionError(f"{file} is not a tokenizer that `tokenizers` reads: {error}.") from error
    loaded.no_truncation()
    loaded.no_padding()
    return partial(loaded.encode_batch_fast, add_special_tokens=False)


def _downloaded(name: str) -> Path:
    from huggingface_hub import HfApi, hf_hub_download, try_to_load_from_cache

    if isinstance(cached := try_to_load_from_cache(name, _FILE), str):
        return Path(cached)
    # This single request avoids the retries of a download, which take half a minute offline.
    files = HfApi().model_info(name, timeout=_TIMEOUT).siblings or ()
    if _FILE not in [each.rfilename for each in files]:
        raise OptionError(_NO_FILE.format(name))
    return Path(hf_hub_download(name, _FILE))


def _tiktoken(name: str) -> _Encode:
    import tiktoken

    encoding, known = name.removeprefix(_TIKTOKEN), tiktoken.list_encoding_names()
    if encoding not in known:
        raise OptionError(f"tiktoken has no encoding {encoding!r}; there are {', '.join(known)}.")
    encode: _Encode = tiktoken.get_encoding(encoding).encode_ordinary_batch
    return encode
