"""`encoders` lists the networks of the zoo. `embed` and `serve` read the licences of weights here."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lookalike.core.errors import ArgumentError, LookalikeError
from lookalike.encode.open import missing_libraries
from lookalike.encode.sources.checkpoint_file import ancestry
from lookalike.encode.spec import NETWORKS, EncoderSpec, is_folder, parse, without_folders
from lookalike.encode.zoo.here import missing, next_step_of
from lookalike.encode.zoo.networks import Licence, licence, nearest, networks, of_source
from lookalike.store.workspace import Workspace


@dataclass(frozen=True)
class ListedEncoder:
    """A network of the zoo as `encoders` lists it. `missing` is what it needs on this machine, "" if it can run."""

    name: str
    aliases: tuple[str, ...]
    source: str
    dimension: int
    licence: Licence
    papers: tuple[str, ...]
    missing: str
    next_step: str
    note: str
    figures: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class ListedEncoders:
    """The networks of the zoo that pass the filters."""

    encoders: tuple[ListedEncoder, ...]


def listed(text: str = "", paper: str | None = None, *, here: bool = False) -> ListedEncoders:
    """Networks that pass all filters: a text in the name, source or licence, a paper, and whether they can run here."""
    with_text = [
        one
        for one in networks()
        if any(text.lower() in part.lower() for part in (one.name, *one.aliases, one.source, one.licence))
    ]
    found = [
        one for one in with_text if (paper is None or paper in one.papers) and not (here and missing(one))
    ]
    if not with_text:
        near = nearest(text)
        raise ArgumentError(
            f"No network contains {text!r} in its name, source or licence.",
            fix=f"Did you mean {', '.join(near)}?" if near else "To list all: lookalike encoders",
        )
    return ListedEncoders(
        tuple(
            ListedEncoder(
                one.name,
                one.aliases,
                one.source,
                one.dimension,
                licence(one.licence),
                one.papers,
                missing(one),
                next_step_of(one),
                one.note,
                {name: dict(values) for name, values in one.figures.items()},
            )
            for one in found
        )
    )


def licence_of(encoder: str, base: Path = Path()) -> Licence | None:
    """The licence of the weights that an encoder string downloads. None for descriptors and your own files."""
    spec = parse(encoder)
    known = of_source(str(spec))
    if known is not None:
        return licence(known.licence)
    if spec.source not in NETWORKS or spec.source == "onnx" or "weights" in dict(spec.options):
        return None
    if is_folder(spec, base):
        return None
    return licence((spec.source == "timm" and _in_timm(spec.name)) or "unknown")


def unknown_licence(specs: Sequence[EncoderSpec], base: Path = Path()) -> str:
    """A sentence about those encoders whose weights are your own, so that their licence is not known; "" for none."""
    own = [one for one in specs if one.source in NETWORKS and licence_of(str(one), base) is None]
    named = ", ".join(str(without_folders(one)) for one in own)
    return (
        named and f"The licence of the weights of {named} is not known, because they are your own. Check it."
    )


def _in_timm(name: str) -> str:
    """The licence that timm's table gives for weights, "" where it gives none."""
    if missing_libraries("timm")[0]:
        return ""
    from lookalike.encode.sources.faster_start import without_compiler

    with without_compiler():
        from lookalike.encode.sources.timm_networks import licence_name
    return licence_name(name)


def licences_to_check(workspace: Workspace) -> list[tuple[str, Licence]]:
    """The workspace's encoders whose weights may not serve other people, also through a head or a blend on them."""
    found: dict[str, Licence] = {}
    for name in workspace.encoders:
        with suppress(LookalikeError):  # other commands report damaged vectors and lost checkpoints
            for spec in ancestry(parse(workspace.manifest(name).spec), workspace.folder):
                if (terms := licence_of(str(spec), workspace.folder)) and terms.serving != "yes":
                    found[name] = terms
    return list(found.items())
