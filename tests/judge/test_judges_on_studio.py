"""Simulated judges behind a real server, over a studio catalog whose truth is known: what is measured of each."""

import shutil

import numpy as np
import pytest
from model_server import KnownPhotos, ModelServer, noise, said, serving

from lookalike.core.errors import JudgeError
from lookalike.judge.calls import Limits
from lookalike.judge.endpoint import EndpointSettings
from lookalike.store.judges import read_judgments
from lookalike.store.workspace import Workspace
from lookalike.studio import studio
from lookalike.workflows.decide.judge.endpoint import judge_by_endpoint
from lookalike.workflows.decide.judge.questions import JudgeScope, labels_of
from lookalike.workflows.demo.truth import true_pairs

SCOPE = JudgeScope(limit=20, labelled=80)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(studio_demo, tmp_path_factory):
    """A copy of the demo, its photos by what they show, and the true label of every pair of images."""
    folder = shutil.copytree(studio_demo / "d", tmp_path_factory.mktemp("studio") / "d")
    workspace = Workspace(folder)
    catalog = workspace.catalog
    truth = true_pairs(studio(len(catalog), photos_per_item=2, seed=0), catalog, np.arange(len(catalog)))
    item = dict(zip(catalog.image, catalog.item, strict=True))
    similar = {
        (q, item[c]): int(y) for q, c, y in zip(truth.query, truth.candidate, truth.label, strict=True)
    }
    return workspace, KnownPhotos(folder / workspace.settings.photos, catalog), similar, item


def wrong(share: float):
    """A judge that gives the wrong answer in a share of the pairs, in both orders the same."""

    def judge(a, b, similar, _color):
        opposite = noise(*sorted((a, b))) < share
        return 0.5 + (0.4 if similar != opposite else -0.4)

    return judge


JUDGES = {
    "good": wrong(0.06),
    "weak": wrong(0.38),
    "adversarial": lambda *given: 1 - wrong(0.06)(*given),
    "biased": lambda a, b, similar, color: 0.15 * similar + 0.85 * color,
    "order": lambda a, b, similar, color: 0.9 if a < b else 0.1,
}


@pytest.fixture(scope="module")
def judged(world):
    """The results of all judges, asked over HTTP."""
    workspace, known, similar, item = world
    color = workspace.embeddings("color").vectors.astype(np.float64)
    color /= np.linalg.norm(color, axis=1, keepdims=True)
    row, found = workspace.catalog.row, {}
    for name, judge in JUDGES.items():

        def answer(first: bytes, second: bytes, judge=judge) -> float:
            a, b = known.image(first), known.image(second)
            likeness = float(np.clip(color[row[a]] @ color[row[b]], 0, 1))
            return judge(a, b, similar[a, item[b]], likeness)

        with serving(ModelServer(answer)) as server:
            found[name] = ask(workspace, name, server), server
    return found


def ask(workspace, name, server, **settings):
    given = EndpointSettings(
        endpoint=server.address, model=f"{name}-model", pixels=128, examples=3, **settings
    )
    encoders = ["color", "hog", "lbp"]
    limits = Limits(8, 20.0, 0.01)
    return judge_by_endpoint(workspace, name, encoders, SCOPE, given, confirm=lambda _: None, limits=limits)


def test_every_judge_gets_the_same_pairs_and_answers_all(judged):
    for result, server in judged.values():
        assert (result.pairs, result.judged) == (100, 100)
        assert len(server.asked) == 200
    pairs = [set(zip(*columns(result), strict=True)) for result, _ in judged.values()]
    assert all(one == pairs[0] for one in pairs)


def columns(result):
    return [[one.query for one in result.judge.examples], [one.candidate for one in result.judge.examples]]


def test_the_agreement_is_that_of_the_scores_with_the_labels(world, judged):
    workspace, _, similar, item = world
    for name in ("good", "weak", "adversarial"):
        kept = read_judgments(workspace.folder, name)
        label = labels_of(workspace.catalog, workspace.labels(), kept)
        here = np.isfinite(label)
        answers = kept.score[here] >= 0.5
        agree = np.mean(answers == (label[here] == 1))
        share = np.mean(answers), np.mean(label[here])
        chance = share[0] * share[1] + (1 - share[0]) * (1 - share[1])
        figures = judged[name][0].agreement
        assert figures.kappa.value == pytest.approx((agree - chance) / (1 - chance))
        assert figures.kappa.count == here.sum() >= 80
        true = [similar[a, item[b]] for a, b in zip(kept.query, kept.candidate, strict=True)]
        right = np.mean((kept.score >= 0.5) == np.array(true))
        assert right == pytest.approx({"good": 0.94, "weak": 0.62, "adversarial": 0.06}[name], abs=0.12)


def test_better_judges_are_worth_more_and_an_adversarial_one_as_much_as_its_opposite(judged):
    worth = {name: result.agreement.worth for name, (result, _) in judged.items()}
    assert worth["good"].low > worth["weak"].value >= 1
    assert worth["adversarial"].value == pytest.approx(worth["good"].value)
    assert judged["adversarial"][0].agreement.correlation.high < 0
    assert judged["adversarial"][0].agreement.kappa.high < 0
    assert judged["order"][0].constant == pytest.approx(0.5)
    assert np.isnan(worth["order"].value)


def test_only_a_judge_that_looks_at_the_order_flips(judged):
    flips = {name: result.agreement.flips.value for name, (result, _) in judged.items()}
    assert flips == {"good": 0, "weak": 0, "adversarial": 0, "biased": 0, "order": 1}


def test_a_biased_judge_is_worth_less_than_one_that_knows_the_truth(world, judged):
    """Among dissimilar pairs its score still follows the encoder."""
    workspace, _, similar, item = world
    kept = read_judgments(workspace.folder, "biased")
    true = np.array([similar[a, item[b]] for a, b in zip(kept.query, kept.candidate, strict=True)])
    assert np.std(kept.score[true == 0]) > 0.01
    assert judged["biased"][0].agreement.worth.value < judged["good"][0].agreement.worth.value


def test_a_nonsense_judge_is_stopped_and_a_slow_one_is_as_good(world, judged):
    workspace, known, similar, item = world
    with serving(ModelServer(lambda a, b: 0.5, lambda _: said("42"))) as server:
        with pytest.raises(JudgeError, match="calls in a row failed"):
            ask(workspace, "nonsense", server)
        assert len(server.asked) <= 16

    def answer(first, second):
        a, b = known.image(first), known.image(second)
        return wrong(0.06)(a, b, similar[a, item[b]], 0.0)

    with serving(ModelServer(answer, seconds=0.03)) as server:
        result = ask(workspace, "slow", server)
    assert result.agreement == judged["good"][0].agreement
