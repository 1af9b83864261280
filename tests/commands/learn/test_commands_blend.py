"""`lookalike blend` from stored vectors and labels to a verdict and a search by photo."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.linear_model import LogisticRegression
from trained_shop import ENCODERS, WIDE, keep_head, make_shop

from lookalike.encode.sources.checkpoint_file import ancestry
from lookalike.encode.spec import parse
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.trained import trained, trained_encoders


@pytest.fixture
def shop(tmp_path) -> Workspace:
    return make_shop(tmp_path)


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)


def cosines(workspace: Workspace, encoder: str) -> np.ndarray:
    vectors = unit(np.asarray(workspace.embeddings(encoder).vectors))
    return vectors @ vectors.T


def training_pairs(workspace: Workspace) -> tuple[np.ndarray, np.ndarray]:
    """Labelled pairs whose images are both of the training split: catalog rows and labels."""
    catalog, labels = workspace.catalog, workspace.labels()
    found = [
        (catalog.row[query], catalog.row[candidate], label)
        for query, candidate, label in zip(labels.query, labels.candidate, labels.label, strict=True)
        if {catalog.split[catalog.row[query]], catalog.split[catalog.row[candidate]]} == {"train"}
    ]
    return np.array(found)[:, :2].astype(int), np.array(found)[:, 2].astype(int)


def test_given_weights_mean_the_cosines(lookalike, shop):
    found = lookalike("blend", "plain", "other", "--name", "both", "--weights", "3,1", "--json").json
    assert found["weights"] == {"plain": 0.75, "other": 0.25}
    assert found["labels"] == 0
    assert found["verdict"] is None
    expected = 0.75 * cosines(shop, "plain") + 0.25 * cosines(shop, "other")
    np.testing.assert_allclose(cosines(shop, "both"), expected, atol=1e-6)
    assert shop.manifest("both").dimension == 2 * WIDE
    assert trained(shop) == ()


def test_labels_of_the_training_split_give_the_weights(lookalike, shop):
    found = lookalike("blend", *ENCODERS, "--name", "mix", "--json").json
    pairs, label = training_pairs(shop)
    given = np.stack([cosines(shop, encoder)[pairs[:, 0], pairs[:, 1]] for encoder in ENCODERS], axis=1)
    scaled = (given - given.mean(axis=0)) / given.std(axis=0)
    slopes = LogisticRegression(C=1.0, tol=1e-10).fit(scaled, label).coef_[0] / given.std(axis=0)
    assert slopes.min() > 0, "the shop's encoders all see the kinds"
    assert (found["labels"], found["positives"]) == (len(label), int(label.sum()))
    weights = [found["weights"][encoder] for encoder in ENCODERS]
    np.testing.assert_allclose(weights, slopes / slopes.sum(), atol=1e-5)
    expected = sum(w * cosines(shop, encoder) for w, encoder in zip(weights, ENCODERS, strict=True))
    np.testing.assert_allclose(cosines(shop, "mix"), expected, atol=1e-6)


def test_labels_of_other_splits_change_nothing(lookalike, shop, tmp_path):
    first = lookalike("blend", *ENCODERS, "--name", "mix", "--json").json
    lines = ["query,candidate,label", *(f"i{a},i{a + 1},{a % 2}" for a in range(30, 44))]
    Path("more.csv").write_text("\n".join(lines))
    assert lookalike("labels", "import", "more.csv", "--replace").status == 0
    again = lookalike("blend", *ENCODERS, "--name", "mix", "--json").json
    assert again["weights"] == first["weights"]


def test_a_learned_blend_is_a_trained_encoder_with_a_verdict_against_the_best_of_its_own(lookalike, shop):
    result = lookalike("blend", *ENCODERS, "--name", "mix")
    assert result.status == 0, result.err
    (one,) = trained_encoders(shop)
    assert one.name == "mix"
    assert one.base in ENCODERS
    assert f"Whether mix is better than {one.base} cannot be told" in " ".join(result.out.split())
    assert f"Next: lookalike compare mix {one.base} --labels" in " ".join(result.out.split())
    refused = lookalike("evaluate", "mix", "plain", "--split", "train")
    assert refused.status == 1
    assert "trained on this workspace's labels" in refused.err
    assert lookalike("compare", "mix", one.base, "--labels", 48).status == 0


def test_the_report_says_what_a_blend_is_made_of_and_how_it_was_learned(lookalike, shop):
    found = lookalike("blend", *ENCODERS, "--name", "mix", "--json").json
    (one,) = trained_encoders(shop)
    assert dict(one.blended) == found["weights"]
    assert lookalike("report").status == 0
    page = html.unescape(re.sub(r"<[^>]+>", "", (shop.folder / "reports/report.html").read_text()))
    page = " ".join(page.replace("\N{NO-BREAK SPACE}", " ").split())
    parts = [f"{name} (weight {weight:.2f})" for name, weight in found["weights"].items()]
    assert f"A blend of {parts[0]}, {parts[1]} and {parts[2]}." in page
    assert f"learned from {found['labels']} labelled pairs" in page
    assert f"{found['positives']} of them similar" in page
    assert f"mix, a blend compared with {one.base}" in page


def test_an_encoder_with_a_negative_weight_is_left_out_and_named(lookalike, shop):
    """By it only images of different kinds are alike: the kind of image i is i % 3, and its vector that of i // 3."""
    place = np.arange(len(shop.catalog)) // 3
    np.save("turned.npy", np.eye(16, dtype=np.float32)[place] + 0.1)
    assert lookalike("embed", "precomputed:turned.npy", "--name", "turned").status == 0
    pairs, label = training_pairs(shop)
    found = cosines(shop, "turned")[pairs[:, 0], pairs[:, 1]]
    assert found[label == 1].mean() < found[label == 0].mean(), "the fixture must fall with similarity"
    result = lookalike("blend", *ENCODERS, "turned", "--name", "mix")
    assert result.status == 0, result.err
    out = " ".join(result.out.split())
    assert "Left out because its weight was negative: turned" in out
    assert "cannot subtract" in out
    names = {str(one) for one in ancestry(parse("checkpoint:models/mix"), shop.folder)}
    assert not any("turned" in name for name in names)
    assert lookalike("blend", "plain", "turned", "--name", "one").status == 1


