"""A guess of every answer, made before the draw: HR@K's correction, or the judgments of a judge."""

from contextlib import suppress

import numpy as np
from jaxtyping import Float64

from lookalike.api.places import Places
from lookalike.audit.sampling.design import filled
from lookalike.core.checks import one_of
from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Rule
from lookalike.discover.splitting import is_within_splits
from lookalike.rank.pairs import judged_pairs
from lookalike.store.judges import read_judgments
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.corrected import corrected

NO_COVARIATE, CORRECTED, JUDGE = "none", "corrected", "judge:"
Guess = Float64[np.ndarray, " rows"]


def covariate_of(workspace: Workspace, found: Places, rule: Rule, wanted: str) -> tuple[str, Guess | None]:
    """The covariate of every row of some places, and its name with the version.

    `wanted` is "none", "corrected" (the curve of HR@K corrected; none where it cannot be fitted) or "judge:NAME".
    Pairs that a judge did not see have the mean of those in as many lists.
    """
    if wanted.startswith(JUDGE):
        judgments = read_judgments(workspace.folder, wanted.removeprefix(JUDGE))
        query, photo = (workspace.catalog.image[end] for end in found.photos.T)
        lists = np.count_nonzero(found.weight, axis=0)
        score = filled(judgments.of(query, photo)[found.question], lists)
        version = judgments.judge.version
        return wanted + (f"@{version}" if version else ""), score
    if one_of(wanted, (NO_COVARIATE, CORRECTED), "--covariate") == NO_COVARIATE:
        return NO_COVARIATE, None
    guess = _of_curves(workspace, found, rule)
    return (NO_COVARIATE, None) if guess is None else (CORRECTED, guess)


def _of_curves(workspace: Workspace, found: Places, rule: Rule) -> Guess | None:
    """The mean of P by the curves of the encoders whose lists have a row; None where an encoder has no curve."""
    catalog, pool = workspace.catalog, workspace.pool()
    pairs = judged_pairs(catalog, workspace.labels(), rule)
    if pool is None or found.score is None or not len(pairs):
        return None
    vectors = []
    with suppress(EmbeddingsError):
        vectors = [workspace.embeddings(name) for name in dict.fromkeys([*found.encoders, *pool.generators])]
    if not vectors:
        return None
    within = is_within_splits(catalog, pool)
    made = corrected(catalog, vectors, pairs, pool.generators, pool.top, k=found.k, within_splits=within)
    total, every = np.zeros(len(found)), np.zeros(len(found))
    for name, weight, score in zip(found.encoders, found.weight, found.score, strict=True):
        curve = made[name].curve
        if curve is None:
            return None
        total += weight * np.where(weight > 0, curve.at(np.nan_to_num(score)), 0.0)
        every += weight
    return np.asarray(total / every)
