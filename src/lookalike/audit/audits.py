"""All three audits of a set of encoders, from judged ranks made once, and what to be told before reading them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial, isnan

from lookalike.audit.correlate import FEWEST, possible_values
from lookalike.audit.coverage_sweep import CoverageSweep, coverage_sweep
from lookalike.audit.full_coverage import FullCoverage, covered_queries, full_coverage
from lookalike.audit.leave_one_out import LeaveOneOut, leave_one_out, subsets
from lookalike.audit.rescore import Rescorer
from lookalike.audit.surfaced import Surfaced, require_aligned
from lookalike.core.checks import at_least, shortened
from lookalike.core.errors import EncoderError, LabelsError
from lookalike.core.progress import Progress
from lookalike.core.types import Basis, JudgedRanks
from lookalike.evaluate.intervals import LEVEL, require_settings
from lookalike.evaluate.measures import Measure
from lookalike.evaluate.resample import Resampling

MEASURES = ("DCS", "EHR@5", "AUC_mic", "AUC_mac", "BPREF")  # VSD Table 1
ENOUGH = 5


@dataclass(frozen=True)
class Audits:
    """What the audits found. `generators` put `labels` - `of_none` of the labelled pairs forward.

    `recorded`: whether that is the pool's provenance, or rebuilt from ranks below `top`. `replicates` is 0 where no
    intervals were made. `cautions` are sentences to read first; `coverage_cautions` are those that concern
    full coverage and the sweep alone.
    """

    leave_one_out: LeaveOneOut
    full_coverage: FullCoverage
    coverage_sweep: CoverageSweep
    generators: tuple[str, ...]
    labels: int
    queries: int
    of_none: int
    recorded: bool
    top: int
    replicates: int
    seed: int
    basis: Basis
    cautions: tuple[str, ...]
    coverage_cautions: tuple[str, ...]


def audits(
    encoders: Sequence[JudgedRanks],
    generators: Sequence[JudgedRanks],
    surfaced: Surfaced,
    measures: Sequence[Measure],
    *,
    k: int = 5,
    rule: str = "surfaced",
    which: str = "every",
    replicates: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Audits:
    """Leave-one-out, full coverage and the coverage sweep of SPEC 8, with bootstrap intervals where asked for.

    `generators` are the judged ranks by which a query is fully covered (`which="every"`); encoders alone are scored.
    """
    at_least(k, 1, "k")
    require_draws(replicates, seed)
    if not encoders:
        raise EncoderError("There are no encoders to audit.", fix="Name some, or embed some first.")
    if len({one.encoder for one in encoders}) < len(encoders):
        raise EncoderError("Two encoders have one name.", fix="Give each encoder a name of its own.")
    require_aligned([*encoders, *generators])
    if len(encoders[0]) == 0:
        raise LabelsError(
            "No label can be ranked, so there is nothing to audit.", fix="Label some pairs first."
        )
    ready = [Rescorer(one, measures) for one in encoders]
    scored = subsets(ready, surfaced, rule)
    covered = covered_queries(encoders, generators, k, which)
    queries = encoders[0].query_codes[0]
    resampling = Resampling(queries, replicates, seed) if replicates else None
    left_out = leave_one_out(scored, resampling, _third(progress, 0))
    full = full_coverage(scored, ready, covered, resampling, _third(progress, 1))
    swept = coverage_sweep(ready, covered, resampling, _third(progress, 2))
    of_coverage = _coverage(full, surfaced, {one.encoder for one in generators})
    return Audits(
        left_out,
        full,
        swept,
        surfaced.generators,
        len(encoders[0]),
        len(queries),
        surfaced.of_none,
        surfaced.recorded,
        surfaced.top,
        replicates,
        seed,
        encoders[0].basis,
        (
            *_few(len(encoders)),
            *_provenance(surfaced, left_out),
            *of_coverage,
            *_undefined(left_out),
        ),
        of_coverage,
    )


def require_draws(replicates: int, seed: int) -> None:
    """Refuse a number of draws that makes no interval; 0 asks for none."""
    if replicates:
        require_settings(replicates, seed, LEVEL, "percentile")


def _few(encoders: int) -> tuple[str, ...]:
    """How little so few encoders can tell."""
    if encoders < FEWEST:
        return (
            f"With {encoders} encoder{'s' * (encoders > 1)} nothing can be correlated: at least 3 are needed, better "
            "5 or more. Add some: lookalike embed ENCODER",
        )
    if encoders >= ENOUGH:
        return ()
    return (
        f"Only {encoders} encoders: without ties SC can take at most {possible_values(encoders)} values, and chance "
        f"alone gives a perfect one with p = {2 / factorial(encoders):.3f}. Read every correlation over encoders "
        "as a hint.",
    )


def _provenance(surfaced: Surfaced, found: LeaveOneOut) -> tuple[str, ...]:
    """Where the labels came from, as far as it limits what follows."""
    said = []
    if not surfaced.recorded:
        said.append(
            f"Who put a pair forward was not read from a pool: each of {shortened(surfaced.generators)} is taken to "
            f"have put forward what it ranks below {surfaced.top}."
        )
    if surfaced.of_none:
        said.append(f"{surfaced.of_none:,} labelled pairs came from no generator; they are never left out.")
    if len(surfaced.generators) == 1:
        said.append(
            "There is one generator only, so leaving it out leaves what came from elsewhere, if anything."
        )
    empty = [one.generator for one in found.omissions if one.left == 0]
    if empty:
        said.append(f"Without the labels of {shortened(empty)} none is left: those figures are undefined.")
    idle = [one.generator for one in found.omissions if one.dropped == 0]
    if idle:
        said.append(
            f"{shortened(idle)} put forward no labelled pair that this rule drops: leaving it out changes nothing."
        )
    return tuple(said)


def _coverage(found: FullCoverage, surfaced: Surfaced, ranked: set[str]) -> tuple[str, ...]:
    """What full coverage cannot tell here, and what to do about it."""
    unknown = [name for name in surfaced.generators if name not in ranked]
    blind = (
        (
            f"Full coverage does not look at the lists of {shortened(unknown)}: there are no vectors of them here.",
        )
        if unknown and found.which == "every"
        else ()
    )
    return blind + _covered(found, surfaced)


def _covered(found: FullCoverage, surfaced: Surfaced) -> tuple[str, ...]:
    covered = [one for one in found.covered if one.queries]
    if not covered:
        who = "any generator and encoder at once" if found.which == "every" else "any encoder"
        return (
            f"No query has its top {found.k} all labelled for {who}: label what is missing there "
            f"(lookalike discover --top {max(found.k, surfaced.top)}), take a smaller K, or count per encoder "
            "(--full-coverage each).",
        )
    if len(covered) < FEWEST:
        return (
            f"Only {len(covered)} of the encoders have fully covered queries, so nothing can be correlated over "
            "encoders there.",
        )
    return ()


def _undefined(found: LeaveOneOut) -> tuple[str, ...]:
    """Scores that no label set defines."""
    gone = [(one.measure, one.encoder) for one in found.spreads if isnan(one.full)]
    return (
        (f"Undefined on all labels, so left out: {shortened([' of '.join(one) for one in gone])}.",)
        if gone
        else ()
    )


def _third(progress: Progress | None, at: int) -> Progress | None:
    """Progress of one of the three audits as progress of all."""
    if progress is None:
        return None
    return lambda done, total: progress(at * total + done, 3 * total)
