"""What `lookalike audit` prints: VSD Table 1, EDS Table 3, VSD Tables 5 and 6, each with its meaning."""

import math
from collections.abc import Iterable

from lookalike.audit.audits import Audits
from lookalike.audit.correlation import FEWEST, Correlation, Correlations
from lookalike.audit.leave_one_out import NOT_VALIDITY, LeaveOneOut, Spread
from lookalike.cli.console import say, table
from lookalike.core.text import folded, plural, quoted

NAME = 20
AREAS = ("AUC_mic", "AUC_mac")
DROPPED = {"surfaced": "proposed", "only": "alone proposed"}


def print_audits(found: Audits, *, research: bool) -> None:
    """On how many labels the audits rest; for `research` the three audits, then what is undefined and why."""
    say(
        f"{plural(found.labels, 'labelled pair')} of {plural(found.queries, 'query', 'queries')}, "
        f"{plural(len(found.leave_one_out.encoders), 'encoder')}, {plural(len(found.generators), 'generator')}."
    )
    for sentence in found.cautions:
        if sentence in found.table_cautions and not research:
            continue
        say(folded(f"Caution: {sentence}"))
    if not research:
        say("The tables of the papers, with correlations and their intervals: lookalike audit --research")
        return
    say("")
    _table_1(found)
    if _is_correlated(found) and any(name in found.leave_one_out.measures for name in AREAS):
        say("")
        _eds_table_3(found.leave_one_out)
    if found.coverage_sweep.encoders:
        say("")
        _table_5(found)
    for reason in reasons(found):
        say(folded(f"Undefined: {reason}."))
    lacking = no_intervals(found)
    if lacking:
        say(folded(f"No interval: {lacking} (--json has all)."))


def _is_correlated(found: Audits) -> bool:
    """Whether there are encoders enough to correlate; a caution tells the reader where there are not."""
    return len(found.leave_one_out.encoders) >= FEWEST


def _table_1(found: Audits) -> None:
    audit, full = found.leave_one_out, found.full_coverage
    say(f"Without what each generator {DROPPED[audit.rule]} (layout of VSD Table 1)")
    rows = []
    for measure in audit.measures:
        for omission in audit.omissions:
            name = omission.generator
            score = _score(audit.spread(measure, name)) if name in audit.encoders else "-"
            bias, against = audit.agreement(measure, name), full.agreement(measure, name)
            rows.append(
                [measure, _short(name), score, *_four(bias.correlations), *_four(against.correlations)]
            )
        for encoder in audit.encoders:
            if encoder not in found.generators:
                rows.append([measure, _short(encoder), _score(audit.spread(measure, encoder)), *["-"] * 8])
    head = ["measure", "encoder", "score ± sd", "SC", "KT", "r", "n", f"SC@{full.k}", "KT", "r", "n"]
    columns = len(head) if _is_correlated(found) else 3
    table(head[:columns], [row[:columns] for row in rows], left=2)
    for omission in audit.omissions:
        dropped = f"{plural(omission.dropped, 'label')} dropped, {omission.left:,} left"
        emptied = f"{plural(omission.queries_emptied, 'query', 'queries')} without any"
        say(folded(f"Without {omission.generator}: {dropped}, {emptied}.", "  "))
    order = "do the encoders keep their order without the labels of this generator? 1: yes; 0: chance."
    same = f"the same against HR@{full.k} where all of the top {full.k} is labelled ({_covered(found)})."
    say("score: mean and standard deviation over the label sets that leave one generator out.")
    if _is_correlated(found):
        say(folded(f"SC, KT, r: {order}"), folded(f"SC@{full.k}, KT, r: {same}"), folded(NOT_VALIDITY))
        _p_and_intervals(found)


def _p_and_intervals(found: Audits) -> None:
    audit, full = found.leave_one_out, found.full_coverage
    say("")
    bands = f", 95% intervals ({found.replicates:,} bootstrap replicates)" if found.replicates else ""
    say(f"Uncertainty of SC: p-value of no correlation{bands}")
    rows = []
    for measure in audit.measures:
        for name in found.generators:
            bias, against = (part.agreement(measure, name).correlations.spearman for part in (audit, full))
            rows.append([measure, _short(name), *_sure(bias, found), *_sure(against, found)])
    span = ["interval"] if found.replicates else []
    table(["measure", "without", "SC", "p", *span, f"SC@{full.k}", "p", *span], rows, left=2)
    tests = sorted({one.correlations.spearman.test for one in audit.bias if one.correlations.spearman.test})
    if tests:
        words = {"exact": "exact, over all orders of the encoders", "t": "by Student's t"}
        say(f"p: {' and '.join(words[test] for test in tests)}.")


def _sure(one: Correlation, found: Audits) -> list[str]:
    span = [_span(one)] if found.replicates else []
    return [_number(one.value), _p(one.p), *span]


