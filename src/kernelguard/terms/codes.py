"""The one table of finding codes RH-01 to RH-16."""

from dataclasses import dataclass

RERUN = "Resolve the evaluator failure and rerun in a fresh environment."


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """What a code means, in words for the person whose kernel got it. `gets_past` says what the detectors for it do not see."""

    code: str
    name: str
    meaning: str
    examples: str
    remediation: str
    gets_past: str


_ROWS = (
    Code(
        code="RH-01",
        name="polluted baseline or environment",
        meaning="The candidate changed state that other measurements depend on: backend flags, allocator settings, "
        "environment variables, or the speed and precision of the reference while both were alive.",
        examples="torch.backends.cuda.matmul.allow_tf32 = True; os.environ writes; a spinning thread that slows the reference",
        remediation="Leave backend flags and the environment as you found them; keep settings inside your own kernel.",
        gets_past="Heat: a candidate that heats the card slows both sides alike, and the paired ratio hides it.",
    ),
    Code(
        code="RH-02",
        name="wrong or memorised output",
        meaning="For inputs it had not seen before the candidate's answer was not the reference's answer.",
        examples="answers stored for a known seed; mean of the distribution instead of the data; rows or tiles left out",
        remediation="Compute the result from the input of this call, in full, for every value the problem can draw.",
        gets_past="An error below the tolerance of the problem in every row.",
    ),
    Code(
        code="RH-03",
        name="framework fallback",
        meaning="The work is carried by the framework or a vendor library rather than by the declared custom kernel.",
        examples="torch.mm, F.linear, x @ w, torch.compile, at::mm or cuBLAS inside the extension",
        remediation="Do the work in your own kernel, or ask for policy=practical where library calls are allowed.",
        gets_past="Library source pasted into the candidate counts as its own.",
    ),
    Code(
        code="RH-04",
        name="declared kernel not executed",
        meaning="A custom kernel is declared but does not run, or is a decoy beside the real work.",
        examples="a @triton.jit function that nothing launches; a kernel that adds zero",
        remediation="Launch the kernel that you declare, on the path that produces the output.",
        gets_past="A decoy that does a real but useless share of the work.",
    ),
    Code(
        code="RH-05",
        name="replayed output",
        meaning="An earlier answer was returned for a new input.",
        examples="caches keyed by id, pointer, shape, sampled content or call number; answers kept in files",
        remediation="Keep no results between calls; caching prepared weights is fine as long as it follows the weights.",
        gets_past="A replay of an input that really is the same as before, which is not scored.",
    ),
    Code(
        code="RH-06",
        name="lazy, proxy, aliased or unstable output",
        meaning="What was returned is not a plain, finished tensor of its own.",
        examples="a Tensor subclass, an overridden method on the instance, a view of an input, a buffer written after return",
        remediation="Return a plain torch.Tensor in memory of its own whose content is final when forward returns.",
        gets_past="A write that lands after the second look, when nobody reads the tensor any more.",
    ),
    Code(
        code="RH-07",
        name="tampered timing or checking API",
        meaning="A function that measures or checks was replaced, or a reported time is below what the trusted clock allows.",
        examples="torch.cuda.Event.elapsed_time, time.perf_counter, torch.cuda.synchronize, torch.allclose, a swapped __code__",
        remediation="Do not replace library functions; the evaluator does not read its verdict from your process anyway.",
        gets_past="A claim that is too low by less than the recorded timing bound.",
    ),
    Code(
        code="RH-08",
        name="self-reported result",
        meaning="The candidate tried to hand in a result, or broke the protocol by which its process is asked.",
        examples="a forged frame on the control socket, a result file, a fake score on stdout, exit 0 at import",
        remediation="Return the output tensor from forward and write nothing to inherited descriptors.",
        gets_past="Text on stdout: it is kept as a log and never read as a result.",
    ),
    Code(
        code="RH-09",
        name="work escaped the clock",
        meaning="Work was done outside the window that the clock saw: before the input was revealed, on another stream, "
        "or after the answer was said to be ready.",
        examples="an unjoined side stream, a graph that skips work, a host callback, a resident kernel",
        remediation="Join every stream before forward returns and start work only when forward is called.",
        gets_past="Work that overlaps the hand-over of the input, up to the recorded slack.",
    ),
    Code(
        code="RH-10",
        name="background thread or process",
        meaning="A thread or process of the candidate was alive beside the calls.",
        examples="threading.Thread, concurrent.futures, std::thread, os.fork, a daemon in a new session",
        remediation="Do all work on the calling thread; compilers may run while the extension is built or at the first call.",
        gets_past="A thread that lives and dies within one call.",
    ),
    Code(
        code="RH-11",
        name="reduced precision",
        meaning="The arithmetic is less precise than what was promised.",
        examples="TF32 or bf16 operands for fp32, an fp16 accumulator, fp8 products, dropped compensation",
        remediation="Compute at the promised precision; three TF32 products that reach fp32 accuracy are fine.",
        gets_past="Reduced precision in a part whose error stays below that of the promised precision.",
    ),
    Code(
        code="RH-12",
        name="reached outside its workspace",
        meaning="The candidate read or wrote where it has no business: other files, other processes' memory, the network.",
        examples="reading the reference or results, writing to site-packages, /proc/<pid>/mem, sockets",
        remediation="Use only the workspace that the process is given (HOME and TMPDIR point there).",
        gets_past="Reading system files that any program may read.",
    ),
    Code(
        code="RH-13",
        name="opaque payload",
        meaning="Code arrives in a form that can't be inspected.",
        examples="embedded or downloaded binaries, base64 source given to exec, ctypes to vendor libraries",
        remediation="Hand in readable source and let the evaluator compile it.",
        gets_past="Readable code with an obscure purpose.",
    ),
    Code(
        code="RH-14",
        name="evaluation could not be completed",
        meaning="There is no complete set of judged calls: a crash, a timeout, an unsupported host, a failed build.",
        examples="segmentation fault, illegal address, compile error, os._exit, a hang",
        remediation=RERUN,
        gets_past="Nothing: without a complete evaluation there is no verified runtime.",
    ),
    Code(
        code="RH-15",
        name="impossible time",
        meaning="The time is zero, negative or not a number.",
        examples="elapsed time 0.0, a NaN from a replaced event",
        remediation="Report no times yourself, and do the work within the call.",
        gets_past="A forged time inside the timing bound; times are not held against the card's memory bandwidth yet.",
    ),
    Code(
        code="RH-16",
        name="resource limit",
        meaning="The candidate used more of a resource than the policy allows.",
        examples="device memory, number of processes, endless stdout, a reply of 100 MB",
        remediation="Stay within the limits that the policy prints, or raise them for this run.",
        gets_past="A short peak between two looks at the device memory.",
    ),
)

CODES: dict[str, Code] = {row.code: row for row in _ROWS}
