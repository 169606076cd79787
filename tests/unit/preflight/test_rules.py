"""Every rule catches its attack and leaves the nearest honest program alone. A rule without both is a failing test."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from kernelguard.preflight.rules import RULES
from kernelguard.terms.findings import Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


class Put(NamedTuple):
    """What is put into an honest Triton program, and where; `source` replaces it as a whole."""

    top: str = ""
    forward: str = ""
    init: str = ""
    kernel: str = ""
    source: str = ""
    backend: str = "triton"


class Native(NamedTuple):
    """What is put into an honest CUDA program, and where."""

    in_run: str = ""
    file_scope: str = ""


CTYPES_BUILD = '''
import ctypes, os, subprocess, tempfile
SOURCE = r"""
void twice(const float *x, float *out, long n) { for (long i = 0; i < n; i++) out[i] = 2 * x[i]; }
"""
folder = tempfile.mkdtemp()
path = os.path.join(folder, "kernel.c")
with open(path, "w") as file:
    file.write(SOURCE)
subprocess.run(["cc", "-O3", "-shared", "-fPIC", "-o", os.path.join(folder, "kernel.so"), path], check=True)
library = ctypes.CDLL(os.path.join(folder, "kernel.so"))
'''
NO_KERNEL = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x"

# Rule: (an attack, its severity under source_strict, an honest twin).
CASES: dict[str, tuple[Put | Native, Severity, Put | Native]] = {
    "parse": (Put(source="def broken(:"), ERROR, Put(top="x = 1")),
    "bounds": (Put(source="x" + ".b" * 20_000), ERROR, Put(top="x = ((((((1))))))")),
    "entry": (Put(source="import torch\nx = 1"), ERROR, Put()),
    "backend": (Put(source=NO_KERNEL, backend="fortran"), ERROR, Put()),
    "custom_kernel": (Put(source=NO_KERNEL), ERROR, Put()),
    "kernel_launched": (
        Put(
            source="import triton, torch\nimport triton.language as tl\n@triton.jit\ndef k(p):\n    tl.store(p, 1)\n" + NO_KERNEL
        ),
        ERROR,
        Put(),
    ),
    "spare_kernel": (
        Put(top="@triton.jit\ndef spare(p):\n    tl.store(p, 1)"),
        INFO,
        Put(top="@triton.jit\ndef used(v):\n    return v", kernel="value = used(value)"),
    ),
    "reference": (Put(forward="out = Model()(x)"), ERROR, Put(top="class Block(nn.Module):\n    pass")),
    "framework_fallback": (
        Put(forward="out = torch.addmm(out, x, x)"),
        ERROR,
        Put(forward="out = out.view(-1).reshape(4, 4).contiguous()"),
    ),
    "framework_compiler": (Put(top="fast = torch.compile(print)"), ERROR, Put(forward="torch.compiler.is_compiling()")),
    "vendor_library": (Native("cublasSgemm(handle, 0, 0, 4, 4, 4);"), ERROR, Native("typedef int cublas_like;")),
    "patched_api": (
        Put(top="torch.cuda.synchronize = lambda *_: None"),
        ERROR,
        Put(init="self.synchronize = torch.cuda.synchronize"),
    ),
    "patched_code": (Native("mprotect(page, 4096, 7);"), ERROR, Native("int mprotected = 0;")),
    "interposed": (Put(top="import sys\nsys.settrace(print)"), ERROR, Put(init="self.register_forward_hook(lambda *_: None)")),
    "environment": (
        Put(top="import os\nos.environ['CUDA_LAUNCH_BLOCKING'] = '1'"),
        ERROR,
        Put(top="import os\nhome = os.environ.get('HOME')"),
    ),
    "backend_setting": (
        Put(top="torch.backends.cudnn.benchmark = True"),
        ERROR,
        Put(init="self.fast = torch.backends.cudnn.benchmark"),
    ),
    "problem_name": (Put(top="batch_size = 1"), INFO, Put(top="batch_size = 1\nprint(batch_size)")),
    "tensor_subclass": (
        Put(top="class Lazy(torch.Tensor):\n    pass"),
        ERROR,
        Put(top="class Doubled(torch.autograd.Function):\n    pass"),
    ),
    "tensor_override": (Put(forward="out.clone = lambda: out"), ERROR, Put(forward="out.requires_grad = False")),
    "replay_key": (
        Put(
            init="self.seen = {}",
            forward="if x.data_ptr() in self.seen:\n    return self.seen[x.data_ptr()]\nself.seen[x.data_ptr()] = out",
        ),
        ERROR,
        Put(init="self.pool = {}", forward="key = (x.shape, x.dtype, x.device)\nself.pool[key] = self.pool.get(key)"),
    ),
    "forged_result": (Put(top="import os\nos._exit(0)"), ERROR, Put(top="print('score: 100')")),
    "stream": (
        Put(init="self.side = torch.cuda.Stream()", forward="with torch.cuda.stream(self.side):\n    pass"),
        ERROR,
        Put(forward="stream = torch.cuda.current_stream()"),
    ),
    "graph": (Put(init="self.graph = torch.cuda.CUDAGraph()"), INFO, Put(init="self.graph = {}")),
    "host_callback": (
        Native("cudaLaunchHostFunc(0, later, 0);"),
        ERROR,
        Native("auto stream = at::cuda::getCurrentCUDAStream();"),
    ),
    "signal": (Put(top="import signal\nsignal.signal(signal.SIGALRM, print)"), ERROR, Put(init="self.signal = 1.0")),
    "deferred": (Put(top="import atexit\natexit.register(print)"), INFO, Put()),
    "thread": (
        Put(top="import threading", forward="threading.Thread(target=print).start()"),
        ERROR,
        Put(top="import threading\nlock = threading.Lock()"),
    ),
    "process": (Put(top="import os", forward="os.fork()"), ERROR, Put(top="import os\ncores = os.cpu_count()")),
    "network": (Put(top="import socket\nsocket.create_connection(('localhost', 1))"), ERROR, Put(init="self.socket = 3")),
    "files": (Put(forward="open('/tmp/answer').read()"), ERROR, Put(top="import os\nfound = os.path.exists('/usr/local/cuda')")),
    "frame_walk": (Put(top="import sys", forward="sys._getframe(1).f_locals"), ERROR, Put(top="import gc\ngc.collect()")),
    "foreign_memory": (Native("process_vm_readv(1, 0, 0, 0, 0, 0);"), ERROR, Native("int skill(int); skill(1);")),
    "evaluator": (Put(top="import kernelguard.referee"), ERROR, Put(top="kernelguard = 1")),
    "built_code": (Put(top="exec('x' + '=1')"), ERROR, Put(init="self.eval()")),
    "decoded_payload": (
        Put(top="import base64\ncode = base64.b64decode('eA==')"),
        ERROR,
        Put(top="import struct\nbits = struct.pack('f', 1.0)"),
    ),
    "pickle": (Put(top="weights = torch.load('weights.pt')"), ERROR, Put(init="self.load_state_dict(self.state_dict())")),
    "foreign_library": (
        Put(top="import ctypes\nlib = ctypes.CDLL('libcublas.so')"),
        ERROR,
        Put(top="import ctypes\nsize = ctypes.c_size_t(4)"),
    ),
    "raw_memory": (Put(top="import ctypes\nctypes.string_at(4096)"), WARNING, Put(forward="address = x.data_ptr()")),
    "unreadable_native": (
        Put(top="from torch.utils.cpp_extension import load_inline\next = load_inline(name='e', cuda_sources=input())"),
        ERROR,
        Put(
            top="from torch.utils.cpp_extension import load_inline\n"
            "ext = load_inline(name='e', cpp_sources='int f() { return N; }'.replace('N', '1'))"
        ),
    ),
    "opaque_literal": (Put(top=f"payload = {'QUJD' * 600!r}"), ERROR, Put(top=f"table = [{', '.join(map(str, range(700)))}]")),
    "dynamic_name": (Put(forward="getattr(torch, input())(x)"), ERROR, Put(top="dtype = getattr(torch, 'float8_e4m3fn', None)")),
    "encoding": (Put(source="# -*- coding: utf-7 -*-\n" + NO_KERNEL), ERROR, Put(source="# -*- coding: utf-8 -*-\n" + NO_KERNEL)),
    "precision_switch": (
        Put(top="torch.backends.cuda.matmul.allow_tf32 = True"),
        ERROR,
        Put(top="flag = torch.backends.cuda.matmul.allow_tf32"),
    ),
    "precision_cast": (Put(forward="out = x.to(torch.bfloat16)"), ERROR, Put(forward="out = x.to(torch.float64)")),
    "tf32_product": (
        Put(kernel="value = tl.dot(value, value, allow_tf32=True)"),
        ERROR,
        Put(kernel="value = tl.dot(value, value, input_precision='ieee')"),
    ),
}


@pytest.fixture
def found(judge, triton, cuda) -> Callable[[Put | Native], dict[str, Severity]]:
    """The rules that apply to a program, each with its severity under source_strict."""

    def read(case: Put | Native) -> dict[str, Severity]:
        if isinstance(case, Native):
            findings = judge(cuda(case.in_run, file_scope=case.file_scope), "cuda")
        else:
            source = case.source or triton(case.top, kernel=case.kernel, init=case.init, forward=case.forward)
            findings = judge(source, case.backend)
        return {finding.policy_rule: finding.severity for finding in findings}

    return read


def test_every_rule_has_an_attack_and_a_twin() -> None:
    """A rule that nobody tried is a rule that nobody can trust, and a twin keeps it from refusing honest work."""
    assert set(CASES) == {rule.name for rule in RULES}


@pytest.mark.parametrize("rule", sorted(CASES))
def test_a_rule_catches_its_attack(rule: str, found) -> None:
    """The construct is there, so the rule must say so, with the weight that its row gives it."""
    attack, severity, _ = CASES[rule]

    assert found(attack).get(rule) is severity


@pytest.mark.parametrize("rule", sorted(CASES))
def test_a_rule_leaves_its_honest_twin_alone(rule: str, found) -> None:
    """The twin differs from the attack in the one thing that matters."""
    twin = CASES[rule][2]

    assert rule not in found(twin)


def test_the_carriers_are_honest_themselves(judge, triton, cuda) -> None:
    """Otherwise the attacks above would be caught for another reason."""
    assert judge(triton()) == ()
    assert judge(cuda(), "cuda") == ()


@pytest.mark.parametrize("rule", sorted(CASES))
def test_an_attack_in_words_is_no_attack(rule: str, judge, triton, cuda) -> None:
    """Comments, docstrings and strings may name what the code avoids."""
    attack = CASES[rule][0]
    if isinstance(attack, Native):
        quoted = attack.in_run.replace('"', "'")
        source, backend = cuda(f'// {attack.in_run}\n/* {attack.in_run} */\nconst char* note = "{quoted}";'), "cuda"
    else:
        text = "\n".join(part for part in (attack.top, attack.init, attack.forward, attack.kernel) if part)
        comment = "\n".join(f"# {line}" for line in text.splitlines())
        source, backend = triton(f"{comment}\nNOTE = {text!r}\ndef explain():\n    {text!r}"), "triton"

    assert [finding.policy_rule for finding in judge(source, backend) if finding.policy_rule != "opaque_literal"] == []


def test_practical_takes_the_framework_for_a_tool_and_nothing_else(judge, triton) -> None:
    """Library calls become notes, a patched clock stays an error."""
    fallback = judge(triton(forward="out = torch.mm(x, x)"), policy="practical")
    patched = judge(triton("import time\ntime.perf_counter = print"), policy="practical")

    assert [(one.policy_rule, one.severity) for one in fallback] == [("framework_fallback", INFO)]
    assert [(one.policy_rule, one.severity) for one in patched] == [("patched_api", ERROR)]


def test_behaviour_reads_no_source(judge) -> None:
    """Under that policy only what the candidate does counts, whatever its text."""
    assert judge("import os\nos._exit(0)", policy="behaviour") == ()
    assert judge("def broken(:", policy="behaviour") == ()


def test_a_library_that_the_file_shows_and_builds_itself_is_its_kernel(judge) -> None:
    """Plain C compiled at import is the smallest honest way to a native kernel on a CPU."""
    source = CTYPES_BUILD + NO_KERNEL.replace("return x", "library.twice(x.data_ptr())\n        return x")

    assert {finding.severity for finding in judge(source, "cpp")} == {INFO}
    assert {finding.policy_rule for finding in judge(source, "cpp")} == {"process", "files", "foreign_library"}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (('["cc", "-O3"', '["sh", "-O3"'), "process"),
        (("check=True)", "shell=True)"), "process"),
        (('os.path.join(folder, "kernel.c")', '"/etc/../kernel.dat"'), "files"),
        (
            ('CDLL(os.path.join(folder, "kernel.so"))', 'CDLL(os.path.join(folder, "../../usr/lib/libcublas.so"))'),
            "foreign_library",
        ),
    ],
)
def test_the_build_exemption_covers_a_build_only(change: tuple[str, str], rule: str, judge) -> None:
    """What looks like a build and does something else is not exempt."""
    source = f"{CTYPES_BUILD.replace(*change)}\n{NO_KERNEL}"

    assert (rule, ERROR) in [(finding.policy_rule, finding.severity) for finding in judge(source, "cpp")]
