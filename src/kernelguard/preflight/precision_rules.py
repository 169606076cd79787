"""Rules about arithmetic below the promised precision: switches of the framework, casts, TF32 and narrow accumulators."""

import re
from collections.abc import Iterator

from kernelguard.preflight.kinds import Tag
from kernelguard.preflight.rule import ERROR, INFO, WARNING, Rule, Sighting, Watch, found_in, sighted, uses_of
from kernelguard.preflight.source import Facts
from kernelguard.preflight.tampering_rules import PRECISION_ATTRIBUTES
from kernelguard.preflight.uses import UNKNOWN, Role, Use
from kernelguard.preflight.vocabulary import LOW_PRECISION, words
from kernelguard.terms.findings import Severity
from kernelguard.terms.policy import Fp32Precision, Policy, Precision

# Bits of the significand, the hidden one counted.
_PROMISED_BITS = {Precision.FP32: 24, Precision.FP16: 11, Precision.BF16: 8}
TF32_BITS = 11
_CASTS = words(
    """
    to type cast astype empty empty_like zeros zeros_like ones full full_like new_empty new_zeros new_full tensor
    as_tensor Parameter dot view_as alloc_fragment alloc_shared alloc_local make_fragment make_rmem_tensor
    """
)
_HALVES = frozenset({"half", "bfloat16"})  # methods that cast
_AUTOCAST = Watch(
    names=words(
        """
        torch.autocast torch.amp.autocast torch.amp.custom_fwd torch.cuda.amp torch.cpu.amp torch.set_autocast_enabled
        torch.set_autocast_dtype torch.set_autocast_gpu_dtype torch.set_autocast_cache_enabled
        """
    ),
    native=re.compile(r"\b(?:at|torch)::autocast\b"),
)
_HARMLESS = (False, "ieee", "highest", "none")
_NATIVE_SWITCH = re.compile(
    r"\bsetAllowTF32\w*|\bsetFloat32\w*Precision\w*|\bsetAllow(?:FP16|BF16)\w*|\bCUBLAS_COMPUTE_32F_FAST\w+"
)
_NATIVE_CASTS = (
    (re.compile(r"\b__(?:float2half|float22half2|floats2half2|float2half2)\w*|\bk(?:Half|Float16)\b|\.\s*half\s*\("), 11),
    (
        re.compile(
            r"\b__(?:float2bfloat16|float22bfloat162|floats2bfloat162|float2bfloat162)\w*|\bkBFloat16\b|\.\s*bfloat16\s*\("
        ),
        8,
    ),
    (re.compile(r"\b__nv_cvt_\w+_to_fp8\w*|\b__nv_fp8_e[45]m[23]\s*\(|\bkFloat8_\w+"), 4),
)
_NATIVE_WIDENS = re.compile(r"\b__(?:half2float|bfloat162float|half22float2|bfloat1622float2|low2float)\b")


def promised_bits(policy: Policy) -> int:
    """The bits of the significand that products are promised to keep."""
    bits = _PROMISED_BITS[policy.precision]
    return min(bits, TF32_BITS) if policy.fp32_precision is Fp32Precision.TF32 else bits


def _switches(facts: Facts, policy: Policy) -> Iterator[Sighting]:
    """The framework's precision settings; putting one to full precision is noted."""
    for use in facts.uses:
        written = use.role is Role.WRITE and use.name.startswith("torch.backends.") and use.last.startswith(PRECISION_ATTRIBUTES)
        if written:
            harmless = use.given.options.get("value", UNKNOWN) in _HARMLESS or policy.fp32_precision is Fp32Precision.TF32
            yield sighted(facts, use, INFO if harmless else ERROR)
        elif use.role is Role.CALL and use.name == "torch.set_float32_matmul_precision":
            harmless = use.given.text == "highest" or policy.fp32_precision is Fp32Precision.TF32
            yield sighted(facts, use, INFO if harmless else ERROR)
    for sighting in _AUTOCAST(facts, policy):
        severity = ERROR if policy.precision is Precision.FP32 else INFO
        yield Sighting(construct=sighting.construct, place=sighting.place, severity=severity)
    yield from found_in(facts, facts.native_regions, _NATIVE_SWITCH)


def _casts(facts: Facts, policy: Policy) -> Iterator[Sighting]:
    """Casts and accumulators below the promise. Where what the cast lost is worked with too, the cast is one part of a split."""
    promised = promised_bits(policy)
    for use in facts.uses:
        bits = _cast_bits(use)
        if bits is not None and bits < promised:
            split = use.scope in facts.residuals
            severity: Severity = INFO if split else ERROR if use.on_host_in_forward else WARNING
            yield sighted(facts, use, severity)
    for region in facts.reached_regions:
        split = bool(_NATIVE_WIDENS.search(region.code))
        for pattern, bits in _NATIVE_CASTS:
            if bits < promised:
                yield from found_in(facts, [region], pattern, INFO if split else WARNING)


def _cast_bits(use: Use) -> int | None:
    """How many bits survive a use, if it casts to, or makes a tensor of, one of the narrow types."""
    if use.role is not Role.CALL:
        return None
    if use.last in _HALVES and use.name != "torch.half":
        return LOW_PRECISION[use.last]
    if use.last not in _CASTS:
        return None
    shown = [kind.name.rsplit(".", 1)[-1] for kind in use.given.kinds if kind.tag is Tag.NAME]
    options = [str(value) for value in (*use.given.options.values(), *use.given.texts)]
    bits = [LOW_PRECISION[word] for word in (*shown, *options) if word in LOW_PRECISION]
    return min(bits) if bits else None


def _products(facts: Facts, policy: Policy) -> Iterator[Sighting]:
    """Triton's dot on TF32, asked for or by default, where full fp32 was promised."""
    if promised_bits(policy) <= TF32_BITS:
        return
    for use in uses_of(facts, Watch(names=words("triton.language.dot"), roles=frozenset({Role.CALL}))):
        asked, precision = use.given.options.get("allow_tf32"), use.given.options.get("input_precision")
        if asked is True or precision == "tf32":
            yield sighted(facts, use, ERROR)
        elif asked is None and precision is None:
            yield sighted(facts, use, INFO)


PRECISION_RULES = (
    Rule(
        name="precision_switch",
        code="RH-11",
        says="changes how precisely the framework computes",
        honest='allow_tf32 = False, set_float32_matmul_precision("highest") (recorded)',
        gets_past="switches set through the environment of a library",
        check=_switches,
    ),
    Rule(
        name="precision_cast",
        code="RH-11",
        says="narrows values below the promised precision",
        honest="splitting a value into narrow parts whose sum keeps it (recorded), any cast under a promise as low",
        gets_past="rounding by hand, integer products, narrow loads in inline PTX; the precision ladder measures those",
        check=_casts,
    ),
    Rule(
        name="tf32_product",
        code="RH-11",
        says="multiplies in TF32",
        honest='input_precision="ieee" or "tf32x3"; leaving it out is recorded',
        gets_past="matrix instructions in CUDA, which are right where three of them make one product",
        check=_products,
    ),
)
