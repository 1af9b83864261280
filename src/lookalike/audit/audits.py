"""All three audits of a set of encoders, from judged ranks computed once, with cautions for the reader."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial, isnan
from typing import Literal

from pydantic import Field

from lookalike.audit.correlation import FEWEST, possible_values
from lookalike.audit.coverage_sweep import CoverageSweep, coverage_sweep
from lookalike.audit.full_coverage import FullCoverage, covered_queries, full_coverage
from lookalike.audit.leave_one_out import LeaveOneOut, leave_one_out, subsets
from lookalike.audit.surfaced import Surfaced, require_aligned
from lookalike.core.errors import EncoderError, LabelsError
from lookalike.core.progress import Progress, part
from lookalike.core.settings import CheckedSettings
from lookalike.core.text import listed, plural, quoted
from lookalike.core.types import Basis, JudgedRanks
from lookalike.evaluate.measures.table import Measure
from lookalike.evaluate.significance.bootstrap import Resampling
from lookalike.evaluate.significance.intervals import REPLICATES
from lookalike.evaluate.significance.summary import Enough, Seed

MEASURES = ("DCS", "EHR@5", "AUC_mic", "AUC_mac", "BPREF")  # VSD Table 1
ENOUGH = 5


class AuditSettings(CheckedSettings):
    """Which labels to leave out, and which queries count as fully covered."""

    rule: Literal["surfaced", "only"] = Field(
        "surfaced",
        description="Which labels to leave out: all pairs that a generator proposed, or those that only it proposed.",
    )
    top: int | None = Field(
        None,
        ge=1,
        description="Distinct items that each generator proposed per query (default: as recorded in the pool).",
    )
    k: int = Field(5, ge=1, description="Number of items in a result list (the K of HR@K).")
    full_coverage: Literal["every", "each"] = Field(
        "every",
        description="Use queries that are fully labelled for every generator, or for each encoder on its own.",
    )
    replicates: Literal[0] | Enough = Field(
        REPLICATES, description="Bootstrap samples for intervals and p-values. 0: no intervals."
    )
    seed: Seed = 0


@dataclass(frozen=True)
class Audits:
    """The results of the audits. `generators` retrieved all but `of_none` of the `labels` labelled pairs.

    `recorded`: whether the pool's own record says so, or ranks below `top` were used instead. `replicates` is 0 where
    no intervals were made. `cautions` are sentences to read first; `coverage_cautions` are those on full coverage and
    the sweep alone, and `table_cautions` those on the tables of the papers alone, which no verdict rests on.
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
    table_cautions: tuple[str, ...]


def audits(
    encoders: Sequence[JudgedRanks],
    generators: Sequence[JudgedRanks],
    surfaced: Surfaced,
    measures: Sequence[Measure],
    settings: AuditSettings,
    *,
    progress: Progress | None = None,
) -> Audits:
    """Leave-one-out, full coverage and the coverage sweep (VSD 7.2, D), with bootstrap intervals on request.

    `generators` are the judged ranks by which a query is fully covered (`full_coverage="every"`); encoders alone are
    scored.
    """
    if not encoders:
        raise EncoderError("There are no encoders to audit.", fix="Name encoders, or embed some first.")
    if len({one.encoder for one in encoders}) < len(encoders):
        raise EncoderError("Two encoders have the same name.", fix="Give each encoder its own name.")
    require_aligned([*encoders, *generators])
    if len(encoders[0]) == 0:
        raise LabelsError(
            "No label can be ranked, so there is nothing to audit.", fix="Label some pairs first."
        )
    scored = subsets(encoders, measures, surfaced, settings.rule)
    covered = covered_queries(encoders, generators, settings.k, settings.full_coverage)
    queries = encoders[0].query_codes[0]
    resampling = Resampling(queries, settings.replicates, settings.seed) if settings.replicates else None
    left_out = leave_one_out(scored, resampling, part(progress, 0, 3))
    full = full_coverage(scored, encoders, covered, resampling, part(progress, 1, 3))
    swept = coverage_sweep(encoders, measures, covered, resampling, part(progress, 2, 3))
    of_coverage = _coverage(full, surfaced, {one.encoder for one in generators}, len(encoders))
    of_tables = (*_few(len(encoders)), *_left_out(surfaced, left_out), *of_coverage)
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
        settings.replicates,
        settings.seed,
        encoders[0].basis,
        (*_provenance(surfaced, left_out), *of_tables, *_undefined(left_out)),
        of_coverage,
        of_tables,
    )


