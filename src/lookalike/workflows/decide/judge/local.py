"""Judges that call no model: an encoder of the workspace, or the scores of a file."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from lookalike.core.checks import codes, fingerprint, strings
from lookalike.encode.spec import EncoderSpec
from lookalike.judge.agreement import SIMILAR_FROM
from lookalike.judge.encoder import encoder_scores
from lookalike.judge.judgments import Judge, JudgePairs, Judgments
from lookalike.store.formats.score_files import ScoreFile, read_scores
from lookalike.store.judges import freeze, is_frozen, judging, read_judgments
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.judge.questions import JudgeScope, choose_pairs, photos_labelled, rows_of
from lookalike.workflows.decide.judge.result import JudgeResult, judge_result

Made = tuple[Judgments, tuple[str, ...]]


def judge_by_encoder(
    workspace: Workspace, name: str | None, encoder: str, encoders: Sequence[str], scope: JudgeScope
) -> JudgeResult:
    """Judge with an encoder's similarity, by a curve that is fitted to all labels."""
    manifest = workspace.manifest(encoder)
    vectors = f"{manifest.sum:08x}"
    settings = {
        "kind": "encoder",
        "encoder": encoder,
        "vectors": vectors,
        "lists": list(encoders),
        "pool": workspace.pool_name,
    }

    def make(called: str) -> Made:
        chosen = choose_pairs(workspace, encoders, scope)
        pairs, catalog = chosen.pairs, workspace.catalog
        labelled, label = photos_labelled(catalog, workspace.labels())
        rows = rows_of(catalog, zip(pairs.query, pairs.candidate, strict=True))
        score = encoder_scores(catalog, workspace.embeddings(encoder), rows, labelled, label)
        judge = Judge(
            called,
            "encoder",
            manifest.spec,
            version=f"vectors {vectors}, curve of labels {fingerprint(labelled.ravel(), label)}",
            encoders=tuple(encoders),
            k=scope.k,
            questions=chosen.questions,
            probability=chosen.probability,
            seed=scope.seed,
        )
        return Judgments(judge, pairs, score, np.full(len(pairs), np.nan)), chosen.notes

    return _once(workspace, name or encoder, settings | scope.as_values(), make)


def judge_by_file(workspace: Workspace, name: str | None, path: Path) -> JudgeResult:
    """Take the scores of a file. A pair that is there in both orders gets their mean, and its flip is counted."""
    found = read_scores(path, workspace.catalog)

    def make(called: str) -> Made:
        ends = zip(found.query, found.candidate, strict=True)
        _, of = codes(strings("\0".join(sorted(pair)) for pair in ends))
        first = np.unique(of, return_index=True)[1]
        score = np.bincount(of, weights=found.score) / np.bincount(of)
        pairs = JudgePairs(found.query[first], found.candidate[first], np.zeros(len(first), np.int64))
        judge = Judge(called, "file", path.name, version=found.version)
        kinds = (
            (found.unknown, "name an image that the catalog does not have"),
            (found.blank, "have no score"),
        )
        notes = tuple(f"Rows of {path.name} that {why}, left out: {rows:,}." for rows, why in kinds if rows)
        return Judgments(judge, pairs, score, _flipped(found, of, len(first))), notes

    settings = {"kind": "file", "content": found.version}
    return _once(workspace, name or EncoderSpec("precomputed", path.name).short_name, settings, make)


def _once(
    workspace: Workspace, name: str, settings: Mapping[str, Any], make: Callable[[str], Made]
) -> JudgeResult:
    """The judgments of an earlier command with these settings as they are, else those that are made now."""
    notes: tuple[str, ...] = ()
    with judging(workspace.folder, name) as folder:
        if not is_frozen(folder, settings):
            judgments, notes = make(name)
            freeze(folder, settings, judgments)
    return judge_result(workspace, read_judgments(workspace.folder, name), notes=notes)


def _flipped(found: ScoreFile, of: np.ndarray, pairs: int) -> Float64[np.ndarray, " pairs"]:
    """1 where the mean score of the other order means another answer; NaN where the file has one order only."""
    forth = found.query <= found.candidate
    ways = [np.bincount(of[way], minlength=pairs) for way in (forth, ~forth)]
    sums = [np.bincount(of[way], weights=found.score[way], minlength=pairs) for way in (forth, ~forth)]
    one, other = (sums[way] >= SIMILAR_FROM * ways[way] for way in (0, 1))
    return np.where((ways[0] > 0) & (ways[1] > 0), one != other, np.nan)