def test_the_same_command_again_computes_nothing(lookalike, shop, monkeypatch):
    first = lookalike("blend", *ENCODERS, "--name", "mix", "--json").json
    monkeypatch.setattr("lookalike.workflows.learn.blend.blend_weights", None)
    assert lookalike("blend", *ENCODERS, "--name", "mix", "--json").json == first


def test_a_blend_of_a_trained_encoder_is_trained_whatever_its_weights(lookalike, shop):
    keep_head(shop.folder / "models/better", shop.manifest("plain").origin)
    assert lookalike("embed", "checkpoint:better").status == 0
    assert lookalike("blend", "better", "other", "--name", "mix", "--weights", "1,1").status == 0
    assert trained(shop) == ("better", "mix")


def test_another_blend_of_the_same_name_is_refused_with_the_difference(lookalike, shop):
    assert lookalike("blend", *ENCODERS, "--name", "mix", "--weights", "1,1,1").status == 0
    refused = lookalike("blend", *ENCODERS[:2], "--name", "mix", "--weights", "1,1")
    assert refused.status == 1
    assert f"({ENCODERS[2]} was in it and is not now; weights was " in " ".join(refused.err.split())


def test_the_order_of_the_encoders_does_not_mix_up_their_weights(lookalike, shop):
    first = lookalike("blend", "plain", "other", "--name", "mix", "--weights", "2,1", "--json").json
    same = lookalike("blend", "other", "plain", "--name", "mix", "--weights", "1,2", "--json")
    assert same.json["weights"] == first["weights"]
    refused = lookalike("blend", "other", "plain", "--name", "mix", "--weights", "2,1")
    assert refused.status == 1
    assert "weights was" in " ".join(refused.err.split())


