"""The vocabulary: values that can't be made wrong, plans that nobody can guess, statistics that are what they say."""

import math
import random
import statistics
from collections import Counter

import pytest

from kernelguard.terms.codes import CODES
from kernelguard.terms.errors import UsageError
from kernelguard.terms.findings import Capability, CapabilityStatus, Finding, Severity
from kernelguard.terms.plan import BURST_WIDTH, BURSTS, CANARIES, PROBE_KINDS, SOLO_CALLS, DrawKind, dice, draw_plan
from kernelguard.terms.policy import Isolation, Limits, Policy, Rules
from kernelguard.terms.problem import Candidate, Problem, digest_of
from kernelguard.terms.samples import finite, median_error, paired_ratio, quantile, spread, summary, three_digits
from kernelguard.terms.verdict import WORST_FIRST, Integrity, Verdict

SEED, OTHER_SEED = "ab" * 32, "cd" * 32


class TestPlan:
    """The hidden question paper."""

    def test_a_plan_is_repeated_from_its_seed_and_from_no_other(self) -> None:
        """A revealed plan must be repeatable, and an unrevealed one unguessable."""
        policy = Policy()

        assert draw_plan(policy, SEED) == draw_plan(policy, SEED)
        assert draw_plan(policy, SEED).calls != draw_plan(policy, OTHER_SEED).calls

    @pytest.mark.parametrize(("perf", "correct"), [(1, 1), (5, 2), (100, 5), (7, 12)])
    def test_a_plan_holds_what_the_policy_asked_for(self, perf: int, correct: int) -> None:
        """num_perf_trials counts plain scored calls, num_correct_trials probe draws."""
        plan = draw_plan(Policy(num_perf_trials=perf, num_correct_trials=correct), SEED)
        kinds = Counter(call.kind for call in plan.calls)

        assert sum(call.scored for call in plan.calls) == perf
        assert kinds[DrawKind.PLAIN] == perf + 1
        assert sum(kinds[kind] for kind in PROBE_KINDS) == correct
        assert kinds[DrawKind.CANARY] == 3 * CANARIES
        assert kinds[DrawKind.BURST] == BURSTS
        assert len(plan.solo.calls) == SOLO_CALLS

    def test_scored_calls_are_plain_and_the_first_call_is_not_scored(self) -> None:
        """The first call compiles and tunes; canaries and probes are no measure of the problem."""
        plan = draw_plan(Policy(), SEED)

        assert plan.blocks[0].warmup
        assert not any(call.scored for call in plan.blocks[0].calls)
        assert all(call.kind is DrawKind.PLAIN for call in plan.calls if call.scored)

    def test_inputs_are_never_asked_twice_but_for_canaries(self) -> None:
        """A repeated seed would make an honest answer of a cache."""
        plan = draw_plan(Policy(), SEED)
        calls = (*plan.solo.calls, *plan.calls)
        fresh = [seed for call in calls if call.kind is not DrawKind.CANARY for seed in call.input_seeds]

        assert len(set(fresh)) == len(fresh)
        assert len({call.index for call in calls}) == len(calls)

    def test_a_canary_is_one_input_three_times_in_a_row(self) -> None:
        """New, again, and edited: what tells a cache from a kernel."""
        canaries = [call for call in draw_plan(Policy(), SEED).calls if call.kind is DrawKind.CANARY]

        for first, again, edited in zip(canaries[::3], canaries[1::3], canaries[2::3], strict=True):
            assert (first.variant, again.variant, edited.variant) == (0, 1, 2)
            assert first.input_seeds == again.input_seeds == edited.input_seeds
            assert (again.index, edited.index) == (first.index + 1, first.index + 2)

    def test_kinds_are_shuffled_so_that_position_tells_nothing(self) -> None:
        """There are no phases that a candidate could wait out."""
        places = {
            tuple(number for number, call in enumerate(draw_plan(Policy(), f"{seed:064x}").calls) if call.kind in PROBE_KINDS)
            for seed in range(20)
        }

        assert len(places) == 20

    def test_sides_take_turns_at_random(self) -> None:
        """A fixed order would give the second one a warm cache."""
        first = sum(call.candidate_first for call in draw_plan(Policy(num_perf_trials=400), SEED).calls)

        assert 150 < first < 280

    def test_a_burst_has_an_input_for_each_of_its_width(self) -> None:
        """Different inputs at one GO, so that none can be answered from another."""
        bursts = [call for call in draw_plan(Policy(), SEED).calls if call.kind is DrawKind.BURST]

        assert all(len(set(call.input_seeds)) == BURST_WIDTH and not call.scored for call in bursts)

    def test_dice_are_even(self) -> None:
        """A biased shuffle is a hint."""
        roll = dice(SEED)
        counts = Counter(roll(6) for _ in range(6000))

        assert set(counts) == set(range(6))
        assert all(850 < count < 1150 for count in counts.values())


