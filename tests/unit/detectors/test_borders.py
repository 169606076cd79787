"""Every threshold from both sides: just inside is nobody's crime, just outside is a finding."""

import math
from collections.abc import Iterable
from dataclasses import replace

import pytest
from evidence_builder import RIGHT, call, evidence, plain_calls, side_call

from kernelguard.detectors import gate_time, pace, precision
from kernelguard.terms.evidence import BlockEvidence, CallEvidence, Evidence, SideCall
from kernelguard.terms.findings import Finding
from kernelguard.terms.plan import DrawKind
from kernelguard.terms.policy import Policy


def names(findings: Iterable[Finding]) -> list[str]:
    """The detectors that found something."""
    return [finding.detector for finding in findings]


def timed(seen: Evidence) -> list[str]:
    """What the two clocks say."""
    return names(gate_time.detect(seen, Policy()))


def paced(seen: Evidence) -> list[str]:
    """What the paces say."""
    return names(pace.detect(seen, Policy()))


def hidden(claim_ms: float, hidden_ms: float, host_ms: float = 0.0) -> SideCall:
    """A half that claims `claim_ms` while the witness saw `hidden_ms` more, `host_ms` of it by the worker's own clock."""
    return side_call(claim_ms, overhead_ms=0.2 + hidden_ms, claimed_host_ms=claim_ms + 0.01 + host_ms)


def pairs(candidate: SideCall, *, reference: SideCall | None = None, count: int = 20, **changes: object) -> Evidence:
    """An evaluation of equal calls."""
    return evidence(plain_calls(count, candidate=candidate, reference=reference or side_call(0.5)), **changes)


def alone(reference: SideCall, calls: Iterable[CallEvidence]) -> Evidence:
    """An evaluation whose reference was like this before the candidate came."""
    solo = BlockEvidence(calls=tuple(call(number, candidate=None, outcome=None, reference=reference) for number in range(8)))
    return evidence(calls, solo=solo)


