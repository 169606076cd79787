"""The table of rules over uses of outside names: what is used how, which code it breaks, and where it holds."""

from kernelguard.preflight.rule import CALLED, TOUCHED, WRITTEN, Rule, environment, fallback, flagged, named, patched, switched
from kernelguard.preflight.uses import Role
from kernelguard.terms.findings import Severity

INFO = Severity.INFO
RULES: tuple[Rule, ...] = (
    Rule(
        name="framework_fallback",
        code="RH-03",
        roles=CALLED,
        applies=fallback,
        words="lets the framework compute",
        practical=INFO,
    ),
    Rule(
        name="thread",
        code="RH-10",
        roles=TOUCHED,
        words="starts a thread",
        applies=named(
            "threading.Thread", "threading.Timer", "_thread.start_new_thread", "_thread.start_new", "concurrent.futures."
        ),
    ),
    Rule(
        name="process",
        code="RH-10",
        roles=TOUCHED,
        words="starts a process",
        applies=named(
            "multiprocessing.",
            "subprocess.",
            "os.fork",
            "os.forkpty",
            "os.posix_spawn",
            "os.posix_spawnp",
            "os.system",
            "os.popen",
            "os.execv",
            "os.execve",
            "os.spawnl",
            "os.spawnv",
            "pty.",
        ),
    ),
    Rule(name="patched_api", code="RH-07", roles=WRITTEN, words="replaces a library function", applies=patched),
    Rule(
        name="patched_modules",
        code="RH-07",
        roles=WRITTEN,
        words="replaces a module",
        applies=named("sys.modules[]", "sys.modules"),
    ),
    Rule(
        name="frame_walk",
        code="RH-07",
        roles=TOUCHED,
        words="walks frames or the collector's objects",
        applies=named(
            "sys._getframe",
            "sys._current_frames",
            "inspect.currentframe",
            "inspect.stack",
            "inspect.trace",
            "gc.get_objects",
            "gc.get_referrers",
            "gc.get_referents",
            "?.f_back",
            "?.f_locals",
            "?.f_globals",
            "sys.settrace",
            "sys.setprofile",
        ),
    ),
    Rule(
        name="precision_switch",
        code="RH-11",
        roles=WRITTEN,
        words="changes how precisely the framework computes",
        applies=switched,
    ),
    Rule(
        name="precision_call",
        code="RH-11",
        roles=CALLED,
        words="changes how precisely the framework computes",
        applies=named(
            "torch.set_float32_matmul_precision", "torch.autocast", "torch.cuda.amp.", "torch.amp.", "torch.set_default_dtype"
        ),
    ),
    Rule(name="backend_flag", code="RH-01", roles=WRITTEN, words="changes a backend setting", applies=flagged),
    Rule(
        name="backend_call",
        code="RH-01",
        roles=CALLED,
        words="changes a backend setting",
        applies=named(
            "torch.use_deterministic_algorithms",
            "torch.set_num_threads",
            "torch.set_num_interop_threads",
            "torch.set_flush_denormal",
            "sys.setswitchinterval",
        ),
    ),
    Rule(name="environment", code="RH-01", roles=WRITTEN | CALLED, words="changes the environment", applies=environment),
    Rule(
        name="tensor_subclass",
        code="RH-06",
        roles=frozenset({Role.BASE, Role.CALL}),
        words="makes a lazy or proxy tensor",
        applies=lambda use: (
            (use.role is Role.BASE and use.name == "torch.Tensor")
            or use.name in ("torch.Tensor._make_subclass", "torch.Tensor._make_wrapper_subclass", "torch.Tensor.as_subclass")
        ),
    ),
    Rule(
        name="files",
        code="RH-12",
        roles=CALLED,
        words="reads or writes files",
        applies=named(
            "open",
            "io.open",
            "os.open",
            "os.listdir",
            "os.scandir",
            "os.walk",
            "os.remove",
            "os.rename",
            "glob.",
            "shutil.",
            "numpy.load",
            "numpy.save",
            "numpy.fromfile",
            "numpy.memmap",
            "torch.load",
            "torch.save",
            "pathlib.Path.read_text",
            "pathlib.Path.read_bytes",
            "pathlib.Path.write_text",
            "pathlib.Path.write_bytes",
            "pathlib.Path.open",
            "mmap.",
        ),
    ),
    Rule(
        name="network",
        code="RH-12",
        roles=TOUCHED,
        words="uses the network",
        applies=named(
            "socket.", "urllib.request.", "http.client.", "ftplib.", "requests.", "smtplib.", "asyncio.open_connection"
        ),
    ),
    Rule(
        name="process_memory",
        code="RH-12",
        roles=CALLED,
        words="signals or inspects processes",
        applies=named("os.kill", "os.killpg", "os.pidfd_open", "signal.pidfd_send_signal", "os.ptrace"),
    ),
    Rule(name="early_exit", code="RH-08", roles=CALLED, words="ends its own process", applies=named("os._exit", "os.abort")),
    Rule(
        name="built_code",
        code="RH-13",
        roles=CALLED,
        words="runs code that is built while it runs",
        applies=named(
            "exec",
            "eval",
            "compile",
            "marshal.loads",
            "pickle.loads",
            "pickle.load",
            "types.CodeType",
            "types.FunctionType",
            "importlib.import_module",
            "__import__",
        ),
    ),
    Rule(
        name="decoded_payload",
        code="RH-13",
        roles=CALLED,
        words="decodes an embedded payload",
        applies=named(
            "base64.", "binascii.", "zlib.decompress", "lzma.decompress", "bz2.decompress", "bytes.fromhex", "codecs.decode"
        ),
    ),
    Rule(
        name="foreign_library",
        code="RH-13",
        roles=CALLED,
        words="loads a compiled library",
        applies=named("ctypes.CDLL", "ctypes.PyDLL", "ctypes.cdll.", "cffi.", "torch.ops.load_library"),
    ),
    Rule(
        name="streams_and_graphs",
        code="RH-09",
        roles=CALLED,
        words="uses streams or graphs, which the clocks judge",
        strict=INFO,
        practical=INFO,
        applies=named("torch.cuda.Stream", "torch.cuda.CUDAGraph", "torch.cuda.graph", "torch.cuda.make_graphed_callables"),
    ),
)
