"""What `lookalike evaluate` explains: what a measure means, which way a claim leans, what is missing and why."""

from collections.abc import Sequence
from types import MappingProxyType

from lookalike.cli.told import Told
from lookalike.core.types import JudgedRanks, Scores
from lookalike.evaluate.intervals import MOST_REPLICATES
from lookalike.evaluate.measures import FAMILIES, Measure, parse
from lookalike.evaluate.sentence import settled
from lookalike.evaluate.significance import Significance
from lookalike.recipes.evaluate import Evaluation
from lookalike.report.formats import significant

OF_POSSIBLE = "similar ones in the top K, of as many as could stand there; unjudged ones earn nothing"
OF_AN_ITEM = MappingProxyType(  # there are no labels: the catalog says what is one item
    {
        ("HR", False): "share of the top K that are other photos of the query's item",
        ("HR", True): "other photos of the query's item in the top K, of as many as could stand there",
        ("MRR", False): "what other photos of the item in the top K earn by the reciprocal of their place, "
        "of what K of them would",
    }
)
BY_K = ("HR", "coverage", "MRR")  # divided by what K results would earn, be there so many or not
MISSED = MappingProxyType(
    {
        "HR": "counts unjudged results as misses",
        "MRR": "counts unjudged results as misses",
        "RR": "counts unjudged results as misses",
        "NDCG": "counts unjudged results as misses",
        "coverage": "counts how many results are labelled",
    }
)
LEFT_OUT = ("EHR", "EMRR", "ENDCG")  # of judged results alone


def is_identification(found: Evaluation) -> bool:
    """Whether pairs are photos of one item, without labels."""
    return "identification" in found.sources


def starred(found: Evaluation) -> Sequence[str]:
    """Encoders that a measure can favour because they fed the pool; none where there are no labels."""
    return () if is_identification(found) else found.generators


def meaning(name: str, found: Evaluation) -> str:
    """What a measure says, in words, with K filled in."""
    measure, words = parse(name), FAMILIES[parse(name).family].meaning
    key = (measure.family, _of_possible(measure))
    words = OF_POSSIBLE if key == ("HR", True) else words
    words = OF_AN_ITEM.get(key, words) if is_identification(found) else words
    return words.replace("top K", f"top {measure.k}").replace("what K of", f"what {measure.k} of")


def leaning(found: Evaluation, sure: Significance, best: Scores, name: str) -> list[str]:
    """That a claim for the best encoder rests on who fed the pool; nothing where none is made, or it does not."""
    family, fed = parse(name).family, starred(found)
    claims = [
        one if one.encoders[0] == best.encoder else one.swapped
        for one in sure.comparisons[name]
        if best.encoder in one.encoders and settled(one)
    ]
    beaten = [one.encoders[1] for one in claims if one.difference > 0]
    outside = [other for other in beaten if other not in fed]
    if not fed or not beaten:
        return []
    if family in MISSED and best.encoder in fed and outside:
        return [f"{name} {MISSED[family]}; {', '.join(outside)} did not feed the pool"]
    if family in LEFT_OUT and best.encoder not in fed:
        return [f"{name} leaves unjudged results out; {best.encoder} did not feed the pool"]
    return []


def notes(told: Told) -> list[str]:
    """What the signs mean, and what is missing and why."""
    found, sure, names, said = told.found, told.sure, [name for _, name in told.shown], []
    if told.brief:
        said.append(f"{' and '.join(names)} only, as with --per; --measures names others, --json has all.")
    if sure is not None:
        said += _draws(sure, labels=not is_identification(found))
        said += _too_few(sure, names)
    if starred(found):
        said.append("* fed the pool: HR@K and coverage@K favour it, and EHR@K can flatter the others.")
    said += _beyond(found, names)
    reasons = {f"{name}: {one[name].reason}" for one in found.scores for name in names if one[name].reason}
    said += [f"Undefined: {reason}." for reason in sorted(reasons)]
    said += [] if sure is None else _without_interval(found, sure, names)
    said += [f"{left.count:,} labels left out: {left.reason}." for left in found.unusable]
    return [*said, *found.absences, *found.notes]


def _draws(sure: Significance, *, labels: bool) -> list[str]:
    """What the brackets hold, and what chance has no part in."""
    made = sure.settings
    how = "BCa" if made.method == "bca" else made.method
    return [
        f"In brackets: {significant(100 * made.level)} % intervals ({how} bootstrap over queries, "
        f"{made.replicates:,} replicates, seed {made.seed}).",
        "They and p tell what chance can do"
        + ("; labels that favour an encoder do so in every draw." if labels else "."),
    ]


def _too_few(sure: Significance, names: Sequence[str]) -> list[str]:
    """Measures by which only the number of draws keeps encoders from being told apart."""
    short = {name: [one for one in sure.comparisons[name] if one.drawn_too_few] for name in names}
    which = [name for name in names if short[name]]
    if not which:
        return []
    needed = max(one.replicates_needed for ones in short.values() for one in ones)
    fix = f"give --replicates {needed} or more" if needed <= MOST_REPLICATES else "name fewer encoders"
    return [f"Too few replicates for so many comparisons by {', '.join(which)}: {fix}."]


def _beyond(found: Evaluation, names: Sequence[str]) -> list[str]:
    """Measures whose K no list is long enough for."""
    longest = max((_longest(one) for one in found.judged), default=0)
    asked = [measure for measure in map(parse, names) if measure.family in BY_K]
    return [
        f"K is larger than the {longest:,} candidates of a query, so {measure.name} cannot reach 1."
        for measure in asked
        if measure.k is not None and measure.k > longest > 0 and not _of_possible(measure)
    ]


def _longest(judged: JudgedRanks) -> int:
    """The most candidates that a query's list has."""
    rows = judged if judged.in_list is None else judged.in_list
    return int(rows.candidates.max(initial=0))


def _of_possible(measure: Measure) -> bool:
    return dict(measure.parameters).get("of") == "possible"


def _without_interval(found: Evaluation, sure: Significance, names: Sequence[str]) -> list[str]:
    said = []
    for name in names:
        why = {one.encoder: sure.intervals[one.encoder][name].reason for one in found.scores}
        said += [
            f"No interval for {name} of {', '.join(who for who in why if why[who] == reason)}: {reason}."
            for reason in sorted(set(why.values()) - {"", "the value is undefined"})
        ]
    return said
