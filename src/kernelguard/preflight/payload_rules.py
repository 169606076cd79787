"""Rules about code that can't be read: built, decoded, loaded or hidden."""

import ast
import re
from collections.abc import Iterator

from kernelguard.preflight.externals import DECODERS, LOADERS
from kernelguard.preflight.framework_rules import VENDOR_LIBRARY
from kernelguard.preflight.kinds import Tag
from kernelguard.preflight.rule import INFO, WARNING, Rule, Sighting, Watch, free_call, sighted, uses_of
from kernelguard.preflight.source import Facts
from kernelguard.preflight.uses import Role, Use
from kernelguard.preflight.vocabulary import words
from kernelguard.terms.policy import Policy, Rules

MAX_OPAQUE = 2048  # characters or bytes of one literal without the shape of text
MAX_BYTE_LIST = 512  # numbers in a list that is turned into bytes
MAX_INTEGER_BITS = 4096
_MAGIC = (b"\x7fELF", b"PK\x03\x04", b"\x1f\x8b", b"\x50\xed\x55\xba", b"\xfd7zXZ", b"BZh", b"\xcf\xfa\xed\xfe")
_READABLE = words("utf-8 utf8 utf-8-sig ascii us-ascii")
_BACKENDS_WITH_LIBRARIES = words("cpp c c++ cuda hip rocm thunderkittens tk cute cutlass")
_LIBRARY_NAME = re.compile(r"^(?:.*/)?lib[\w+.-]*\.so")
_LOADING = Watch(
    names=LOADERS
    | words(
        """
        ctypes.windll ctypes.pythonapi ctypes.util.find_library ctypes.cdll ctypes.pydll cffi _ctypes torch.ops.load_library
        torch.classes.load_library cuda.bindings pycuda
        """
    ),
    roles=frozenset({Role.CALL, Role.READ, Role.IMPORT}),
    native=re.compile(
        free_call(r"dlopen|dlsym|dlmopen|cu(?:Module|Library)Load\w*|cudaLibraryLoad\w*|hipModuleLoad\w*|nvrtc\w+").pattern
        + r"|\bPyRun_\w+|\bPyImport_\w+|\bpy::(?:exec|eval)\b|\bpy(?:bind11)?::module_?::import\b"
    ),
)


def _loaded(facts: Facts, policy: Policy) -> Iterator[Sighting]:
    """Compiled libraries: the candidate's own build is noted, everything else refused; a named one is allowed under practical."""
    for use in uses_of(facts, _LOADING):
        if use.name not in LOADERS and use.name.startswith(tuple(f"{loader}." for loader in LOADERS)):
            continue  # a function of a library, whose loading was seen
        named = use.name in LOADERS and use.role is Role.CALL
        own = named and facts.backend.lower() in _BACKENDS_WITH_LIBRARIES and _is_own_build(facts, use)
        tool = policy.rules is Rules.PRACTICAL and named and any(_LIBRARY_NAME.match(text) for text in _shown(facts, use))
        yield sighted(facts, use, INFO if own or tool or use.name == "ctypes" else None)
    yield from Watch(native=_LOADING.native)(facts, policy)


def _shown(facts: Facts, use: Use) -> list[str]:
    return [facts.texts[int(kind.name)].value for kind in use.given.kinds if kind.tag is Tag.TEXT]


def _is_own_build(facts: Facts, use: Use) -> bool:
    """Whether a library's path leads to what the file had compiled: below a folder of its own, and to no vendor's library."""
    shown = _shown(facts, use)
    inside = any(kind.tag in (Tag.EXTENSION, Tag.SETTING) for kind in use.given.kinds)
    return inside and not any(VENDOR_LIBRARY.search(text) or ".." in text.split("/") for text in shown)


