"""What `finetune` reports: the run, the chosen epoch, and what makes the run doubtful."""

from dataclasses import dataclass

from lookalike.core.text import percent, plural
from lookalike.learn.epoch import Epoch
from lookalike.workflows.learn.finetune import TrainingOutcome
from lookalike.workflows.learn.preview import TrainingPreview


@dataclass(frozen=True)
class TrainingResult:
    """The new encoder, made from the encoder `base`. `value` is that of the epoch `best`, `before` that of the base.

    `helped` is None if one of them is undefined. `resumed` epochs were done by earlier commands.
    """

    encoder: str
    spec: str
    base: str
    measure: str
    before: float
    value: float
    helped: bool | None
    keep: str
    best: int
    epochs: int
    resumed: int
    preview: TrainingPreview
    warnings: tuple[str, ...]
    history: tuple[Epoch, ...]
    folder: str
    onnx: str | None


def training_result(found: TrainingOutcome) -> TrainingResult:
    """The result of a run."""
    return TrainingResult(
        encoder=found.name,
        spec=f"checkpoint:models/{found.name}",
        base=found.encoder,
        measure=found.measure,
        before=found.before,
        value=found.value,
        helped=found.helped,
        keep=found.keep,
        best=found.best,
        epochs=len(found.history),
        resumed=found.resumed,
        preview=found.preview,
        warnings=warnings(found.preview),
        history=found.history,
        folder=str(found.folder),
        onnx=None if found.onnx is None else str(found.onnx),
    )


def warnings(preview: TrainingPreview) -> tuple[str, ...]:
    """What makes a run doubtful before it begins."""
    found = []
    leak = "in more than one split: measures on the test split include pairs that were used for training."
    if preview.crossing:
        found.append(f"{plural(preview.crossing, 'item')} with photos {leak}")
    if preview.crossing_duplicates:
        found.append(f"{plural(preview.crossing_duplicates, 'group')} of duplicates {leak}")
    if not preview.negatives:
        found.append("No pair of the training split is labelled dissimilar.")
    if not preview.pushed:
        found.append(
            "No pairs are pushed apart: all vectors may become the same, and no epoch may be better."
        )
    elif preview.few_negatives:
        found.append(f"Only {pair_share(preview.pushed, preview)} of the pairs are pushed apart.")
    if preview.few_negatives and preview.made:
        found.append(
            f"Positives connect {preview.joined:,} of {plural(preview.anchors, 'anchor')}, so chains reach almost "
            "every pair. Use a smaller --max-distance, or --positives labels."
        )
    return tuple(found)


def pair_share(count: int, preview: TrainingPreview) -> str:
    """A share of the pairs in percent, not rounded to none or to all."""
    share = count / preview.pairs if preview.pairs else 0.0
    return "none" if not count else f"{100 * share:.2g}%" if share < 0.01 else percent(share)
