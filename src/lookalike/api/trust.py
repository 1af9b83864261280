"""Which measures can be trusted, from Python: every encoder is ranked once, then audited."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from lookalike.audit.audits import MEASURES, Audits, audits
from lookalike.audit.surfaced import rebuilt, recorded
from lookalike.core.progress import Progress, part
from lookalike.core.types import Catalog, Embeddings, JudgedRanks, Labels, Pool, Rule
from lookalike.evaluate.measures.table import parse, parse_list
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs, judged_pairs

NOTHING_RANKED: Mapping[str, JudgedRanks] = MappingProxyType({})


def audit_measures(
    catalog: Catalog,
    encoders: Iterable[Embeddings],
    labels: Labels | JudgedPairs,
    generators: Pool | Iterable[Embeddings],
    measures: str | Iterable[str] = MEASURES,
    *,
    coverers: Iterable[Embeddings] = (),
    top: int = 5,
    k: int = 5,
    rule: str = "surfaced",
    full_coverage: str = "every",
    replicates: int = 2000,
    seed: int = 0,
    ranks: Mapping[str, JudgedRanks] = NOTHING_RANKED,
    progress: Progress | None = None,
) -> Audits:
    """Which measures can be trusted: leave-one-out, full coverage and the coverage sweep, with one ranking per encoder.

    `generators` is the pool of the labelled pairs, which records the generators of each pair, or the encoders that
    proposed them: then each is the generator of the pairs that it ranks below `top`. `coverers` are generators of
    the pool that are not audited but must cover a fully covered query too. `ranks` are judged ranks of these labels
    that exist already, by encoder. The other arguments are the fields of `audit.audits.AuditSettings`.
    """
    asked = parse_list(measures) if isinstance(measures, str) else [parse(name) for name in measures]
    pairs = labels if isinstance(labels, JudgedPairs) else judged_pairs(catalog, labels, Rule())
    listed = list(encoders)
    others = list(coverers) if isinstance(generators, Pool) else list(generators)
    every = list({one.encoder: one for one in [*others, *listed]}.values())
    judged = {
        one.encoder: ranks.get(one.encoder)
        or judged_ranks(catalog, one, pairs, progress=part(progress, done, len(every) + 1))
        for done, one in enumerate(every)
    }
    fed = generators.generators if isinstance(generators, Pool) else [one.encoder for one in others]
    ranked = [judged[name] for name in fed if name in judged]
    surfaced = (
        recorded(generators, next(iter(judged.values())))
        if isinstance(generators, Pool) and judged
        else rebuilt(ranked, top)
    )
    return audits(
        [judged[one.encoder] for one in listed],
        ranked,
        surfaced,
        asked,
        k=k,
        rule=rule,
        which=full_coverage,
        replicates=replicates,
        seed=seed,
        progress=part(progress, len(every), len(every) + 1),
    )