class TestSamples:
    """Statistics of times."""

    def test_summary_agrees_with_the_standard_library(self) -> None:
        """These figures stand in every record."""
        pick = random.Random(5)
        values = [pick.uniform(1, 2) for _ in range(101)]
        seen = summary(values)

        assert seen["median"] == statistics.median(values)
        assert seen["mean"] == pytest.approx(statistics.fmean(values))
        assert seen["std"] == pytest.approx(statistics.stdev(values))
        assert (seen["min"], seen["max"], seen["num_trials"]) == (min(values), max(values), 101)
        assert seen["p10"] == pytest.approx(statistics.quantiles(values, n=10, method="inclusive")[0])
        assert seen["p90"] == pytest.approx(statistics.quantiles(values, n=10, method="inclusive")[8])

    def test_too_few_values_say_so(self) -> None:
        """No values are no zero, and one value has no known error."""
        assert summary([]) == {}
        assert summary([2.0])["std"] == 0.0
        assert median_error([1.0]) == math.inf
        assert paired_ratio([1.0], [1.0]) is None
        with pytest.raises(ValueError, match="no values"):
            quantile([], 0.5)

    def test_spread_is_a_standard_deviation_that_outliers_do_not_move(self) -> None:
        """One slow call must not widen what noise explains."""
        pick = random.Random(5)
        values = [pick.gauss(10, 2) for _ in range(2001)]

        assert spread(values) == pytest.approx(2, rel=0.1)
        assert spread([*values, 1e9]) == pytest.approx(spread(values), rel=0.01)

    def test_the_error_of_the_median_is_that_of_repeated_draws(self) -> None:
        """Four of these errors decide whether a claim is upheld."""
        pick = random.Random(5)
        draws = [[pick.gauss(0, 1) for _ in range(101)] for _ in range(400)]
        real = statistics.stdev(statistics.median(values) for values in draws)

        assert statistics.fmean(map(median_error, draws)) == pytest.approx(real, rel=0.15)

    def test_a_paired_ratio_cancels_drift_and_its_interval_covers_the_truth(self) -> None:
        """A card that heats up slows both sides alike."""
        pick = random.Random(5)
        ours = [1.0 + number / 100 + pick.gauss(0, 0.01) for number in range(100)]
        theirs = [2.0 * (1.0 + number / 100) + pick.gauss(0, 0.02) for number in range(100)]
        ratio = paired_ratio(theirs, ours)

        assert ratio is not None
        middle, low, high = ratio
        assert low < 2.0 < high
        assert middle == pytest.approx(2.0, rel=0.01)
        assert high / low < 1.05
        assert paired_ratio(theirs, ours) == ratio

    def test_a_paired_ratio_drops_pairs_that_are_no_times(self) -> None:
        """A forged zero must not become an infinite speedup."""
        ratio = paired_ratio([2.0, 2.0, 2.0, 2.0], [1.0, 1.0, 0.0, -1.0])

        assert ratio is not None
        assert ratio[0] == pytest.approx(2.0)

    @pytest.mark.parametrize(("value", "rounded"), [(1.23456, 1.23), (0.00098765, 0.000988), (12345.0, 12300.0), (0.0, 0.0)])
    def test_three_digits_are_significant_ones(self, value: float, rounded: float) -> None:
        """Upstream's rounding, kept for equal files."""
        assert three_digits(value) == rounded

    def test_finite_keeps_order_and_drops_the_rest(self) -> None:
        """NaN sorts anywhere and would move a median."""
        assert finite([2.0, math.nan, 1.0, math.inf, -math.inf]) == [2.0, 1.0]


