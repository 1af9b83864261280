"""The words of `lookalike finetune`: what a run will see, and what came of it."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lookalike.cli.console import finite, folded, plural

if TYPE_CHECKING:
    from lookalike.recipes.finetune import Outcome
    from lookalike.recipes.finetune_ahead import Ahead


def ahead_sentences(ahead: "Ahead") -> list[str]:
    """What is said before a run begins, warnings last."""
    said = [
        f"{plural(ahead.anchors, 'anchor')} with {plural(ahead.positives, 'similar pair')}, "
        f"{plural(ahead.negatives, 'dissimilar pair')}, {_views(ahead.views)}; {_batches(ahead.batches)} an epoch.",
        f"Of the pairs in {_looked_at(ahead)} "
        f"{_share(ahead.similar, ahead)} are labelled similar, {_share(ahead.made, ahead)} are made similar by their "
        f"distance, and {ahead.zero:,} of {ahead.pairs:,} have P = 0.",
    ]
    said += [f"Left out: {plural(gone.count, 'label')}, because {gone.reason}." for gone in ahead.unusable]
    said += [_validation(ahead), *warnings(ahead)]
    return [folded(one) for one in said if one]


def warnings(ahead: "Ahead") -> list[str]:
    """What makes a run doubtful before it begins."""
    found = []
    shared = "in more than one split: what is measured on the test split is partly learned."
    if ahead.crossing:
        found.append(f"{plural(ahead.crossing, 'item')} with photos {shared}")
    if ahead.crossing_duplicates:
        found.append(f"{plural(ahead.crossing_duplicates, 'group')} of duplicates {shared}")
    if not ahead.negatives:
        found.append("No pair of the training split is labelled dissimilar.")
    if not ahead.pushed:
        found.append(
            "Nothing is pushed apart: all images may end in one place, and no epoch may be better than another."
        )
    elif ahead.few_negatives:
        found.append(f"Few pairs are pushed apart: {_share(ahead.pushed, ahead)}.")
    if ahead.few_negatives and ahead.made:
        found.append(
            f"Positives join {ahead.joined:,} of {plural(ahead.anchors, 'anchor')}, so chains reach almost every "
            "pair: use a smaller --max-distance, or --positives labels."
        )
    return [f"Warning: {one}" for one in found]


def outcome_sentences(found: "Outcome") -> list[str]:
    """What came of a run: whether it helped, in the terms it was chosen by."""
    ran = plural(len(found.history), "epoch")
    if found.keep == "last":
        chosen = f"{ran}; the last is kept, as asked."
    elif math.isnan(found.value):
        chosen = f"{ran}; the last is kept, because {found.measure} is undefined on the validation split."
    else:
        chosen = (
            f"{ran}; number {found.best:,} is kept, the best by {found.measure} on the validation split: "
            f"{found.value:.4f}."
        )
    said = [f"{found.name}: {chosen}", _against(found)]
    skipped = sum(epoch.skipped for epoch in found.history)
    if skipped:
        said.append(
            f"Images with nothing to learn from in their batch were skipped, {skipped:,} times in all."
        )
    said.append(f"Its vectors are in the workspace as {found.name}; its files are in {found.folder}.")
    if found.onnx:
        said.append(f"The ONNX file is {found.onnx}.")
    return [folded(one) for one in said if one]


def _against(found: "Outcome") -> str:
    if found.helped is None:
        return ""
    if found.keep == "last":
        there = f"{found.value:.4f}, {found.encoder} itself {found.before:.4f}"
        return f"By {found.measure} on the validation split it has {there}."
    before = f"{found.encoder} itself has {found.before:.4f} there"
    if found.helped:
        gain = found.value - found.before
        return f"{before}: the head gains {gain:.4f} on the pairs that chose it, so less on others."
    return (
        f"{before}: no epoch is better than the encoder that you had. Keep that one, or train with more labels, "
        "a lower --rate or another --loss."
    )


def as_json(found: "Outcome") -> dict[str, Any]:
    """The outcome for programs."""
    ahead = asdict(found.ahead)
    return {
        "encoder": found.name,
        "spec": f"checkpoint:models/{found.name}",
        "base": found.encoder,
        "measure": found.measure,
        **finite({"before": found.before, "value": found.value}),
        "helped": found.helped,
        "keep": found.keep,
        "best": found.best,
        "epochs": len(found.history),
        "resumed": found.resumed,
        "ahead": {**ahead, "warnings": warnings(found.ahead)},
        "history": [finite(epoch._asdict()) for epoch in found.history],
        "folder": str(found.folder),
        "onnx": None if found.onnx is None else str(found.onnx),
    }


def _views(views: int) -> str:
    return (
        "one view of each image"
        if views == 1
        else f"{views:,} augmented views of each image, two of them at a time"
    )


def _batches(batches: int) -> str:
    return "all in one batch" if batches == 1 else f"{batches:,} batches"


def _looked_at(ahead: "Ahead") -> str:
    if ahead.batches == 1:
        return "that"
    return "these batches" if ahead.sampled == ahead.batches else f"the first {ahead.sampled} batches"


def _share(count: int, ahead: "Ahead") -> str:
    """A share in percent, not rounded to none or to all."""
    share = count / ahead.pairs if ahead.pairs else 0.0
    return "none" if not count else f"{100 * share:.2g} %" if share < 0.01 else f"{100 * share:.1f} %"


def _validation(ahead: "Ahead") -> str:
    if ahead.validation:
        return f"{plural(ahead.validation, 'labelled pair')} of the validation split choose the epoch."
    return "The validation split has no labelled pair, so nothing can choose an epoch: the last one is kept."
