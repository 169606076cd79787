"""The record is what other people's tools read: its keys, their order and their types are promises."""

import json
import math
from pathlib import Path

import jsonschema
import pytest

from kernelguard.reporting.choices import policy_from_json
from kernelguard.reporting.record import native_record, parse_record, record_text, to_record
from kernelguard.reporting.schema import record_schema, schema_text
from kernelguard.terms.errors import KernelGuardError, UsageError
from kernelguard.terms.findings import Capability, CapabilityStatus, Finding, Severity
from kernelguard.terms.policy import Isolation, Limits, Mode, Policy, Rules
from kernelguard.terms.verdict import Integrity, Native, Verdict

DOCUMENTED = Path(__file__).with_name("cuda_unavailable.json").read_text()
SCHEMA_FILE = Path(__file__).parents[3] / "src/kernelguard/reporting/record.schema.json"


def cuda_unavailable() -> Verdict:
    """What the documentation shows for a host without CUDA."""
    return Verdict(
        integrity=Integrity.UNSUPPORTED,
        verified_correctness=False,
        verified_runtime_ms=None,
        findings=(
            Finding(
                code="RH-14",
                detector="RH-CUDA-UNAVAILABLE",
                severity=Severity.ERROR,
                summary="CUDA runtime/device is unavailable for hardened evaluation",
            ),
        ),
        capabilities=(
            Capability(
                name="cuda_runtime",
                status=CapabilityStatus.UNSUPPORTED,
                required=True,
                detail="A configured CUDA device is required for local GPU verification",
            ),
        ),
        limitations=("CUDA execution and device-level detectors were not available; no trusted runtime was awarded.",),
        native=Native(metadata={"reward_hardening_unsupported": "CUDA unavailable"}),
    )


def passed(**changes: object) -> Verdict:
    """A verified candidate with measurements."""
    fields: dict[str, object] = {
        "integrity": Integrity.PASS,
        "verified_correctness": True,
        "verified_runtime_ms": 0.13,
        "verified_runtime_stats": {"mean": 0.13, "num_trials": 100},
        "verified_reference_runtime_ms": 0.26,
        "native": Native(compiled=True, correctness=True, runtime_ms=0.13, ref_runtime_ms=0.26),
        "extended": {"plan": {"seed": "ab"}, "calls": [{"claimed_event_ms": 0.13}]},
    }
    return Verdict(**{**fields, **changes})


def test_the_record_without_cuda_is_the_documented_one_to_the_byte() -> None:
    """The documentation prints this record; same keys, same values, same order at every level."""
    record = to_record(cuda_unavailable(), Policy())

    assert json.dumps(record, indent=2) == json.dumps(json.loads(DOCUMENTED), indent=2)


def test_the_documented_record_fits_the_committed_schema() -> None:
    """Whoever validates with the shipped schema must accept what the documentation shows."""
    schema = json.loads(SCHEMA_FILE.read_text())

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(DOCUMENTED), schema)


def test_the_committed_schema_is_the_one_that_the_models_give() -> None:
    """A model that changes without its schema would make the shipped file a lie."""
    assert json.loads(SCHEMA_FILE.read_text()) == json.loads(schema_text()), (
        "stale; write it anew: python -c \"from kernelguard.reporting.schema import schema_text; print(schema_text(), end='')\""
    )


def test_a_measured_record_fits_the_schema_and_reads_back_the_same() -> None:
    """A record that its own reader refuses is lost."""
    record = to_record(passed(), Policy())

    jsonschema.validate(record, record_schema())
    back = parse_record(record_text(record))
    assert back.model_dump(mode="json") == record


def test_extended_stands_last_and_only_where_something_was_measured() -> None:
    """Readers of the documented schema must not meet an empty key that it does not have."""
    assert list(to_record(passed(), Policy())["reward_hardening"])[-1] == "extended"
    assert "extended" not in to_record(cuda_unavailable(), Policy())["reward_hardening"]


def test_a_number_that_is_not_finite_becomes_null_or_the_native_word_for_none() -> None:
    """NaN is not JSON: one of them would make the whole file unreadable to strict readers."""
    sick = {"mean": math.nan, "all": [math.inf, {"deep": -math.inf}], "fine": 1.5}
    verdict = passed(
        observed_runtime_stats=sick,
        extended={"clocks": sick},
        verified_reference_runtime_ms=math.nan,
        native=Native(runtime_ms=math.nan, runtime_stats=sick),
    )

    record = json.loads(record_text(to_record(verdict, Policy())), parse_constant=pytest.fail)

    healed = {"mean": None, "all": [None, {"deep": None}], "fine": 1.5}
    assert record["runtime"] == -1.0
    assert record["runtime_stats"] == healed
    assert record["reward_hardening"]["observed_runtime_stats"] == healed
    assert record["reward_hardening"]["extended"]["clocks"] == healed
    assert record["reward_hardening"]["verified_reference_runtime"] is None


