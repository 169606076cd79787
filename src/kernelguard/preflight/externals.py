"""What a call to a name from outside the file gives back, as far as the rules care.

Gets past: a function that is not listed here and hands its argument through in a shape that this file does not foresee.
"""

import re
from collections.abc import Callable

from kernelguard.preflight.kinds import IDENTITY, INPUT, NOTHING, PLAIN, Kind, Kinds, Tag, box, derived_tensor, one, only, unbox
from kernelguard.preflight.vocabulary import DESCRIBING, SAMPLING, is_layer, words

# Calls that turn source text into native code.
COMPILERS = frozenset(
    {
        "torch.utils.cpp_extension.load_inline",
        "torch.utils.cpp_extension.load",
        "torch.cuda._compile_kernel",
        "cupy.RawKernel",
        "cupy.RawModule",
    }
)
# Calls that load native code from a path: the code is what the file shows and can have had compiled.
LOADERS = words("ctypes.CDLL ctypes.PyDLL ctypes.cdll.LoadLibrary ctypes.pydll.LoadLibrary")
# Calls that give a folder or file below the worker's own TMPDIR.
_TEMPORARY = words(
    """
    tempfile.mkdtemp tempfile.mkstemp tempfile.gettempdir tempfile.mktemp tempfile.TemporaryDirectory
    tempfile.NamedTemporaryFile tempfile.TemporaryFile
    """
)
# Decorators (or functions) that make a device function, and the language it is written in.
KERNEL_MAKERS = {
    "triton.jit": "triton",
    "triton.runtime.jit.jit": "triton",
    "triton.runtime.jit": "triton",
    "triton.experimental.gluon.jit": "triton",
    "cutlass.cute.kernel": "cute",
    "tilelang.jit": "tilelang",
    "tilelang.autotune": "tilelang",
    "tilelang.language.prim_func": "tilelang",
    "tvm.script.tir.prim_func": "tilelang",
    "tvm.script.ir_builder.prim_func": "tilelang",
}
HOST_JITS = frozenset({"cutlass.cute.jit"})  # compiled host code of a kernel language: it launches, and computes nothing in torch
DECODERS = words(
    """
    base64.b64decode base64.b32decode base64.b16decode base64.b85decode base64.a85decode base64.standard_b64decode
    base64.urlsafe_b64decode base64.decodebytes base64.decode binascii.unhexlify binascii.a2b_base64 binascii.a2b_hex
    binascii.a2b_uu codecs.decode zlib.decompress zlib.decompressobj gzip.decompress gzip.GzipFile bz2.decompress
    bz2.BZ2Decompressor lzma.decompress lzma.LZMADecompressor bytes.fromhex bytearray.fromhex marshal.loads pickle.loads
    zipfile.ZipFile tarfile.open quopri.decodestring
    """
)
_CONTAINERS = words("list tuple set frozenset dict sorted reversed zip enumerate iter map filter collections.deque")
_READERS = frozenset({"int", "float", "str", "bytes", "repr", "bool", "complex"})
_IDENTIFIERS = frozenset({"id", "hash"})
_NUMBERS = frozenset({"len", "range", "round", "ord", "divmod", "isinstance", "hasattr", "callable", "type", "slice"})
_CURRENT_STREAM = re.compile(r"torch\.cuda\.(?:current|default)_stream")
_HANDED_ON = (
    *(Tag.TEXT, Tag.DECODED, Tag.SETTING),
    *(Tag.FUNCTION, Tag.METHOD, Tag.INSTANCE, Tag.KERNEL, Tag.LAUNCHER, Tag.EXTENSION, Tag.NATIVE),
)
_TORCH_NUMBERS = words("numel is_tensor finfo iinfo device dtype Size get_device typename promote_types result_type")


def handed_on(given: Kinds) -> Kinds:
    """What an unknown function may return of its arguments: texts, functions, kernels and compiled code, whatever wraps them."""
    return only(given, *_HANDED_ON)


def result_of(name: str, receiver: Kinds, given: Kinds) -> Kinds:
    """The kinds that calling `name` gives, from the kinds of the object it is a method of and of all its arguments."""
    if name.startswith("torch."):
        return _torch_result(name, receiver, given)
    if name in _BY_NAME:
        return _BY_NAME[name](given)
    if name.startswith("numpy."):
        return derived_tensor(given) if only(given, Tag.TENSOR) else NOTHING
    return _made_object(name) | handed_on(given)


def _torch_result(name: str, receiver: Kinds, given: Kinds) -> Kinds:
    last = name.rsplit(".", 1)[1]
    if name.startswith("torch.Tensor."):
        return _method_result(last.strip("_"), receiver, given)
    if _CURRENT_STREAM.match(name):
        return one(Tag.OBJECT, name)
    if is_layer(name):
        return one(Tag.LAYER, name) | box(given)
    if name.startswith(("torch.cuda.", "torch.utils.", "torch.backends.", "torch.autograd.", "torch.library.", "torch.compile")):
        return _made_object(name) | handed_on(given)
    if last in _TORCH_NUMBERS:
        return PLAIN
    return derived_tensor(given) | (handed_on(given) - only(given, Tag.TEXT))


def _method_result(method: str, receiver: Kinds, given: Kinds) -> Kinds:
    if method in SAMPLING and receiver >= INPUT:
        return IDENTITY
    if method in DESCRIBING:
        return PLAIN
    result = derived_tensor(receiver | given)
    return box(result) if method in {"chunk", "split", "unbind", "tensor_split"} else result


def _made_object(name: str) -> Kinds:
    if name.startswith("pathlib.Path."):
        return one(Tag.OBJECT, "pathlib.Path")
    last = name.rsplit(".", 1)[-1]
    return one(Tag.OBJECT, name) if last[:1].isupper() else NOTHING


def _read_out(given: Kinds) -> Kinds:
    return IDENTITY if given >= INPUT or only(given, Tag.IDENTITY) else PLAIN | only(given, Tag.TEXT, Tag.DECODED, Tag.SETTING)


def _identified(given: Kinds) -> Kinds:
    return IDENTITY if Kind(Tag.TENSOR, "input") in given | unbox(given) or only(given, Tag.IDENTITY) else PLAIN


def _extreme(given: Kinds) -> Kinds:
    return unbox(given) | frozenset(kind for kind in given if not kind.boxed)


def _absolute(given: Kinds) -> Kinds:
    if only(given, Tag.TENSOR):
        return derived_tensor(given)
    return IDENTITY if only(given, Tag.IDENTITY) else PLAIN


_BY_NAME: dict[str, Callable[[Kinds], Kinds]] = {
    **dict.fromkeys(_CONTAINERS, box),
    **dict.fromkeys(_READERS, _read_out),
    **dict.fromkeys(_IDENTIFIERS, _identified),
    **dict.fromkeys(_NUMBERS, lambda _: PLAIN),
    **dict.fromkeys(DECODERS, lambda _: one(Tag.DECODED)),
    **dict.fromkeys(_TEMPORARY, lambda _: one(Tag.SETTING, "TMPDIR")),
    "next": unbox,
    "min": _extreme,
    "max": _extreme,
    "abs": _absolute,
    "pow": _absolute,
    "sum": _absolute,
}
