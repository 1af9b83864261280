"""Training a network of the workspace: its photos, its views, what is trained, and the files of the result."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import nn

from lookalike.api.training import Material, TrainedModel, material
from lookalike.core.cores import cores
from lookalike.core.errors import EmbeddingsError, EncoderError, LearningError
from lookalike.core.types import Catalog
from lookalike.encode.heads.two_layers import ProjectionHead, ResidualHead
from lookalike.encode.network import Network
from lookalike.encode.open import open_encoder
from lookalike.encode.run import InMemory, encode_catalog
from lookalike.encode.sources.checkpoint import Headed, network_files
from lookalike.encode.sources.checkpoint_file import read_about, require_folder
from lookalike.encode.sources.libraries import LIBRARIES
from lookalike.encode.spec import EncoderSpec, parse
from lookalike.learn.batches import plan_of
from lookalike.learn.epoch import Epoch
from lookalike.learn.examples import Examples, TrainingBatches
from lookalike.learn.finetune import finetune
from lookalike.learn.keeper import Keeper, Unkept
from lookalike.learn.networks.lightly_views import LightlyView
from lookalike.learn.networks.photo_batches import PhotoBatches
from lookalike.learn.networks.photo_views import Group, KhoslaView, PhotoViews, resumable
from lookalike.learn.networks.processes import ALONE, Processes, SharedKeeper
from lookalike.learn.networks.step import GradientStep
from lookalike.learn.networks.trainee import Trainee
from lookalike.learn.objectives.classes import ClassObjective, classes_of, classifier
from lookalike.learn.objectives.dino import DinoObjective, PrototypeHead
from lookalike.learn.objectives.objective import Objective, PairObjective
from lookalike.learn.objectives.simclr import SimclrObjective
from lookalike.learn.request import MICRO, PROTOTYPES, TrainingRequest
from lookalike.learn.settings import CLASSES, PROJECTION
from lookalike.learn.validation import Validation
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.finetune import TrainingCallbacks

LOCAL_VIEWS = 6  # of DINO (Caron et al. 2021, 3.1: several; lightly's default)
LOCAL_SHARE = 96 / 224  # of the side of a global view


@dataclass(frozen=True)
class _Measured:
    """The measure of the validation split for a network as it is now: its photos are encoded again."""

    validation: Validation
    root: Path
    network: Network
    processes: Processes

    def __call__(self, model: nn.Module) -> float:
        value, refused = float("nan"), ""
        if self.processes.first and len(self.validation.pairs):
            assert isinstance(model, Trainee)  # noqa: S101 - what this module trains
            sink = InMemory()
            try:
                with resumable():
                    encode_catalog(self.validation.inside, self.root, _Encoder(model, self.network), sink)
                value = self.validation.of(sink.vectors)
            except EmbeddingsError as error:
                refused = error.problem
        value, refused = self.processes.from_first((value, refused))
        if refused:
            raise EmbeddingsError(refused, fix="Train with a lower rate.")
        return value


class _Encoder:
    """A network that learns, as an encoder of photos."""

    def __init__(self, model: Trainee, network: Network) -> None:
        self.origin, self.prepare, self.size_hint = network.origin, network.prepare, network.size_hint
        self.batch, self.threads, self.vectors = network.batch, 1, model.vectors
        self.dimension = model.dimension


def prepared_network(
    workspace: Workspace,
    encoder: str,
    given: Material,
    request: TrainingRequest,
    device: torch.device,
    callbacks: TrainingCallbacks,
    processes: Processes = ALONE,
) -> Callable[[Keeper, Callable[[Epoch], None]], TrainedModel]:
    """The training of a network, once it is opened and what it learns from is known.

    Raises LearningError for an encoder that is no network, and for a workspace without photos.
    """
    root = workspace.photos
    if root is None:
        raise LearningError(
            "Training a network needs photos, and this workspace has none.",
            fix="Train a head: leave out --part.",
        )
    manifest = workspace.manifest(encoder)
    structure, network = opened_network(parse(manifest.spec), workspace.folder)
    network = network.on(device)
    model, objective, groups = _methods(network, given, workspace.catalog, request, processes)
    views = PhotoViews(
        workspace.catalog, root, groups, network.size_hint, processors=max(1, cores() // processes.count)
    )
    micro = request.micro or (MICRO if device.type == "cpu" else None)

    def smaller(size: int) -> None:
        if callbacks.say:
            callbacks.say(f"Memory ran out. From now on {size} photos are in memory at once: --micro {size}")

    def train(keeper: Keeper, record: Callable[[Epoch], None]) -> TrainedModel:
        run = finetune(
            model,
            _batches(given, views, request, device, processes),
            request,
            _Measured(given.validation, root, network, processes),
            SharedKeeper(keeper, processes),
            objective=objective,
            gradients=GradientStep(micro, processes, smaller),
            on_epoch=record,
            progress=callbacks.step,
        )
        if views.unreadable and callbacks.say:
            callbacks.say(f"Left out, because the photo could not be read: {_listed(views.unreadable)}.")
        files = None
        if run.best:
            model.load_state_dict(run.parameters, strict=False)
            module, head = model.finished()
            files = partial(network_files, structure, module, network.preprocessing, head, manifest.origin)
        return TrainedModel(run, given.validation.untrained(), files)

    return train


def assist(
    workspace: Workspace, encoder: str, request: TrainingRequest, device: torch.device, processes: Processes
) -> None:
    """Compute this process's share of every batch of a run that the first process keeps (`finetune`)."""
    given = material(workspace.catalog, workspace.labels(), workspace.embeddings(encoder).vectors, request)
    train = prepared_network(workspace, encoder, given, request, device, TrainingCallbacks(), processes)
    if processes.from_first(False):
        train(Unkept(), lambda _: None)