class TestTwoClocks:
    """Claims against the witness."""

    @pytest.mark.parametrize(
        ("claim_ms", "gap_ms", "found"),
        [(1.0, 0.020, False), (1.0, 0.024, True), (0.01, 0.0020, False), (0.01, 0.0026, True)],
    )
    def test_a_gap_of_two_us_and_two_percent_is_allowed(self, claim_ms: float, gap_ms: float, found: bool) -> None:  # noqa: FBT001 - a parameter
        """Without noise that is all there is."""
        assert ("RH-TIME-FORGED" in timed(pairs(hidden(claim_ms, gap_ms)))) == found

    @pytest.mark.parametrize(
        ("claim_ms", "gap_ms", "found"), [(10.0, 0.9, False), (10.0, 1.2, True), (0.2, 0.09, False), (0.2, 0.12, True)]
    )
    def test_on_a_host_clock_a_tenth_is_allowed(self, claim_ms: float, gap_ms: float, found: bool) -> None:  # noqa: FBT001 - a parameter
        """A tenth of the witness's time, and of a millisecond."""
        assert timed(pairs(hidden(claim_ms, gap_ms), cpu_clock=True)) == ["RH-TIME-FORGED"] * found

    @pytest.mark.parametrize(("gap_ms", "found"), [(0.08, False), (0.11, True)])
    def test_four_standard_errors_are_noise(self, gap_ms: float, found: bool) -> None:  # noqa: FBT001 - a parameter
        """Swinging by 0.1 ms a hundred calls leave an error of 0.0186 ms."""
        calls = [
            call(number, reference=side_call(), candidate=hidden(1.0, gap_ms + (0.1 if number % 2 else -0.1)))
            for number in range(100)
        ]

        assert ("RH-TIME-FORGED" in timed(evidence(calls))) == found

    @pytest.mark.parametrize(("forged_ms", "found"), [(0.03, False), (0.06, True)])
    def test_the_lower_half_is_allowed_twice_as_much(self, forged_ms: float, found: bool) -> None:  # noqa: FBT001 - a parameter
        """Choosing the lower claims chooses noise as well."""
        forged = side_call(1.0, claimed_event_ms=1.0 - forged_ms, claimed_host_ms=1.01 - forged_ms)
        calls = [call(number, candidate=forged if number % 2 else side_call()) for number in range(20)]

        assert timed(evidence(calls)) == ["RH-TIME-FORGED"] * found

    @pytest.mark.parametrize(("share", "name"), [(0.4, "RH-TIME-FORGED"), (0.6, "RH-TIME-ESCAPED")])
    def test_half_of_the_gap_on_the_workers_own_clock_makes_it_a_stream(self, share: float, name: str) -> None:
        """Both are errors; the word says where to look."""
        assert timed(pairs(hidden(1.0, 0.5, host_ms=0.5 * share)))[0] == name

    def test_a_host_lag_that_the_reference_shows_too_explains_no_gap(self) -> None:
        """Slow synchronisation is the host's, and must not turn a forged clock into a stream."""
        lagging = side_call(1.0, claimed_host_ms=1.51)

        assert timed(pairs(hidden(1.0, 0.5, host_ms=0.5), reference=lagging))[0] == "RH-TIME-FORGED"

    @pytest.mark.parametrize(
        ("claim_ms", "host_ms", "found"), [(1.0, 0.024, False), (1.0, 0.027, True), (0.1, 0.006, False), (0.1, 0.009, True)]
    )
    def test_five_us_and_two_percent_may_lie_between_events_and_idle(self, claim_ms: float, host_ms: float, found: bool) -> None:  # noqa: FBT001 - a parameter
        """Joins and frees are honest work after the last event."""
        assert timed(pairs(hidden(claim_ms, 0.0, host_ms))) == ["RH-TIME-OUTSIDE-EVENTS"] * found

    @pytest.mark.parametrize(("claim_ms", "found"), [(0.0065, False), (0.0055, True)])
    def test_a_bound_of_half_the_claim_resolves_it(self, claim_ms: float, found: bool) -> None:  # noqa: FBT001 - a parameter
        """A gap of 1 us bounds at 3 us."""
        assert timed(pairs(hidden(claim_ms, 0.001))) == ["RH-TIME-UNRESOLVED"] * found

    @pytest.mark.parametrize(
        ("alone_ms", "beside_ms", "found"),
        [(0.18, 0.22, False), (0.18, 0.25, True), (0.02, 0.045, False), (0.02, 0.055, True)],
    )
    def test_a_chain_may_take_a_third_or_thirty_us_more(self, alone_ms: float, beside_ms: float, found: bool) -> None:  # noqa: FBT001 - a parameter
        """The referee's own band for its own work."""
        before = side_call(chain_ms=alone_ms)
        seen = alone(before, plain_calls(20, reference=before, candidate=side_call(chain_ms=beside_ms)))

        assert timed(seen) == ["RH-DEVICE-BUSY-BEFORE-GO"] * found

    @pytest.mark.parametrize(("stretched", "found"), [(10, False), (11, True)])
    def test_a_quarter_of_all_chains_may_be_stretched(self, stretched: int, found: bool) -> None:  # noqa: FBT001 - a parameter
        """20 calls have 40 chains."""
        calls = [call(number, candidate=side_call(chain_ms=0.9 if number < stretched else 0.18)) for number in range(20)]

        assert timed(evidence(calls)) == ["RH-DEVICE-BUSY-BEFORE-GO"] * found

    def test_without_a_solo_block_there_is_no_control_and_nothing_is_said(self) -> None:
        """The referee's band for its chain, and the reference's own pace, come from there alone."""
        calls = plain_calls(20, candidate=side_call(chain_ms=0.9), reference=side_call(3.0))

        assert timed(evidence(calls, solo=None)) == []
        assert paced(evidence(calls, solo=None)) == []

    def test_the_bound_by_bursts_is_the_sum_of_what_it_says(self) -> None:
        """Excess of one call in a burst, and gap and doubt spread over its width; the first three bursts do not count."""
        swing = [0.01 if number % 2 else -0.01 for number in range(40)]
        singles = [call(number, reference=side_call(0.1), candidate=hidden(0.1, each)) for number, each in enumerate(swing)]
        halves = [hidden(9.0, 5.0)] * 3 + [hidden(3.3, 0.032)] * 4
        bursts = [
            call(40 + number, DrawKind.BURST, width=32, reference=side_call(3.2), candidate=half)
            for number, half in enumerate(halves)
        ]
        error = 1.2533 * 1.4826 * 0.01 / math.sqrt(40)
        expected = (3.3 / 32 - 0.1) + (0.032 + 4 * error * math.sqrt(40 / 4)) / 32

        assert gate_time.burst_bound(evidence([*singles, *bursts]), 0.1) == pytest.approx(expected)
        assert gate_time.burst_bound(evidence([*singles, *bursts[:4]]), 0.1) is None


