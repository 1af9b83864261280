"""`encoders`: the networks of the zoo, filtered; and what is said of licences before weights are used."""

from contextlib import suppress
from dataclasses import dataclass, field

from lookalike.core.errors import ArgumentError, LookalikeError
from lookalike.encode.sources.checkpoint_file import ancestry
from lookalike.encode.spec import NETWORKS, parse
from lookalike.encode.zoo.here import missing, next_step_of
from lookalike.encode.zoo.networks import Licence, licence, nearest, networks, of_source
from lookalike.store.workspace import Workspace


@dataclass(frozen=True)
class ListedEncoder:
    """A network of the zoo as `encoders` lists it; `missing` is what it still needs here, "" if it can run."""

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
    """The networks of the zoo that fit a request."""

    encoders: tuple[ListedEncoder, ...]


def listed(text: str = "", paper: str | None = None, *, here: bool = False) -> ListedEncoders:
    """Networks whose name, alias, source or licence contains a text, of one paper, or that can run here now."""
    found = [
        one
        for one in networks()
        if (paper is None or paper in one.papers)
        and any(text.lower() in part.lower() for part in (one.name, *one.aliases, one.source, one.licence))
        and not (here and missing(one))
    ]
    if text and not found and not here and paper is None:
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


def licence_of(encoder: str) -> Licence | None:
    """The licence of the weights that an encoder string fetches; None for descriptors and files of your own."""
    spec = parse(encoder)
    known = of_source(str(spec))
    if known is not None:
        return licence(known.licence)
    fetched = spec.source in NETWORKS and spec.source != "onnx" and "weights" not in dict(spec.options)
    return licence("unknown") if fetched else None


def licences_to_check(workspace: Workspace) -> list[tuple[str, Licence]]:
    """Encoders with vectors here, or those that their heads are on, whose weights may not serve other people."""
    found: dict[str, Licence] = {}
    for name in workspace.encoders:
        with suppress(
            LookalikeError
        ):  # damaged vectors and lost checkpoints are reported where they are used
            for spec in ancestry(parse(workspace.manifest(name).spec), workspace.folder):
                if (terms := licence_of(str(spec))) and terms.serving != "yes":
                    found[name] = terms
    return list(found.items())
