"""A report's part "Before and after training": trained encoders beside those they were trained on (test split)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from lookalike.core.errors import EmbeddingsError, EncoderError
from lookalike.core.types import Scores
from lookalike.encode.sources.checkpoint_file import head_of
from lookalike.encode.spec import parse
from lookalike.evaluate.measures.table import DEFAULT
from lookalike.evaluate.measures.table import parse as parse_measure
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.sentence import sentence
from lookalike.evaluate.significance.summary import DEFAULT_SETTINGS, Settings, Significance, significance
from lookalike.report.content import Cell, LearningPart, Lesson, MeasureChange, StripGroup
from lookalike.search.exact import judged_items
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.evaluate import Evaluation, evaluate
from lookalike.workflows.decide.trained import learned, trained
from lookalike.workflows.report.strips import STRIPS, Photos, strips_of
from lookalike.workflows.start.heads import embedded

FAMILIES = ("DCS", "EHR", "HR", "coverage", "AUC_mac")  # what the page compares, in this order
TRUE = ("HR", "AUC_mac")  # of the complete truth: there EHR@K is HR@K, and coverage 1
WITH_STRIPS = 3  # trained encoders whose results are shown as pictures
TOP = "HR@5"


def learning_part(
    workspace: Workspace,
    gallery: Photos,
    truth: Sequence[Scores] = (),
    *,
    settings: Settings = DEFAULT_SETTINGS,
) -> LearningPart | None:
    """Every trained encoder with its lesson; None where there is none. `truth` are scores on the test split's truth."""
    taught = trained(workspace)
    bases = {name: _base(workspace, name) for name in taught}
    names = [name for name in dict.fromkeys([*bases.values(), *taught]) if name]
    if not taught:
        return None
    found = evaluate(workspace, names, DEFAULT)
    lessons = tuple(
        _lesson(workspace, found, name, bases[name], truth, settings, gallery if at < WITH_STRIPS else None)
        for at, name in enumerate(taught)
    )
    return LearningPart(found.labels, len(set(found.judged[0].query)), lessons, settings)


def _lesson(
    workspace: Workspace,
    found: Evaluation,
    name: str,
    base: str,
    truth: Sequence[Scores],
    settings: Settings,
    gallery: Photos | None,
) -> Lesson:
    """One trained encoder beside the one it was trained on; without vectors of that, how it was trained is all."""
    told = how(_learned(workspace, name))
    if not base:
        return Lesson(name, "", told)
    before, after = ({one.encoder: one for one in found.scores}[encoder] for encoder in (base, name))
    true = {one.encoder: one for one in truth}
    return Lesson(
        encoder=name,
        base=base,
        how=told,
        changes=changes(before, after, FAMILIES, settings),
        truth=changes(true[base], true[name], TRUE, settings) if {base, name} <= set(true) else (),
        counted=_counted(before, after),
        strips=() if gallery is None else _strips(workspace, gallery, found, before, after),
    )


def changes(
    before: Scores, after: Scores, families: Sequence[str], settings: Settings
) -> tuple[MeasureChange, ...]:
    """One encoder and what it became, by each measure of some families: values, difference, and what that proves."""
    sure = significance([before, after], settings)
    listed = [(parse_measure(name).family, name) for name in sure.comparisons]
    ordered = [name for family in families for of, name in listed if of == family]
    return tuple(_change(name, before, after, sure) for name in ordered)


def _change(name: str, before: Scores, after: Scores, sure: Significance) -> MeasureChange:
    found: Comparison = sure.comparisons[name][0].swapped  # what came after, less what was before
    proved = "" if name.startswith("coverage") else sentence(found)
    return MeasureChange(
        name,
        _cell(before, name, sure),
        _cell(after, name, sure),
        found.difference,
        found.interval.low,
        found.interval.high,
        proved,
    )


def _cell(one: Scores, name: str, sure: Significance) -> Cell:
    score = one[name]
    return Cell(score.value, score.queries, score.reason, sure.intervals[one.encoder][name])