class TestPace:
    """Times that depend on what they must not."""

    @pytest.mark.parametrize(
        ("ours", "theirs", "found"), [(0.45, 1.0, True), (0.55, 1.0, False), (0.4, 0.8, True), (0.4, 0.7, False)]
    )
    def test_half_the_time_is_remembering_where_the_reference_needs_three_quarters(
        self, ours: float, theirs: float, found: bool  # noqa: FBT001 - a parameter
    ) -> None:  # fmt: skip
        """Warm memory explains what both sides show."""
        again = {"candidate": side_call(ours), "reference": side_call(theirs)}
        calls = [
            call(index, DrawKind.CANARY, variant=index % 2, **(again if index % 2 else {})) for index in range(6)
        ]  # fmt: skip

        assert paced(evidence([*calls, *plain_calls(20)])) == ["RH-REPEAT-FASTER"] * found

    @pytest.mark.parametrize("unit_ms", [0.01, 4.0, 100.0])
    def test_remembering_shows_at_any_length_of_the_work(self, unit_ms: float) -> None:
        """A ratio has no unit."""
        halves = [side_call(unit_ms), side_call(0.3 * unit_ms)]
        calls = [
            call(n, DrawKind.CANARY, variant=n % 2, candidate=halves[n % 2], reference=side_call(unit_ms)) for n in range(6)
        ]  # fmt: skip

        assert paced(evidence(calls, cpu_clock=True)) == ["RH-REPEAT-FASTER"]

    @pytest.mark.parametrize(
        ("cpu_clock", "plain_ms", "probe_ms", "found"),
        [
            (False, 1.0, 1.45, False), (False, 1.0, 1.55, True), (False, 0.01, 0.028, False), (False, 0.01, 0.032, True),
            (True, 10.0, 39.0, False), (True, 10.0, 41.0, True), (True, 0.4, 2.3, False), (True, 0.4, 2.5, True),
        ],
    )  # fmt: skip
    def test_probes_may_take_half_as_long_again(self, cpu_clock: bool, plain_ms: float, probe_ms: float, found: bool) -> None:  # noqa: FBT001 - a parameter
        """Four times as long on a host clock; below 20 us, and 2 ms there, nothing is said."""
        probes = [call(20 + number, DrawKind.SPARSE, candidate=side_call(probe_ms)) for number in range(3)]
        calls = [*plain_calls(20, candidate=side_call(plain_ms)), *probes]

        assert paced(evidence(calls, cpu_clock=cpu_clock)) == ["RH-SLOW-ON-PROBES"] * found

    @pytest.mark.parametrize(("probe_ms", "found"), [(1.8, False), (2.4, True)])
    def test_the_references_own_slowness_is_divided_out(self, probe_ms: float, found: bool) -> None:  # noqa: FBT001 - a parameter
        """It takes 1.4 times as long on these probes."""
        plain = plain_calls(20, reference=side_call(0.5))
        probes = [
            call(20 + n, DrawKind.SPARSE, candidate=side_call(probe_ms), reference=side_call(0.7)) for n in range(3)
        ]  # fmt: skip

        assert paced(alone(side_call(0.5), [*plain, *probes])) == ["RH-SLOW-ON-PROBES"] * found

    @pytest.mark.parametrize(
        ("alone_ms", "beside_ms", "found"),
        [(1.0, 1.14, False), (1.0, 1.16, True), (0.02, 0.029, False), (0.02, 0.031, True)],
    )
    def test_a_reference_may_slow_down_by_a_seventh(self, alone_ms: float, beside_ms: float, found: bool) -> None:  # noqa: FBT001 - a parameter
        """Or by 10 us: clocks and heat."""
        seen = alone(side_call(alone_ms), plain_calls(20, reference=side_call(beside_ms)))

        assert paced(seen) == ["RH-REFERENCE-SLOWED"] * found

    def test_a_slowed_reference_is_not_said_by_a_host_clock(self) -> None:
        """Whatever runs on a CPU slows whatever else does."""
        assert paced(evidence(plain_calls(20, reference=side_call(3.0)), cpu_clock=True)) == []


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        (4e-5, 3e-7, False), (6e-5, 3e-7, True), (7.5e-5, 1e-5, False), (8.5e-5, 1e-5, True),
        (0.09, 3e-7, True), (0.11, 3e-7, False),
    ],
)  # fmt: skip
def test_precision_has_its_borders_too(ours: float, theirs: float, found: bool) -> None:  # noqa: FBT001 - a parameter
    """Between a long fp32 sum and TF32, eight times the reference's own error, and below what is plainly wrong."""
    outcome = replace(RIGHT, oracle_row=ours, reference_oracle_row=theirs)

    assert bool(names(precision.detect(evidence([call(0, DrawKind.SPARSE, outcome=outcome)]), Policy()))) == found
