"""Which measures can be trusted, from Python: every encoder is ranked once, then audited."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from lookalike.audit.audits import MEASURES, Audits, AuditSettings, audits
from lookalike.audit.surfaced import rebuilt, recorded
from lookalike.core.progress import Progress, part
from lookalike.core.types import Catalog, Embeddings, JudgedRanks, Labels, Pool, Rule
from lookalike.evaluate.measures.table import parsed
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs, judged_pairs

TOP = 5
NOTHING_RANKED: Mapping[str, JudgedRanks] = MappingProxyType({})


def audit_measures(
    catalog: Catalog,
    encoders: Iterable[Embeddings],
    labels: Labels | JudgedPairs,
    generators: Pool | Iterable[Embeddings],
    measures: str | Iterable[str] = MEASURES,
    *,
    coverers: Iterable[Embeddings] = (),
    ranks: Mapping[str, JudgedRanks] = NOTHING_RANKED,
    progress: Progress | None = None,
    **settings: Any,  # noqa: ANN401 - fields of AuditSettings
) -> Audits:
    """Which measures can be trusted: leave-one-out, full coverage and the coverage sweep, with one ranking per encoder.

    `generators` is the pool of the labelled pairs, which records the generators of each pair, or the encoders that
    proposed them: then each is the generator of the pairs that it ranks below `top` (5 by default). `coverers` are
    generators of the pool that are not audited but must cover a fully covered query too. `ranks` are judged ranks of
    these labels that exist already, by encoder. `settings` are the fields of `audit.audits.AuditSettings`.
    """
    made = AuditSettings(**settings)
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
        else rebuilt(ranked, TOP if made.top is None else made.top)
    )
    return audits(
        [judged[one.encoder] for one in listed],
        ranked,
        surfaced,
        parsed(measures),
        made,
        progress=part(progress, len(every), len(every) + 1),
    )