def how(told: Mapping[str, Any]) -> tuple[str, ...]:
    """How an encoder was trained, in sentences, as far as its checkpoint says.

    >>> how({"settings": {"loss": "con", "soft": None}, "epochs": 30})
    ('The loss was con, on labelled pairs only.', 'It was trained for 30 epochs.')
    """
    settings = told.get("settings")
    given = {**told, **settings} if isinstance(settings, Mapping) else dict(told)
    said = [_loss(given), _chosen(told, given), _validated(told, given)]
    if stopped := told.get("stopped"):
        said.append(f"It stopped early: {stopped}.")
    return tuple(filter(None, said))


def _loss(given: Mapping[str, Any]) -> str:
    loss, soft = given.get("loss"), given.get("soft")
    if not loss:
        return ""
    if "soft" not in given:
        return f"The loss was {loss}."
    if not isinstance(soft, Mapping):
        return f"The loss was {loss}, on labelled pairs only."
    return (
        f"The loss was {loss}, with soft positives (SPA): pairs up to {soft.get('max_distance', '?')} labelled steps "
        f"apart count as similar, with weights that decrease with beta {soft.get('beta', '?')}."
    )


def _chosen(told: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    done, best = told.get("epochs", given.get("epochs")), told.get("best")
    if not isinstance(done, int):
        return ""
    if not isinstance(best, int):
        return f"It was trained for {done:,} epochs."
    return (
        f"Of {done:,} epochs the {_ordinal(best)} was the best on the validation split. Its weights are used."
    )


def _validated(told: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    value, before, measure = told.get("value"), told.get("before"), given.get("measure", "its measure")
    if not isinstance(value, float | int):
        return ""
    was = f"; before training it was {before:.3f}" if isinstance(before, float | int) else ""
    return f"There {measure} was {value:.3f}{was}."


def _ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def _learned(workspace: Workspace, name: str) -> Mapping[str, Any]:
    with suppress(EncoderError):
        return learned(workspace, parse(workspace.manifest(name).spec))
    return {}


def _base(workspace: Workspace, name: str) -> str:
    """The encoder with the vectors that a head was trained on; "" where there are none of the catalog as it is now."""
    with suppress(EncoderError, EmbeddingsError):
        about = head_of(parse(workspace.manifest(name).spec), workspace.folder)
        return (embedded(workspace, about) if about is not None else None) or ""
    return ""


# ---- what people see


def gains(before: Scores, after: Scores) -> np.ndarray:
    """By query: how many more known similar results stand in the first 5 than before, ties shared out."""
    one, other = before[TOP], after[TOP]
    return np.round(5 * (other.numerator - one.numerator), 6)


def _counted(before: Scores, after: Scores) -> str:
    gain = gains(before, after)
    if not len(gain):
        return ""
    better, worse = int((gain > 0).sum()), int((gain < 0).sum())
    return (
        f"Of {len(gain):,} labelled test queries, {better:,} show more results known to be similar in the first 5 than "
        f"before, {worse:,} fewer, and {len(gain) - better - worse:,} the same number."
    )


def _strips(
    workspace: Workspace, gallery: Photos, on: Evaluation, before: Scores, after: Scores
) -> tuple[StripGroup, ...]:
    """The same queries before and after: those that gained most, those that lost most, and some at random."""
    gain = gains(before, after)
    rows = np.array([workspace.catalog.row[query] for query in before[TOP].query], np.int64)
    order = np.lexsort((rows, -gain))
    up = [int(at) for at in order if gain[at] > 0][:STRIPS]
    down = [int(at) for at in np.lexsort((rows, gain)) if gain[at] < 0][:STRIPS]
    rest = [at for at in range(len(rows)) if at not in {*up, *down}]
    drawn = np.random.default_rng(workspace.settings.seed).permutation(len(rest))[:STRIPS]
    chosen = {
        "Most improved": (up, "More results known to be similar in the first 5 than before."),
        "Most worsened": (
            down,
            "Fewer results known to be similar in the first 5 than before. Unjudged results may also be similar.",
        ),
        "Random test queries": ([rest[i] for i in drawn], "A random sample of the other queries."),
    }
    shown = [at for some, _ in chosen.values() for at in some]
    found = strips_of(
        workspace,
        gallery,
        [before.encoder, after.encoder],
        [int(rows[at]) for at in shown],
        after.basis.rule,
        judged_items(on.pairs),
    )
    return tuple(
        StripGroup(
            title, why if some else "None.", tuple(strip for at in some for strip in found[int(rows[at])])
        )
        for title, (some, why) in chosen.items()
        if len(gain)
    )