def _few(encoders: int) -> tuple[str, ...]:
    """What a small number of encoders limits."""
    if encoders < FEWEST:
        return (
            f"The order of {plural(encoders, 'encoder')} cannot be correlated: at least 3 are needed, 5 or more are "
            "better. "
            "Add some: lookalike embed ENCODER",
        )
    if encoders >= ENOUGH:
        return ()
    return (
        f"Correlations over only {encoders} encoders are weak evidence. Without ties SC can take at most "
        f"{possible_values(encoders)} values, and chance alone gives a perfect one with "
        f"p = {2 / factorial(encoders):.3f}.",
    )


def _provenance(surfaced: Surfaced, found: LeaveOneOut) -> tuple[str, ...]:
    """Where the labels came from, where that limits the results."""
    cautions = []
    if not surfaced.recorded:
        cautions.append(
            f"No pool records who retrieved the labelled pairs. {quoted(surfaced.generators)} count as generators of "
            f"the pairs they rank below {surfaced.top}."
        )
    if len(surfaced.generators) == 1:
        cautions.append(
            "There is only one generator: without its labels only pairs from other sources remain."
        )
    empty = [one.generator for one in found.omissions if one.left == 0]
    if empty:
        cautions.append(
            f"Without the labels of {quoted(empty)} no label remains, so these values are undefined."
        )
    return tuple(cautions)


def _left_out(surfaced: Surfaced, found: LeaveOneOut) -> tuple[str, ...]:
    """Labels that leaving out a generator does not touch."""
    cautions = []
    if surfaced.of_none:
        cautions.append(
            f"{plural(surfaced.of_none, 'labelled pair')} came from no generator. They are never left out."
        )
    unchanged = [one.generator for one in found.omissions if one.dropped == 0]
    if unchanged:
        cautions.append(
            f"Leaving out {quoted(unchanged)} changes nothing: this rule drops no labelled pair of theirs."
        )
    return tuple(cautions)


def _coverage(found: FullCoverage, surfaced: Surfaced, ranked: set[str], encoders: int) -> tuple[str, ...]:
    """What limits the results on full coverage, and what to do about it."""
    unknown = [name for name in surfaced.generators if name not in ranked]
    cautions = []
    if unknown and found.which == "every":
        cautions.append(f"Full coverage ignores the lists of {quoted(unknown)}, which have no vectors here.")
    covered = [one for one in found.covered if one.queries]
    if not covered:
        who = "all generators and an encoder" if found.which == "every" else "any encoder"
        cautions.append(
            f"No query has its top {found.k} fully labelled for {who}. Label the missing pairs "
            f"(lookalike discover --top {max(found.k, surfaced.top)}), use a smaller K, or count per encoder "
            "(--full-coverage each)."
        )
    elif len(covered) < FEWEST <= encoders:
        cautions.append(
            f"Only {len(covered)} of the encoders have fully covered queries, which is too few to correlate."
        )
    return tuple(cautions)


def _undefined(found: LeaveOneOut) -> tuple[str, ...]:
    """Scores that are undefined on all labels."""
    gone = [f"{one.measure} of {one.encoder}" for one in found.spreads if isnan(one.full)]
    return (f"Undefined on all labels and left out: {listed(gone, most=5)}.",) if gone else ()
