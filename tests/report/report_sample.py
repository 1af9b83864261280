"""A whole report with believable figures. `python tests/report/report_sample.py out.html` writes it."""

import math
import sys
from pathlib import Path
from random import Random

from furniture import KINDS, thumbnail
from report_audits import sample_audits
from report_exposure import exposure_part, galleries
from report_findings import around, findings, groups, judgement
from report_lessons import learning_part

from lookalike.audit.sampling.values import SampledValue
from lookalike.discover.statistics import PoolFigures
from lookalike.evaluate.significance.results import ScoreResult
from lookalike.evaluate.significance.summary import Settings
from lookalike.report.content import (
    Hit,
    MeasureTable,
    PoolPart,
    Report,
    ReportPhoto,
    Strip,
    StripGroup,
)
from lookalike.report.page import render

GENERATORS = ("argus", "beit", "clip", "dino")
OTHERS = ("dinov2", "openclip", "descriptor:color+hog")
MEASURES = (
    "DCS(alpha=10)", "EHR@5", "HR@5", "coverage@5", "AUC_mic", "AUC_mac", "PR-AUC_mic", "PR-AUC_mac", "BPREF"
)  # fmt: skip
VALUES = {
    "argus": (0.658, 0.743, 0.743, 1.0, 0.720, 0.714, 0.781, 0.809, 0.583),
    "beit": (0.652, 0.771, 0.771, 1.0, 0.741, 0.735, 0.797, 0.822, 0.601),
    "clip": (0.628, 0.648, 0.648, 1.0, 0.652, 0.613, 0.702, 0.741, 0.495),
    "dino": (0.632, 0.704, 0.704, 1.0, 0.656, 0.676, 0.733, 0.769, 0.560),
    "dinov2": (0.676, 0.851, 0.545, 0.640, 0.724, 0.723, 0.788, 0.814, 0.595),
    "openclip": (0.671, 0.831, 0.502, 0.604, 0.714, 0.715, 0.780, 0.808, 0.588),
    "descriptor:color+hog": (0.541, math.nan, 0.0, 0.0, 0.548, 0.541, 0.643, 0.690, 0.452),
}
NASTY = '<script>alert(1)</script> "it\'s" [x]\n{{ 7 * 7 }}.jpg'


def photo(kind: str, number: int) -> ReportPhoto:
    """One generated photo."""
    name = NASTY if (kind, number) == ("chair", 3) else f"{kind}/{number:03d}.jpg"
    return ReportPhoto(name, f"{kind}-{number:03d}", kind, thumbnail(kind, number))


def sample_report() -> Report:
    """The whole report: every part is there."""
    return Report(
        title="Similar furniture: what to show beside a piece",
        subtitle="Seven encoders on 2,400 images, judged by two experts per pair",
        created="20 November 2026, 10:55",
        generated=True,
        facts=(
            ("images", "2,400"),
            ("items", "812"),
            ("categories", "6"),
            ("splits", "1,440 train, 360 validation, 600 test"),
            ("near duplicates", "37"),
        ),
        samples=tuple(photo(kind, number) for number in (1, 2) for kind in KINDS),
        left_out=(
            ("The file is not an image that can be decoded.", 2, ("lamps/broken.jpg", NASTY)),
            ("The photo is smaller than 32 pixels.", 1, ("icons/16.png",)),
        ),
        pool=pool_part(),
        measures=measure_table(),
        verdict=judgement(GENERATORS, OTHERS),
        audit=sample_audits(GENERATORS, GENERATORS + OTHERS),
        strips=strip_groups(),
        pairs=galleries(),
        exposure=exposure_part(GENERATORS + OTHERS),
        drawn=(
            SampledValue("HR@5", "dinov2", "", 0.612, 0.551, 0.668, "Wilson", 200, 0, ""),
            SampledValue("HR@5", "dinov2", "descriptor:hog", 0.102, 0.031, 0.171, "MOVER", 200, 0, "better"),
        ),
        learning=learning_part(_strips),
        conflicts=("chair/011.jpg and chair/042.jpg were called similar one way and dissimilar the other.",),
        notes=("Seed 7; cosine similarity; distinct items; `lookalike evaluate` took 4 seconds.",),
        next_steps=(
            "lookalike discover --top 10",
            "Have the experts label what `dinov2` adds to the pool, then run `lookalike evaluate` again.",
        ),
    )


