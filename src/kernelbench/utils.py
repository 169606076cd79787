"""Small tools of the benchmark's scripts, by upstream's names: files, code blocks in a model's answer, architectures.

Importing it reads no `.env`, opens no connection and patches nothing.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

REPO_TOP_PATH = str(Path(__file__).resolve().parents[2])
NVIDIA_ARCHS = ["Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Hopper", "Ada", "Blackwell"]
AMD_ARCHS = ["gfx942", "gfx950"]

_FENCED = re.compile(r"```(.*?)```", re.DOTALL)
_TAG = re.compile(r"[\w+#.-]*")


def read_file(file_path: str | os.PathLike[str]) -> str:
    """A text file's content; the empty string, with a line on stderr, if it can't be read."""
    try:
        return Path(file_path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{os.fspath(file_path)}: {error}\n")
        return ""


def extract_first_code(output_string: str | None, code_language_types: Sequence[str]) -> str | None:
    """The first fenced block of a text without its fence and language tag; None if there is none."""
    blocks = _blocks(output_string or "", code_language_types)
    return blocks[0] if blocks else None


def extract_last_code(output_string: str | None, code_language_types: Sequence[str]) -> str | None:
    """The last fenced block, likewise."""
    blocks = _blocks(output_string or "", code_language_types)
    return blocks[-1] if blocks else None


def extract_code_blocks(text: str, code_language_types: Sequence[str]) -> str:
    """All fenced blocks, one after the other; the empty string if there is none."""
    return " \n ".join(_blocks(text, code_language_types))


def extract_python_code(text: str) -> str:
    """All blocks that are tagged as Python, one a line after the other; the empty string if there is none."""
    return "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))


def remove_code_block_header(code: str, code_language_type: str) -> str:
    """`code` without that word at its start, if it starts with it."""
    return code[len(code_language_type) :].strip() if code.startswith(code_language_type) else code


def get_gpu_vendor(device: object = None) -> str:
    """`nvidia`, `amd` or `unknown`, by the name of the card (the current one for None); `unknown` without CUDA."""
    import torch  # noqa: PLC0415 - the rest of this module needs none

    from kernelguard.native.devices import gpu_vendor, resolve_device  # noqa: PLC0415

    if not torch.cuda.is_available():
        return "unknown"
    return gpu_vendor(resolve_device(device if isinstance(device, int | str | torch.device) else None))


def set_gpu_arch(arch_list: Sequence[str]) -> None:
    """Name the architectures that extensions are built for, in this process and those it starts.

    Raises ValueError for an unknown name and for NVIDIA and AMD names together. `Hopper` is 9.0, never 9.0a: for `wgmma` set
    `TORCH_CUDA_ARCH_LIST=9.0a` instead.
    """
    known = {"TORCH_CUDA_ARCH_LIST": NVIDIA_ARCHS, "PYTORCH_ROCM_ARCH": AMD_ARCHS}
    for arch in arch_list:
        if arch not in NVIDIA_ARCHS + AMD_ARCHS:
            raise ValueError(f"Invalid architecture: {arch}. Must be one of NVIDIA: {NVIDIA_ARCHS} or AMD: {AMD_ARCHS}")
    named = {variable: [arch for arch in arch_list if arch in names] for variable, names in known.items()}
    if all(named.values()):
        raise ValueError(f"Cannot mix NVIDIA and AMD architectures: {list(arch_list)}")
    os.environ.update({variable: ";".join(archs) for variable, archs in named.items() if archs})


def get_package_resource_path(relative_path: str) -> str:
    """The path of a file in this package, `prompts/model_ex_add.py` for example; FileNotFoundError if there is none."""
    path = Path(__file__).resolve().parent / relative_path
    if not path.exists():
        raise FileNotFoundError(f"Could not find resource: {relative_path}")
    return str(path)


def resolve_path(rel: str) -> str:
    """A path as it is if absolute; `src/kernelbench/...` inside this package wherever it is installed; else inside the checkout.

    Raises FileNotFoundError if a relative path leads nowhere.
    """
    if Path(rel).is_absolute():
        return rel
    if rel.startswith("src/kernelbench/"):
        return get_package_resource_path(rel.removeprefix("src/kernelbench/"))
    path = Path(REPO_TOP_PATH, rel)
    if not path.exists():
        raise FileNotFoundError(f"Could not resolve path: {rel}")
    return str(path)


def _blocks(text: str, languages: Sequence[str]) -> list[str]:
    return [_untagged(block, languages) for block in _FENCED.findall(text)]


def _untagged(block: str, languages: Sequence[str]) -> str:
    """A block without its language tag: a lone word on the fence's own line, or one of `languages` right at the start."""
    first, newline, rest = block.partition("\n")
    if newline and _TAG.fullmatch(first.strip()):
        return rest.strip()
    code = block.strip()
    for language in languages:
        code = remove_code_block_header(code, language)
    return code
