"""Rules about work outside the clock's window: side streams, graphs, callbacks, and whatever runs later."""

import re
from collections.abc import Iterator

from kernelguard.preflight.rule import INFO, Rule, Sighting, Watch, found_in, free_call, sighted, uses_of
from kernelguard.preflight.source import Facts
from kernelguard.preflight.uses import Role
from kernelguard.preflight.vocabulary import words
from kernelguard.terms.policy import Policy

_SIDE_STREAMS = Watch(names=words("torch.cuda.Stream torch.cuda.ExternalStream torch.Stream"), roles=frozenset({Role.CALL}))
_JOINS = Watch(
    names=words(
        """
        torch.cuda.current_stream.wait_stream torch.cuda.current_stream.wait_event torch.cuda.current_stream.synchronize
        torch.cuda.default_stream.wait_stream torch.cuda.default_stream.wait_event torch.cuda.synchronize *.synchronize
        torch.cuda.Event.wait
        """
    ),
    roles=frozenset({Role.CALL}),
)
_NATIVE_STREAM = re.compile(r"\b(?:cuda|hip|cu)StreamCreate\w*|\bgetStreamFromPool\b")
_NATIVE_JOIN = re.compile(
    r"\b(?:cuda|hip|cu)(?:StreamSynchronize|StreamWaitEvent|DeviceSynchronize|CtxSynchronize|EventSynchronize)\b|\.\s*(?:block|synchronize)\s*\("
)


def _streams(facts: Facts, _policy: Policy) -> Iterator[Sighting]:
    """Side streams: noted where something joins them, refused where nothing does."""
    joins = [use for use in uses_of(facts, _JOINS) if use.role is Role.CALL]
    timed = any(use.live for use in facts.uses if use.name == "torch.cuda.stream")
    joined = any(use.live for use in joins) if timed else bool(joins)
    for use in uses_of(facts, _SIDE_STREAMS):
        yield sighted(facts, use, INFO if joined else None)
    for region in facts.native_regions:
        severity = INFO if _NATIVE_JOIN.search(region.code) else None
        yield from found_in(facts, [region], _NATIVE_STREAM, severity)


CLOCK_RULES = (
    Rule(
        name="stream",
        code="RH-09",
        says="works on a stream of its own",
        honest="a side stream that the current stream waits for (recorded)",
        gets_past="a join that is there and comes too early; the clocks judge that",
        check=_streams,
    ),
    Rule(
        name="graph",
        code="RH-09",
        says="captures or replays a CUDA graph",
        honest="every graph is recorded and none refused",
        gets_past="everything: what a graph leaves out shows in its output",
        check=Watch(
            names=words("torch.cuda.CUDAGraph torch.cuda.graph torch.cuda.make_graphed_callables"),
            native=re.compile(r"\b(?:cuda|hip|cu)(?:Graph(?:Launch|Instantiate\w*|Create)|StreamBeginCapture\w*)\b"),
        ),
        strict=INFO,
        practical=INFO,
    ),
    Rule(
        name="host_callback",
        code="RH-09",
        says="hands work to a thread of the driver",
        honest="nothing: a kernel needs no callback on the host",
        gets_past="callbacks that a library registers",
        check=Watch(
            names=words("*.cudaLaunchHostFunc *.cuLaunchHostFunc *.cudaStreamAddCallback *.hipLaunchHostFunc"),
            native=re.compile(r"\b(?:cuda|cu|hip)(?:LaunchHostFunc|StreamAddCallback)\w*"),
        ),
    ),
    Rule(
        name="signal",
        code="RH-09",
        says="has work done whenever a signal comes",
        honest="nothing: a kernel needs no signals",
        gets_past="signal handlers installed by a library",
        check=Watch(names=words("signal"), native=free_call(r"signal|sigaction|setitimer|timer_create|alarm|pthread_kill")),
    ),
    Rule(
        name="deferred",
        code="RH-09",
        says="is run later than the call",
        honest="releasing a handle at exit (recorded, never refused)",
        gets_past="generators and reference cycles, which run code when they are collected",
        check=Watch(names=words("atexit weakref.finalize *.__del__"), roles=frozenset(Role) - {Role.UNUSED}),
        strict=INFO,
        practical=INFO,
    ),
)
