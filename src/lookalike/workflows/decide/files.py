"""Files around `evaluate`: runs of other systems in, runs of encoders, scores and judged ranks out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from tempfile import TemporaryFile

import numpy as np

from lookalike.api.values import query_rows
from lookalike.core.checks import at_least, one_of
from lookalike.core.errors import ArgumentError, PoolError, RunError
from lookalike.core.progress import Progress
from lookalike.core.text import plural
from lookalike.core.types import Rule
from lookalike.rank.pairs import JudgedPairs, judged_pairs
from lookalike.rank.runs import Run, RunRanks, run_of
from lookalike.store.disk import disk_errors
from lookalike.store.formats.label_formats import write_qrels
from lookalike.store.formats.runs import read_run, write_run
from lookalike.store.formats.tables import require_ending
from lookalike.store.formats.trec import require_fields, stem
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.labels import labels_used

ASKED = ("labels", "pool")
QRELS = "labels.qrels"


@dataclass(frozen=True)
class RunFolder:
    """Where runs of encoders go, how deep, for which queries, and whether compressed."""

    folder: Path
    depth: int = 100
    queries: str = "labels"
    gzip: bool = False

    def __post_init__(self) -> None:
        at_least(self.depth, 1, "depth")
        one_of(self.queries, ASKED, "queries")

    def files(self, encoders: Sequence[str]) -> list[Path]:
        """The files: the qrels, and a run for each encoder."""
        ending = ".gz" if self.gzip else ""
        return [self.folder / f"{name}{ending}" for name in (QRELS, *(f"{one}.run" for one in encoders))]


def require_writable(scores: Path | None, judged: Path | None, runs: RunFolder | None) -> None:
    """Refuse names of files that cannot be written, before anything is ranked."""
    for path, what in ((scores, "scores"), (judged, "judged ranks")):
        if path is not None:
            require_ending(path, what)
            _require_folder(path, path.parent)
    if runs is not None:
        if runs.folder.exists() and not runs.folder.is_dir():
            raise ArgumentError(f"{runs.folder} is a file; runs need a folder.", fix="Name another folder.")
        _require_folder(runs.folder, runs.folder if runs.folder.exists() else runs.folder.parent)


def _require_folder(path: Path, folder: Path) -> None:
    """Refuse a path below a folder that is missing, or that takes no new file; one is tried."""
    if not folder.is_dir():
        raise ArgumentError(
            f"{path} cannot be written: there is no folder {folder}.",
            fix=f"Make it first (mkdir -p {quote(str(folder))}), or name another.",
        )
    try:
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ArgumentError(
            f"{path} cannot be written: no file can be made in the folder {folder}.",
            fix="Name a folder that you may write to.",
        ) from error


def read_runs(paths: Iterable[Path], taken: Sequence[str]) -> list[Run]:
    """Runs from files, each named by its tag, or where that is taken by its file's name."""
    used, runs = list(taken), []
    for path in paths:
        run = read_run(path)
        name = next((name for name in (run.name, stem(path)) if name not in used), None)
        if name is None:
            raise RunError(
                f"{path} would be called {run.name!r}, and so is another run or encoder in this table.",
                fix="Give its file another name.",
            )
        runs.append(replace(run, name=name))
        used.append(name)
    return runs


def absences(ranks: RunRanks) -> list[str]:
    """Which lines of a run and which labels do not match, in sentences."""
    name, pairs = ranks.judged.encoder, len(ranks.judged)
    sentences = []
    if ranks.queries_absent:
        sentences.append(
            f"{name} lacks {ranks.queries_absent:,} of {plural(ranks.queries, 'labelled query', 'labelled queries')}; "
            "all their pairs count as not retrieved."
        )
    if ranks.pairs_absent:
        sentences.append(
            f"{name} did not retrieve {ranks.pairs_absent:,} of {plural(pairs, 'labelled pair')}; "
            "these are tied behind the retrieved ones."
        )
    if ranks.unknown:
        sentences.append(
            f"Lines of {name} with an id that is not in the catalog, skipped: {ranks.unknown:,}."
        )
    if ranks.not_candidates:
        sentences.append(
            f"Lines of {name} that name no candidate of their query (its own item, another split or role), skipped: "
            f"{ranks.not_candidates:,}."
        )
    return sentences


def write_runs(
    workspace: Workspace,
    encoders: Sequence[str],
    rule: Rule,
    wanted: RunFolder,
    *,
    progress: Progress | None = None,
) -> list[Path]:
    """One TREC run per encoder, and beside them the qrels of the labels that measures use by the same rule."""
    pairs, rows = plan_runs(workspace, rule, wanted)
    with disk_errors("making the folder for runs", wanted.folder):
        wanted.folder.mkdir(exist_ok=True)
    written = wanted.files(encoders)
    write_qrels(labels_used(pairs)[0], written[0])
    for done, (name, path) in enumerate(zip(encoders, written[1:], strict=True)):
        write_run(run_of(workspace.catalog, workspace.embeddings(name), rows, wanted.depth, rule), path)
        if progress is not None:
            progress(done + 1, len(encoders))
    return written


def plan_runs(workspace: Workspace, rule: Rule, wanted: RunFolder) -> tuple[JudgedPairs, np.ndarray]:
    """The labels of the qrels and the catalog rows of the queries; ids that TREC files cannot hold are refused."""
    catalog = workspace.catalog
    pairs = judged_pairs(catalog, workspace.labels(), rule)
    rows = _asked(workspace, pairs, wanted.queries)
    found = catalog.item if rule.level == "item" else catalog.image
    require_fields([*catalog.image[rows], *found[catalog.is_gallery(rule.split)]], "id", RunError)
    return pairs, rows


def _asked(workspace: Workspace, pairs: JudgedPairs, queries: str) -> np.ndarray:
    """Catalog rows of the queries a run is written for."""
    if queries == "labels":
        return np.unique(pairs.query_row)
    pool = workspace.pool()
    if pool is None:
        raise PoolError("There is no pool yet.", fix="Make one: lookalike discover")
    rows = query_rows(workspace.catalog, pool)
    allowed = workspace.catalog.is_query(pairs.basis.rule.split)
    return np.asarray(rows[allowed[rows]])
