"""Judges that call no model: an encoder of the workspace, or the scores of a file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lookalike.core.checks import fingerprint
from lookalike.encode.spec import EncoderSpec
from lookalike.judge.encoder import encoder_scores
from lookalike.judge.judgments import Judge, Judgments
from lookalike.store.formats.score_files import read_scores
from lookalike.store.judges import is_frozen, judging, keep_judge, read_judgments
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.judge.questions import JudgeScope, choose_pairs, photos_labelled, rows_of
from lookalike.workflows.decide.judge.result import JudgeResult, judge_result

Made = tuple[Judgments, tuple[str, ...]]


def judge_by_encoder(
    workspace: Workspace, name: str | None, encoder: str, encoders: Sequence[str], scope: JudgeScope
) -> JudgeResult:
    """Judge with an encoder's similarity, by a curve that is fitted to all labels."""
    manifest = workspace.manifest(encoder)
    vectors, called = f"{manifest.sum:08x}", name or encoder
    settings = scope.settings(workspace, "encoder", encoders, encoder=encoder, vectors=vectors)

    def make() -> Made:
        catalog = workspace.catalog
        labelled, label = photos_labelled(catalog, workspace.labels())
        curve = fingerprint(labelled.ravel(), label)
        judge = Judge(called, "encoder", manifest.spec, f"vectors {vectors}, curve of labels {curve}")
        asked, notes = choose_pairs(workspace, judge, encoders, scope)
        rows = rows_of(catalog, zip(asked.query, asked.candidate, strict=True))
        score = encoder_scores(catalog, workspace.embeddings(encoder), rows, labelled, label)
        return replace(asked, score=score), notes

    return _once(workspace, called, settings, make)


def judge_by_file(workspace: Workspace, name: str | None, path: Path) -> JudgeResult:
    """Take the scores of a file."""
    called = name or EncoderSpec("precomputed", path.name).short_name
    made = read_scores(path, workspace.catalog, called)
    return _once(workspace, called, {"kind": "file", "content": made[0].judge.version}, lambda: made)


def _once(
    workspace: Workspace, name: str, settings: Mapping[str, Any], make: Callable[[], Made]
) -> JudgeResult:
    """The judgments of an earlier command with these settings as they are, else those that are made now."""
    notes: tuple[str, ...] = ()
    with judging(workspace.folder, name) as folder:
        if not is_frozen(folder, settings):
            judgments, notes = make()
            keep_judge(folder, settings, judgments)
    return judge_result(workspace, read_judgments(workspace.folder, name), notes=notes)