def _eds_table_3(audit: LeaveOneOut) -> None:
    say("Areas under the curve, each without its own labels (layout of EDS Table 3)")
    areas = [name for name in AREAS if name in audit.measures]
    rows = []
    for omission in audit.omissions:
        row = [_short(omission.generator)]
        for measure in areas:
            own = omission.generator in audit.encoders
            found = audit.agreement(measure, omission.generator).correlations.spearman
            row += [_score(audit.spread(measure, omission.generator)) if own else "-"]
            row += [_number(found.value), _p(found.p)]
        rows.append(row)
    table(["without", *(head for area in areas for head in (area, "SC", "p"))], rows)


def _table_5(found: Audits) -> None:
    sweep = found.coverage_sweep
    say(
        folded(
            f"Labels taken from the top of fully labelled lists, against HR@{sweep.k} "
            "(layout of VSD Tables 5 and 6)"
        )
    )
    rows = []
    for measure in sweep.measures:
        for level in sweep.levels:
            cell = sweep.cell(level, measure)
            mean, over = cell.over_queries, cell.over_encoders
            band = [_span(mean.spearman)] if found.replicates else []
            rows.append([measure, f"{level:.1f}", *_linear_first(mean, band), *_linear_first(over, [])])
    band = ["SC interval"] if found.replicates else []
    head = ["measure", "coverage", "r", "KT", "SC", *band, "encoders", "r", "KT", "SC", "n"]
    columns = len(head) if _is_correlated(found) else len(head) - 4
    table(head[:columns], [row[:columns] for row in rows])
    easy = f"does the measure find the queries easy that HR@{sweep.k} does?"
    say(
        folded(f"Left: one query against another, mean over encoders: {easy}"),
        *(["Right: one encoder against another (n encoders)."] if _is_correlated(found) else []),
        "Coverage: share of the top that still has labels.",
    )


def _covered(found: Audits) -> str:
    full = found.full_coverage
    counts = [one.queries for one in full.covered if one.queries]
    if not counts:
        return "no query here"
    some = f"{max(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
    return f"{some} queries, {plural(len(counts), 'encoder')}"


def _four(found: Correlations) -> list[str]:
    """SC, KT, r and n, as VSD Table 1 has them."""
    kinds = (found.spearman, found.kendall, found.pearson)
    return [*(_number(one.value) for one in kinds), str(found.spearman.n)]


def _linear_first(found: Correlations, band: list[str]) -> list[str]:
    """r, KT, SC with its band, and n, as VSD Tables 5 and 6 have them."""
    kinds = (found.pearson, found.kendall, found.spearman)
    return [*(_number(one.value) for one in kinds), *band, str(found.spearman.n)]


def _score(spread: Spread) -> str:
    if math.isnan(spread.mean):
        return "undefined"
    sd = f"{spread.sd:.3f}" if math.isfinite(spread.sd) else "-"
    of = f" ({spread.n})" if spread.n < len(spread.without) else ""
    return f"{spread.mean:.3f} ± {sd}{of}"


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "-"


def _p(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "<.001" if value < 0.001 else f"{value:.3f}"


def _span(one: Correlation) -> str:
    return f"{one.low:.2f} to {one.high:.2f}" if math.isfinite(one.low) else "-"


def _short(name: str) -> str:
    return name if len(name) <= NAME else f"{name[: NAME // 2]}…{name[len(name) - (NAME - 1) // 2 :]}"


def reasons(found: Audits) -> list[str]:
    """Why figures are undefined."""
    why = []
    for spread in found.leave_one_out.spreads:
        gone = [name for name, at in zip(found.generators, spread.without, strict=True) if math.isnan(at)]
        if gone:
            without = f"{spread.encoder} without {', '.join(gone)}"
            why.append(f"{spread.measure}: {'; '.join(spread.reasons)}: {without}")
    if _is_correlated(found):
        why += _of((one.measure, one.correlations) for one in found.leave_one_out.bias)
        why += _of(
            (f"{one.measure} at full coverage", one.correlations) for one in found.full_coverage.agreements
        )
    why += _of((f"{cell.measure} over queries", cell.over_queries) for cell in found.coverage_sweep.cells)
    return list(dict.fromkeys(why))


def no_intervals(found: Audits) -> str:
    """Which SC have a value but no interval, of those that are printed with one; "" where none lacks it."""
    shown = [
        *((f"{one.measure} without {one.omitted}", one.correlations) for one in found.leave_one_out.bias),
        *(
            (f"{one.measure}{one.omitted and f' without {one.omitted}'} at full coverage", one.correlations)
            for one in found.full_coverage.agreements
        ),
        *(
            (f"{cell.measure} over queries at coverage {cell.coverage:.1f}", cell.over_queries)
            for cell in found.coverage_sweep.cells
        ),
    ]
    names = [name for name, three in shown if three.spearman.no_interval and not three.spearman.reason]
    return f"more than 5% of the replicates have no value of {quoted(names)}" if names else ""


def _of(named: Iterable[tuple[str, Correlations]]) -> list[str]:
    return [f"{name}: {three.reason}" for name, three in named if three.reason]