def _unreadable_native(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """A compile call whose source the file does not show."""
    for extension in facts.extensions:
        if not extension.whole.parts or extension.decoded:
            yield Sighting(construct=extension.compiler, place=facts.place(extension.node))


def _opaque_literals(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Long literals with no shape of text, files of machine code, long lists of numbers turned into bytes."""
    for scope in facts.program.scopes:
        for node in scope.nodes:
            if isinstance(node, ast.Constant) and _is_opaque(node.value):
                yield Sighting(construct=f"a literal of type {type(node.value).__name__}", place=facts.place(node))
    for use in facts.uses:
        arguments = use.node.args if isinstance(use.node, ast.Call) and use.name in {"bytes", "bytearray"} else []
        if any(isinstance(argument, ast.List | ast.Tuple) and len(argument.elts) > MAX_BYTE_LIST for argument in arguments):
            yield sighted(facts, use)


def _is_opaque(value: object) -> bool:
    match value:
        case bytes():
            return value.startswith(_MAGIC) or len(value) > MAX_OPAQUE
        case str():
            return len(value) > MAX_OPAQUE and len(value.split()) * 200 < len(value)
        case int():
            return value.bit_length() > MAX_INTEGER_BITS
        case _:
            return False


def _dynamic_names(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Names of modules or of their members that no constant shows."""
    for use in facts.uses:
        if use.role is not Role.CALL:
            continue
        imports = use.name in {"__import__", "importlib.import_module"} and use.given.text is None
        module = any(kind.tag is Tag.NAME and kind.name.split(".")[0] == "torch" for kind in use.given.kinds)
        looks_up = use.name == "getattr" and module and len(use.given.texts) > 1 and use.given.texts[1] is None
        if imports or looks_up:
            yield sighted(facts, use)


def _encoding(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """A declared encoding under which Python would read other text than preflight does."""
    if facts.encoding not in _READABLE:
        yield Sighting(construct=f"encoding {facts.encoding[:40]}", place=facts.place_of_line(1))


PAYLOAD_RULES = (
    Rule(
        name="built_code",
        code="RH-13",
        says="runs code that is built while it runs",
        honest="model.eval(), re.compile, cute.compile",
        gets_past="templates of CUDA source, which are read as far as the file shows them",
        check=Watch(
            names=words(
                """
                exec eval compile types.FunctionType types.CodeType types.LambdaType code.InteractiveInterpreter runpy imp
                zipimport importlib.util.spec_from_file_location importlib.util.module_from_spec
                importlib.util.spec_from_loader importlib.machinery importlib.reload
                """
            )
        ),
    ),
    Rule(
        name="decoded_payload",
        code="RH-13",
        says="decodes an embedded payload",
        honest="struct, int.from_bytes, float.fromhex, lists of numbers",
        gets_past="a decoder that the candidate writes itself",
        check=Watch(names=DECODERS | words("uu quopri"), roles=frozenset({Role.CALL, Role.READ})),
    ),
    Rule(
        name="pickle",
        code="RH-13",
        says="loads objects that bring code with them",
        honest="load_state_dict of what the program made itself",
        gets_past="formats that are not listed",
        check=Watch(
            names=words(
                """
                pickle cPickle _pickle dill cloudpickle marshal joblib.load torch.load torch.jit.load torch.package
                torch.export.load
                """
            )
        ),
    ),
    Rule(
        name="foreign_library",
        code="RH-13",
        says="loads compiled code that the file does not show",
        honest="ctypes.CDLL of what a compiler built at import below a temporary folder or the build folder, ctypes.c_void_p",
        gets_past="a library that native code loads by itself",
        check=_loaded,
    ),
    Rule(
        name="raw_memory",
        code="RH-12",
        says="reads or writes memory by its address",
        honest="passing data_ptr() to a kernel, ctypes.byref, ctypes arrays",
        gets_past="arithmetic on addresses in native code, which looks like any indexing",
        check=Watch(
            names=words(
                """
                ctypes.memmove ctypes.memset ctypes.string_at ctypes.wstring_at ctypes.py_object ctypes.CFUNCTYPE
                ctypes.PYFUNCTYPE *.from_address
                """
            )
        ),
        strict=WARNING,
        practical=WARNING,
    ),
    Rule(
        name="unreadable_native",
        code="RH-13",
        says="compiles source that the file does not show",
        honest="templates with placeholders",
        gets_past="a text that is shown and not the one that is compiled",
        check=_unreadable_native,
    ),
    Rule(
        name="opaque_literal",
        code="RH-13",
        says="holds data that nobody can read",
        honest=f"CUDA source of any length, tables of numbers, literals up to {MAX_OPAQUE} bytes",
        gets_past="data spread over many short literals",
        check=_opaque_literals,
    ),
    Rule(
        name="dynamic_name",
        code="RH-13",
        says="looks up a name that the file does not show",
        honest='getattr(torch, "float8_e4m3fn", None), getattr(self, name)',
        gets_past="other ways to build a name",
        check=_dynamic_names,
        practical=INFO,
    ),
    Rule(
        name="encoding",
        code="RH-13",
        says="is declared, which Python would decode differently from what was read here",
        honest="utf-8 and ascii",
        gets_past="nothing: the text that is judged is the text that is run",
        check=_encoding,
    ),
)