def test_labels_and_an_encoder_of_that_name_are_two_things(lookalike, shop):
    np.save("labels.npy", np.asarray(shop.embeddings("other").vectors))
    assert lookalike("embed", "precomputed:labels.npy", "--name", "labels").status == 0
    assert lookalike("blend", "plain", "labels", "--name", "mix").status == 0
    pairs, label = training_pairs(shop)
    (a, b), was = [shop.catalog.image[row] for row in pairs[0]], label[0]
    Path("more.csv").write_text(f"query,candidate,label\n{a},{b},{1 - was}\n")
    assert lookalike("labels", "import", "more.csv", "--replace").status == 0
    refused = lookalike("blend", "plain", "labels", "--name", "mix")
    assert refused.status == 1
    assert "the labels have changed" in refused.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("plain",), "two encoders or more"),
        (("plain", "plain"), "each once"),
        (("plain", "nothing"), "Unknown encoder 'nothing'"),
        (("plain", "other", "--weights", "1"), "1 weights are given for 2 encoders"),
        (("plain", "other", "--weights", "1,-0.5"), "cannot subtract"),
        (("plain", "other", "--weights", "1,0"), "not above 0"),
        (("plain", "other", "--weights", "1,nan"), "not above 0"),
        (("plain", "other", "--weights", "1,x"), "no number"),
    ],
)
def test_what_cannot_be_blended_is_refused(lookalike, shop, words, problem):
    refused = lookalike("blend", *words, "--name", "mix")
    assert refused.status != 0
    assert problem in " ".join(refused.err.split())
    assert not (shop.folder / "models/mix").exists()


def test_an_encoder_of_another_state_of_the_catalog_is_refused(lookalike, shop):
    """Its vectors are of other images than those of the other encoder."""
    assert lookalike("catalog", "remove", "i47").status == 0
    np.save("rest.npy", np.random.default_rng(0).normal(size=(48, 4)).astype(np.float32))
    assert lookalike("embed", "precomputed:rest.npy", "--name", "rest").status == 0
    refused = lookalike("blend", "rest", "plain", "--name", "mix", "--weights", "1,1")
    assert refused.status == 1
    assert "vectors of plain are stale" in " ".join(refused.err.split())
    assert "--stale" in refused.err


def test_without_labels_the_weights_must_be_given(lookalike, tmp_path, photos):
    assert lookalike("init", photos).status == 0
    assert lookalike("embed", "descriptor:color", "descriptor:hog").status == 0
    refused = lookalike("blend", "color", "hog", "--name", "both")
    assert refused.status == 1
    assert "--weights 1,1" in refused.err


def test_a_new_photo_goes_through_all_encoders(lookalike, tmp_path, photos):
    assert lookalike("init", photos).status == 0
    assert lookalike("embed", "descriptor:color", "descriptor:hog").status == 0
    assert lookalike("blend", "color", "hog", "--name", "both", "--weights", "2,1").status == 0
    workspace = Workspace(tmp_path)
    Image.open(Path(photos, workspace.catalog.path[0])).save("new.png")
    found = lookalike("search", "new.png", "--encoder", "both", "-k", 3, "--json").json
    assert found["results"][0]["image"] == workspace.catalog.image[0]
    from_vectors = np.array(workspace.embeddings("both").vectors)
    assert lookalike("embed", "--remove", "color").status == 0
    assert lookalike("embed", "checkpoint:both", "--replace").status == 0  # color has no vectors: from photos
    np.testing.assert_allclose(workspace.embeddings("both").vectors, from_vectors, atol=1e-6)


def test_stale_vectors_of_a_blend_follow_those_of_its_encoders(lookalike, tmp_path, photos):
    assert lookalike("init", photos).status == 0
    assert lookalike("embed", "descriptor:color", "descriptor:hog").status == 0
    assert lookalike("blend", "color", "hog", "--name", "a-both", "--weights", "2,1").status == 0
    assert lookalike("catalog", "remove", Workspace(tmp_path).catalog.image[0]).status == 0
    assert lookalike("embed", "--stale").status == 0
    workspace = Workspace(tmp_path)
    expected = (2 * cosines(workspace, "color") + cosines(workspace, "hog")) / 3
    np.testing.assert_allclose(cosines(workspace, "a-both"), expected, atol=1e-6)


def test_a_light_head_and_components_can_be_made_of_a_blend(lookalike, shop):
    assert lookalike("blend", *ENCODERS, "--name", "mix", "--weights", "1,1,1").status == 0
    result = lookalike("pca", "mix", "--name", "small", "--dimensions", 4)
    assert result.status == 0, result.err
    about = json.loads((shop.folder / "models/small/checkpoint.json").read_text())
    assert about["encoder"] == "checkpoint:models/mix"
    assert lookalike("status").status == 0
    refused = lookalike("blend", "plain", "other", "--name", "mix", "--weights", "1,1", "--replace")
    assert refused.status == 1
    assert "cannot be replaced" in refused.err