def pool_part() -> PoolPart:
    """A pool of four generators."""
    overlap = {name: {} for name in GENERATORS}
    for i, j, shared in ((0, 1, 18.4), (0, 2, 12.1), (0, 3, 14.9), (1, 2, 16.3), (1, 3, 27.8), (2, 3, 9.6)):
        overlap[GENERATORS[i]][GENERATORS[j]] = overlap[GENERATORS[j]][GENERATORS[i]] = shared
    figures = PoolFigures(
        pairs=3_941, most=4_800, duplicates=0.179, queries=240, top=5, candidates_per_query=16.4, asked=3_760,
        saving_catalog=120.0, saving_pairs=146.1, generators=GENERATORS, overlap=overlap, mean_overlap=16.5,
        only_by=dict(zip(GENERATORS, (610, 702, 655, 701), strict=True)),
    )  # fmt: skip
    return PoolPart(figures, hours_low=53.7, hours_high=68.4, labelled=3_902, positives=2_310)


def measure_table() -> MeasureTable:
    """Seven encoders, nine measures, one undefined value; with the complete truth beside it."""
    values = {
        name: {m: _cell(m, v) for m, v in zip(MEASURES, VALUES[name], strict=True)}
        for name in GENERATORS + OTHERS
    }
    return MeasureTable(
        values,
        GENERATORS,
        truth=true_table(),
        settings=Settings(),
        findings=findings(),
        groups=groups(GENERATORS + OTHERS),
        remarks=("dinov2-finetuned was trained on these labels and left out here.",),
    )


def true_table() -> MeasureTable:
    """The same encoders where every pair is known."""
    true_hr = (0.731, 0.762, 0.640, 0.699, 0.748, 0.722, 0.311)
    true_dcs = (0.668, 0.671, 0.630, 0.641, 0.679, 0.670, 0.522)
    values = {
        name: {
            measure: ScoreResult(value, 240, measure, "", None)
            for measure, value in (("DCS(alpha=10)", dcs), ("EHR@5", hr), ("HR@5", hr))
        }
        for name, dcs, hr in zip(GENERATORS + OTHERS, true_dcs, true_hr, strict=True)
    }
    return MeasureTable(values, GENERATORS)


def _cell(measure: str, value: float) -> ScoreResult:
    if math.isnan(value):
        return ScoreResult(value, 0, measure, "None of the first 5 results of any query has a label.", None)
    queries = 187 if measure in ("AUC_mac", "PR-AUC_mac", "BPREF") else 240
    return ScoreResult(value, queries, measure, "", around(value, 0.031))


def strip_groups() -> tuple[StripGroup, ...]:
    """Three groups, each query with two encoders."""
    about = (
        ("The best queries", "Where `dinov2` finds most of what the experts call similar.", (1, 1, 1, 1, 0)),
        ("The worst queries", "Where it finds least. Look here for what to mend.", (0, 0, None, 0, 1)),
        (
            "Queries drawn at random",
            "Neither picked for being good nor for being bad.",
            (1, None, 0, 1, None),
        ),
    )
    return tuple(
        StripGroup(
            title, words, tuple(_strips(kind, 3 + i, labels) for i in range(2) for kind in KINDS[g : g + 1])
        )
        if g == 1
        else StripGroup(title, words, _pairs_of_strips(g, labels))
        for g, (title, words, labels) in enumerate(about)
    )


def _pairs_of_strips(group: int, labels) -> tuple[Strip, ...]:
    rows = []
    for kind in KINDS[2 * group : 2 * group + 2]:
        rows += [_strips(kind, 3, labels, "dinov2"), _strips(kind, 3, labels[::-1], "clip")]
    return tuple(rows)


def _strips(kind: str, number: int, labels, encoder: str = "dinov2") -> Strip:
    judged = [label for label in labels if label is not None]
    score = Random(f"{kind} {encoder}").uniform(0.8, 0.95)
    hits = tuple(
        Hit(photo(kind if label != 0 else "shelf", number + 1 + i), score - 0.021 * i, label)
        for i, label in enumerate(labels)
    )
    return Strip(photo(kind, number), encoder, hits, f"EHR@5 = {sum(judged) / len(judged):.3f}")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(sample_report()), encoding="utf-8")