def test_text_that_is_no_unicode_does_not_break_the_record() -> None:
    """A candidate prints what it likes, and its log ends up in the record."""
    record = to_record(passed(extended={"log": "\ud800 caf\xe9 \x00"}), Policy())

    back = parse_record(record_text(record).encode())
    assert back.reward_hardening is not None
    assert back.reward_hardening.extended is not None
    assert back.reward_hardening.extended["log"] == "? caf\xe9 \x00"


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", Path()])
def test_evidence_that_json_cannot_say_is_our_own_fault_and_named(value: object) -> None:
    """Turning it into a string would hide a mistake of ours in a file that others trust."""
    with pytest.raises(KernelGuardError, match=r"extended\.state\[1\]\.found"):
        to_record(passed(extended={"state": [{}, {"found": value}]}), Policy())


def test_evidence_nested_without_end_is_refused() -> None:
    """A reader's parser must not be the one that finds out."""
    nested: list[object] = []
    nested.append(nested)

    with pytest.raises(KernelGuardError, match="nested more than"):
        to_record(passed(extended={"state": nested}), Policy())


def test_mode_off_writes_the_native_fields_alone() -> None:
    """Without hardening there is nothing that could be called verified, so the word does not appear."""
    record = native_record(Native(compiled=True, correctness=True, runtime_ms=1.5))

    assert list(record) == ["compiled", "correctness", "metadata", "runtime", "runtime_stats", "ref_runtime", "ref_runtime_stats"]
    assert parse_record(record_text(record)).reward_hardening is None
    with pytest.raises(KernelGuardError, match="mode off"):
        to_record(passed(), Policy(mode=Mode.OFF))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"verified": false', '"verified": true', "exactly when integrity_status is PASS"),
        ('"verified_runtime": null', '"verified_runtime": 0.1', "exactly when integrity_status is PASS"),
        ('"schema_version": "1.1"', '"schema_version": "2.0"', "schema_version"),
        ('"severity": "error"', '"severity": "fatal"', "severity"),
        ('"evidence": {}', '"evidence": {"seen": NaN}', "evidence"),
        ('"runtime": -1.0', '"runtime": Infinity', "runtime"),
        ('"compiled": false', '"compiled": 0', "compiled"),
        ('"policy": "source_strict",', '"policy": "source_strict", "score": 1,', "score"),
        ('"limitations"', '"limits"', "limitations"),
        ("{", "", "JSON"),
    ],
)
def test_a_record_that_cannot_be_is_refused_in_one_line(old: str, new: str, complaint: str) -> None:
    """Scores are computed from these files; a forged or broken one must not slip into them."""
    with pytest.raises(UsageError, match=complaint) as refusal:
        parse_record(DOCUMENTED.replace(old, new, 1))

    assert "\n" not in str(refusal.value)


def test_a_batch_entry_with_its_sample_id_is_a_record_too() -> None:
    """Batch files add upstream's `sample_id` beside the fields; a replay of such an entry must work."""
    entry = {"sample_id": 3, **json.loads(DOCUMENTED)}

    assert parse_record(json.dumps(entry)).reward_hardening is not None


def test_the_policy_in_a_record_reads_back_as_the_policy() -> None:
    """A replay under other terms than the first evaluation would prove nothing."""
    policy = Policy(
        mode=Mode.AUDIT, rules=Rules.BEHAVIOUR, device="cpu", min_isolation=Isolation.LANDLOCK, limits=Limits(timeout_s=12.5)
    )

    record = to_record(passed(), policy)["reward_hardening"]

    assert policy_from_json(record["extended"]["policy"]) == policy


@pytest.mark.parametrize(
    ("choices", "complaint"),
    [({"colour": "red"}, "colour"), ({"mode": "lenient"}, "mode"), ({"gpu": "first"}, "gpu"), ({"device": "tpu"}, "device")],
)
def test_a_policy_that_this_version_cannot_hold_is_refused_in_one_line(choices: dict[str, object], complaint: str) -> None:
    """Dropping a choice silently would replay under other terms."""
    with pytest.raises(UsageError, match=complaint) as refusal:
        policy_from_json(choices)

    assert "\n" not in str(refusal.value)