def opened_network(spec: EncoderSpec, folder: Path) -> tuple[str, Network]:
    """A network to train on, and the encoder string of its structure.

    Raises LearningError for what is no network, or is one inside of something else.
    """
    found: object = open_encoder(spec, folder)
    if isinstance(found, Headed) and isinstance(found.base, Network):
        found = found.base
    inside = sorted({"layers", "region"} & dict(spec.options).keys())
    if not isinstance(found, Network) or inside:
        what = f"takes {inside[0]} out of a network" if inside else "is no network"
        raise LearningError(
            f"{spec} {what}, so only a head on its vectors can be trained.",
            fix=f"Leave out --part, or train a network: {', '.join(LIBRARIES)}.",
        )
    if spec.source == "checkpoint":
        return str(read_about(require_folder(spec, folder), str(spec))["network"]), found
    if spec.source not in LIBRARIES:
        raise LearningError(
            f"{spec} cannot be trained, because its network is fixed.", fix="Train a head: leave out --part."
        )
    options = tuple(one for one in spec.options if one[0] not in ("weights", "precision"))
    return str(EncoderSpec(spec.source, spec.name, options)), found


def _methods(
    network: Network, given: Material, catalog: Catalog, request: TrainingRequest, processes: Processes
) -> tuple[Trainee, Objective, tuple[Group, ...]]:
    """What is trained, what it minimises, and the views that it sees."""
    features, side = network.dimension, max(network.preprocessing.size)
    height, width = network.preprocessing.size
    khosla = KhoslaView(network.prepare, side)
    if request.loss in CLASSES:
        classes = classes_of(catalog, given.training, request.loss)
        head: nn.Module = classifier(features, classes, request.seed)
        return (
            Trainee(network, head, request, kept=False),
            ClassObjective(classes),
            (Group(1, khosla, (height, width)),),
        )
    if request.loss == "simclr":
        head = ProjectionHead.seeded(features, request.projection or PROJECTION, seed=request.seed)
        made = LightlyView("simclr", side, network.prepare)
        return (
            Trainee(network, head, request, kept=False),
            SimclrObjective(request.temperature),
            (Group(2, made, (height, width)),),
        )
    if request.loss == "dino":
        prototypes = request.prototypes or PROTOTYPES
        local = local_side(network)
        model = Trainee(network, PrototypeHead(features, prototypes, seed=request.seed), request, kept=False)
        return (
            model,
            DinoObjective(model, prototypes, processes),
            (
                Group(1, LightlyView("global", side, network.prepare), (height, width)),
                Group(1, LightlyView("second", side, network.prepare), (height, width)),
                Group(LOCAL_VIEWS, LightlyView("local", local), (local, local)),
            ),
        )
    kept = (
        ResidualHead.seeded(features, features, seed=request.seed)
        if request.kind == "residual"
        else ProjectionHead.seeded(features, request.projection or PROJECTION, seed=request.seed)
    )
    return (
        Trainee(network, kept, request, kept=True),
        PairObjective(request),
        (Group(2, khosla, (height, width)),),
    )


def local_side(network: Network) -> int:
    """The side of DINO's local views: 96 for a network of 224 pixels, or all of it where it takes no other size."""
    side = max(network.preprocessing.size)
    wanted = max(32, round(side * LOCAL_SHARE / 16) * 16)
    try:
        network.vectors(np.zeros((1, wanted, wanted, 3), np.uint8))
    except EncoderError:
        return side
    return wanted


def _batches(
    given: Material, views: PhotoViews, request: TrainingRequest, device: torch.device, processes: Processes
) -> TrainingBatches:
    if given.around is None:
        return PhotoBatches(given.training, request.batch, views, request.seed, processes)
    return Examples(given.around, plan_of(request), request.soft, views, request.seed, device, processes)


def _listed(unreadable: dict[str, str]) -> str:
    shown = [f"{image} ({what})" for image, what in list(unreadable.items())[:5]]
    more = len(unreadable) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
