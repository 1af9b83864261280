"""What `judge` publishes of a judge: how far it agrees with the experts, and what labels are worth with it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.errors import EncoderError
from lookalike.core.text import percent, plural, value
from lookalike.encode.sources.checkpoint_file import ancestry
from lookalike.encode.spec import parse
from lookalike.judge.agreement import JudgeAgreement, agreement, shared_families
from lookalike.judge.judgments import Judge, Judgments
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.judge.questions import labels_of


@dataclass(frozen=True)
class JudgePlan:
    """What judging takes. `calls` are left to make, two for each pair; `known` answers cost nothing.

    Tokens are per call. NaN: unknown before the first calls, or without --price. `cost` and `seconds` are of the calls
    that are left.
    """

    judge: Judge
    host: str
    pairs: int
    calls: int
    known: int
    tokens_in: float
    tokens_out: float
    cost: float
    seconds: float
    notes: tuple[str, ...]


@dataclass(frozen=True)
class JudgeCalls:
    """The calls of this command and what they took. `known` answers were there before and cost nothing.

    `busy` is the share of the time in which the allowed number of calls was under way. `cost` is in the currency of
    --price; NaN without it.
    """

    calls: int
    known: int
    tokens_in: int
    tokens_out: int
    cost: float
    seconds: float
    busy: float


@dataclass(frozen=True)
class JudgeResult:
    """A finished judge. `judged` of `pairs` have a score; `failed` counts the others by reason.

    `constant` is the score of a judge that gives all pairs the same, else None.
    """

    judge: Judge
    pairs: int
    judged: int
    failed: Mapping[str, int]
    constant: float | None
    agreement: JudgeAgreement
    categories: tuple[JudgeAgreement, ...]
    calls: JudgeCalls | None
    notes: tuple[str, ...]


def judge_result(
    workspace: Workspace,
    judgments: Judgments,
    *,
    calls: JudgeCalls | None = None,
    notes: tuple[str, ...] = (),
) -> JudgeResult:
    """Compare frozen judgments with the labels as they are now. Examples that the judge was shown do not count."""
    catalog, judge = workspace.catalog, judgments.judge
    label = labels_of(catalog, workspace.labels(), judgments)
    shown = {frozenset((one.query, one.candidate)) for one in judge.examples}
    is_shown = [frozenset(ends) in shown for ends in zip(judgments.query, judgments.candidate, strict=True)]
    here = np.isfinite(judgments.score) & np.isfinite(label) & ~np.array(is_shown, bool)
    kind = strings(
        catalog.category[catalog.row[one]] if one in catalog.row else "" for one in judgments.query
    )

    def on(which: np.ndarray, category: str = "") -> JudgeAgreement:
        columns = (judgments.score, label, judgments.lists, judgments.query)
        labelled, flipped = (column[here & which] for column in columns), judgments.flipped[which]
        return agreement(*labelled, flipped=flipped, category=category, seed=judge.seed)

    names = sorted({*kind[here]} - {""})
    known = judgments.score[np.isfinite(judgments.score)]
    constant = float(known[0]) if len(known) and np.ptp(known) == 0 else None
    return JudgeResult(
        judge,
        len(judgments),
        len(known),
        judgments.failed,
        constant,
        on(np.ones(len(kind), bool)),
        tuple(on(kind == name, name) for name in names) if len(names) > 1 else (),
        calls,
        (*notes, *_warnings(workspace, judge, constant, len(judgments) - len(known))),
    )


def _warnings(workspace: Workspace, judge: Judge, constant: float | None, missing: int) -> list[str]:
    """What to know before an estimate uses the judgments."""
    found = []
    if constant is not None:
        found.append(
            f"The judge gives every pair the score {value(constant)}. It cannot make an estimate more precise."
        )
    if missing:
        again = " To try only these again, give another --name." if judge.kind == "endpoint" else ""
        found.append(
            f"{plural(missing, 'pair')} got no judgment. Estimates use the mean judgment for them.{again}"
        )
    if judge.probability is not None and judge.probability < 1:
        found.append(
            f"The judge saw {percent(judge.probability)} of {plural(judge.questions, 'open question')}, drawn at "
            "random. Estimates use the mean judgment for the others."
        )
    found += [
        f"{name} {why}: the judge repeats its errors, so labels for this encoder are worth less than printed."
        for name, why in _relatives(workspace, judge).items()
    ]
    return found


def _relatives(workspace: Workspace, judge: Judge) -> dict[str, str]:
    """Encoders that have much in common with the judge, and what."""
    specs = {name: workspace.manifest(name).spec for name in workspace.encoders}
    found = {
        name: f"is of the family {family}, like the judge"
        for name, family in shared_families(judge.model, list(specs.items())).items()
    }
    if judge.kind == "encoder":
        own = _chain(workspace, judge.model)
        for name, spec in specs.items():
            if spec == judge.model:
                found[name] = "is the judge itself"
            elif own & _chain(workspace, spec):
                found[name] = "shares its vectors with the judge"
    return found


def _chain(workspace: Workspace, spec: str) -> set[str]:
    """An encoder, and those that it is made of."""
    with suppress(EncoderError):
        return {spec, *map(str, ancestry(parse(spec), workspace.folder))}
    return {spec}