class TestPolicy:
    """What the operator may choose."""

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("device", "tpu"),
            ("domain", "all"),
            ("weights", "copied"),
            ("gpu", -1),
            ("num_correct_trials", 0),
            ("num_perf_trials", 0),
            ("plan_seed", "abc"),
            ("plan_seed", "G" * 64),
            ("budget_s", 0.0),
            ("budget_s", math.nan),
        ],
    )
    def test_a_bad_value_is_one_line_with_the_fields_name(self, field: str, value: object) -> None:
        """The operator reads it on a terminal and must know what to change."""
        with pytest.raises(UsageError) as caught:
            Policy(**{field: value})  # type: ignore[arg-type]  # bad values are the point

        assert str(caught.value).startswith(field)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("timeout_s", [0.0, -1.0, math.nan])
    def test_a_timeout_that_never_ends_is_refused(self, timeout_s: float) -> None:
        """NaN compares false, so it would be no deadline at all."""
        with pytest.raises(UsageError, match="timeout"):
            Policy(limits=Limits(timeout_s=timeout_s))

    def test_only_behaviour_reads_no_source(self) -> None:
        """The factory's graders promise so."""
        assert [rules for rules in Rules if not Policy(rules=rules).reads_source] == [Rules.BEHAVIOUR]

    def test_isolation_levels_are_ordered_from_weakest(self) -> None:
        """min_isolation compares ranks."""
        assert [level.rank for level in (Isolation.PROCESS, Isolation.LANDLOCK, Isolation.NAMESPACES, Isolation.FULL)] == [
            0,
            1,
            2,
            3,
        ]


class TestVerdict:
    """What can't be said falsely."""

    @pytest.mark.parametrize("runtime_ms", [None, 0.0, -1.0, math.nan, math.inf])
    def test_pass_without_a_time_can_not_be_made(self, runtime_ms: float | None) -> None:
        """A runtime exists exactly for PASS."""
        with pytest.raises(ValueError, match="runtime"):
            Verdict(integrity=Integrity.PASS, verified_correctness=True, verified_runtime_ms=runtime_ms)

    @pytest.mark.parametrize("integrity", [status for status in Integrity if status is not Integrity.PASS])
    def test_a_time_without_pass_can_not_be_made(self, integrity: Integrity) -> None:
        """Nothing that was not verified may look verified."""
        with pytest.raises(ValueError, match="runtime"):
            Verdict(integrity=integrity, verified_correctness=True, verified_runtime_ms=1.0)

    def test_pass_without_correctness_can_not_be_made(self) -> None:
        """A fast wrong kernel has no runtime."""
        with pytest.raises(ValueError, match="correctness"):
            Verdict(integrity=Integrity.PASS, verified_correctness=False, verified_runtime_ms=1.0)

    def test_codes_leave_out_what_does_not_weigh(self) -> None:
        """Each code once, in order, without notes."""
        findings = tuple(
            Finding(code=code, detector="d", severity=severity, summary="s")
            for code, severity in (
                ("RH-09", Severity.INFO), ("RH-07", Severity.ERROR), ("RH-02", Severity.WARNING), ("RH-07", Severity.ERROR),
            )
        )  # fmt: skip
        verdict = Verdict(integrity=Integrity.FAIL, verified_correctness=False, verified_runtime_ms=None, findings=findings)

        assert verdict.codes == ("RH-02", "RH-07")
        assert not verdict.verified

    def test_every_status_has_its_place_in_the_order(self) -> None:
        """A status outside the order could never be chosen."""
        assert set(WORST_FIRST) == set(Integrity)
        assert WORST_FIRST[-1] is Integrity.PASS


class TestFindings:
    """Opinions and what the host could see."""

    def test_a_finding_has_a_code_of_the_table_and_its_remediation(self) -> None:
        """Whoever gets a code must be able to read what to do."""
        found = Finding(code="RH-05", detector="d", severity=Severity.ERROR, summary="s")

        assert found.remediation == CODES["RH-05"].remediation
        assert Finding(code="RH-05", detector="d", severity=Severity.ERROR, summary="s", remediation="own").remediation == "own"
        with pytest.raises(ValueError, match="RH-99"):
            Finding(code="RH-99", detector="d", severity=Severity.ERROR, summary="s")

    def test_the_table_has_sixteen_codes_that_say_something(self) -> None:
        """Each also says what gets past."""
        assert list(CODES) == [f"RH-{number:02}" for number in range(1, 17)]
        assert all(row.gets_past and row.meaning and row.remediation for row in CODES.values())

    @pytest.mark.parametrize("status", list(CapabilityStatus))
    def test_only_a_required_capability_that_is_not_supported_denies_trust(self, status: CapabilityStatus) -> None:
        """Fail closed, and only where the policy insists."""
        required = Capability(name="n", status=status, required=True, detail="")
        optional = Capability(name="n", status=status, required=False, detail="")

        assert required.denies_trust == (status is not CapabilityStatus.SUPPORTED)
        assert not optional.denies_trust


def test_digests_tell_sources_apart_even_with_lone_surrogates() -> None:
    """A candidate's text is arbitrary, and freezing it must not raise."""
    assert Candidate(source="a", name="n").digest == Problem(source="a", name="m").digest == digest_of("a")
    assert digest_of("a") != digest_of("a ")
    assert digest_of("\ud800").startswith("sha256:")
