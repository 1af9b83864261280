"""`lookalike positiveness` as a person calls it: what it writes, what it says, what it refuses."""

import signal
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars
import pytest
from commands.test_commands_kills import small_files
from oracles.matching import Vote
from oracles.ranking import Photo
from oracles.softness import soft_positives

from lookalike.store.workspace import Workspace


def rows_of(path: Path) -> dict[frozenset, tuple[float, int]]:
    """A file's pairs with their positiveness and distance; each must be there once."""
    found = polars.read_parquet(path) if path.suffix == ".parquet" else polars.read_csv(path)
    rows = {frozenset((a, b)): (p, d) for a, b, p, d in found.iter_rows()}
    assert len(rows) == len(found)
    return rows


def by_hand(workspace: Path, **options: object) -> dict[frozenset, tuple[float, int]]:
    """What the oracle makes of a workspace's labels, zeros left out."""
    opened = Workspace(workspace)
    catalog, labels = opened.catalog, opened.labels()
    photos = [
        Photo(*row) for row in zip(catalog.image, catalog.item, catalog.role, catalog.split, strict=True)
    ]
    votes = [Vote(*row) for row in zip(labels.query, labels.candidate, labels.label.tolist(), strict=True)]
    found = soft_positives(photos, votes, **options)
    return {pair: (soft.positiveness, soft.hops) for pair, soft in found.items() if soft.positiveness > 0}


def same(found: dict, wanted: dict) -> bool:
    """Equal pairs, equal distances, and positiveness equal as float32."""
    return found.keys() == wanted.keys() and all(
        found[pair][1] == hops and np.isclose(found[pair][0], p, rtol=1e-6)
        for pair, (p, hops) in wanted.items()
    )


@pytest.fixture
def chain(lookalike, photos, tmp_path):
    """A workspace without encoders whose labels are given as text; `splits` says where images are (else validation)."""

    def label(*rows: str, splits: dict[str, str]) -> Path:
        images = [path.relative_to(photos).as_posix() for path in sorted(photos.rglob("*.png"))]
        lines = [f"{image},{image.rpartition('/')[0]},{splits.get(image, 'validation')}" for image in images]
        (tmp_path / "table.csv").write_text("image,item,split\n" + "\n".join(lines) + "\n")
        (tmp_path / "labels.csv").write_text("query,candidate,label\n" + "\n".join(rows) + "\n")
        folder = tmp_path / "shop"
        for command in (("init", "table.csv", "--images", photos), ("labels", "import", "labels.csv")):
            result = lookalike(*command, "--workspace", folder)
            assert result.status == 0, result.err
        return folder

    return label


BOWLS = [f"bowl/00{n}/1.png" for n in range(6)]
TRAIN = dict.fromkeys(BOWLS, "train")
LINKS = [f"{a},{b},1" for a, b in pairwise(BOWLS)]


@pytest.mark.parametrize(
    ("ending", "nodes", "split"),
    [
        ("csv", "image", "train"),
        ("parquet", "image", "all"),
        ("csv", "item", "all"),
        ("parquet", "item", "train"),
    ],
)
def test_the_file_holds_what_the_paper_says(lookalike, labelled, ending, nodes, split):
    out = f"soft.{ending}"
    result = lookalike(
        "positiveness", "--nodes", nodes, "--split", split, "--out", out, "--beta", 0.5, "--json"
    )
    assert result.status == 0, result.err
    wanted = by_hand(labelled, beta=0.5, most=7, nodes=nodes, split=None if split == "all" else split)
    assert same(rows_of(labelled / out), wanted)
    assert result.json["pairs"] == len(wanted) == sum(result.json["written"].values())
    assert result.json["counted"] is True


def test_what_is_printed(lookalike, chain):
    folder = chain(*LINKS, f"{BOWLS[0]},{BOWLS[2]},0", f"{BOWLS[0]},box/000/1.png,0", splits=TRAIN)
    result = lookalike("positiveness", "--workspace", folder, "--out", "soft.csv")
    assert result.status == 0, result.err
    words = " ".join(result.out.split())
    assert "Labels of split train: 5 positives and 1 negative, on 6 of 6 images." in words
    assert "Nodes of the graph: images." in words
    assert "1 label left out: not both images are in the split train." in words
    assert "up to 7 hops: 14 pairs. This is 93.3% of all pairs" in words
    assert "keep positiveness 0: 6.67%." in words
    assert "Few negatives are left" in words
    assert "Conflicts: 1 of 1 labelled negative joined by a chain of up to 7 hops." in words
    assert "Writing 14 pairs (" in words
    assert "Wrote 14 pairs to soft.csv." in words
    assert "lookalike finetune ENCODER --name NAME --workspace" in words
    assert len(rows_of(folder.parent / "soft.csv")) == 14


def test_photos_that_are_not_joined_are_reported(lookalike, labelled):
    done = " ".join(lookalike("positiveness").out.split())
    assert "A label holds for its two photos only." in done
    assert "`lookalike finetune` uses it for all photos of the two items: --nodes item" in done
    result = lookalike("positiveness", "--nodes", "item")
    assert "Nodes of the graph: items." in result.out
    assert "two photos only" not in result.out


def test_a_minimum_positiveness_limits_the_distance(lookalike, chain):
    folder = chain(*LINKS, splits=TRAIN)
    options = ("--workspace", folder, "--out", "soft.csv", "--min-positiveness", 0.1)
    result = lookalike("positiveness", *options)
    assert "up to 3 hops (longer chains do not count): 12 pairs" in result.out
    assert {d for _, d in rows_of(folder.parent / "soft.csv").values()} == {1, 2, 3}


def test_contradictions_can_be_mended_and_read_back(lookalike, chain):
    folder = chain(*LINKS, f"{BOWLS[5]},{BOWLS[0]},0", f"{BOWLS[0]},{BOWLS[2]},0", splits=TRAIN)
    result = lookalike("positiveness", "--workspace", folder, "--contradictions", "review.csv")
    assert result.status == 0, result.err
    review = folder.parent / "review.csv"
    found = polars.read_csv(review)
    assert found.columns == ["query", "candidate", "label", "distance", "positiveness"]
    assert found["query"].to_list() == [BOWLS[0], BOWLS[5]]
    assert found["distance"].to_list() == [2, 5]
    assert np.allclose(found["positiveness"], np.exp([-1.4, -3.5]))
    review.write_text(review.read_text().replace(",0,2,", ",1,2,"))
    assert lookalike("labels", "import", review, "--replace", "--workspace", folder).status == 0
    assert lookalike("positiveness", "--workspace", folder, "--json").json["positives"] == 6


@pytest.mark.parametrize("names", ["image_a,image_b", "query,candidate", "image_a;image_b"])
def test_given_pairs_keep_their_order_and_their_zeros(lookalike, chain, names):
    folder = chain(*LINKS, f"{BOWLS[0]},{BOWLS[2]},0", splits=TRAIN)
    wanted = [(BOWLS[3], BOWLS[0]), (BOWLS[0], BOWLS[2]), (BOWLS[1], BOWLS[0]), (BOWLS[0], "box/000/1.png"),
             (BOWLS[4], BOWLS[4]), (BOWLS[0], BOWLS[5])]  # fmt: skip
    between = ";" if ";" in names else ","
    (folder.parent / "asked.csv").write_text(
        "\n".join([names, *(between.join(pair) for pair in wanted)]) + "\n"
    )
    options = ("--workspace", folder, "--pairs", "asked.csv", "--out", "given.csv", "--max-distance", 4)
    result = lookalike("positiveness", *options)
    assert result.status == 0, result.err
    found = polars.read_csv(folder.parent / "given.csv")
    assert list(zip(found["image_a"], found["image_b"], strict=True)) == wanted
    rounded = [None if p is None else round(p, 4) for p in found["positiveness"]]
    assert rounded == [round(float(np.exp(-2.1)), 4), 0.0, 1.0, None, 1.0, 0.0]
    assert found["distance"].to_list() == [3, 2, 1, None, 0, None]
    assert "Wrote 6 of 6 given pairs to given.csv, 3 with positiveness above 0." in result.out
    assert "Empty cells: 1 pair outside split train." in result.out
    least = lookalike("positiveness", *options, "--min-positiveness", 0.2, "--json").json["given"]
    assert least == {"pairs": 6, "written": 3, "positive": 2, "outside": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("image_a,image_b\nbowl/000/1.png,nowhere\n", "line 2: the catalog has no image 'nowhere'"),
        ("one,two\na,b\n", "has the columns"),
        ("image_a,other\na,b\n", "has the columns"),
        ("", "asked.csv"),
    ],
)
def test_lists_of_pairs_that_cannot_be_used(lookalike, labelled, text, words):
    (labelled / "asked.csv").write_text(text)
    result = lookalike("positiveness", "--pairs", "asked.csv", "--out", "given.csv")
    assert result.status == 1
    assert words in result.err
    assert "Traceback" not in result.err
    assert not (labelled / "given.csv").exists()


def test_no_labels_yet(lookalike, workspace):
    result = lookalike("positiveness", "--out", "soft.csv")
    assert result.status == 1
    assert "There are no labels yet" in result.err
    assert "lookalike labels import" in result.err
    assert not (workspace / "soft.csv").exists()


def test_labels_in_one_split_only(lookalike, chain):
    folder = chain(*LINKS, splits=dict.fromkeys(BOWLS, "test"))
    result = lookalike("positiveness", "--workspace", folder)
    assert result.status == 1
    assert "There is no usable label of split train." in result.err
    assert "5 left out: not both images are in the split train." in result.err
    assert "Positives are elsewhere: --split test has 5, --split all has 5." in result.err
    assert lookalike("positiveness", "--workspace", folder, "--split", "test").status == 0


def test_no_positive_at_all(lookalike, chain):
    folder = chain(f"{BOWLS[0]},{BOWLS[1]},0", splits=TRAIN)
    result = lookalike("positiveness", "--workspace", folder)
    assert result.status == 1
    assert "None of the usable labels of split train is positive (they are 1)." in result.err
    assert "Label more pairs" in result.err


def test_no_negative(lookalike, chain):
    folder = chain(*LINKS[:2], splits=TRAIN)
    result = lookalike("positiveness", "--workspace", folder)
    assert result.status == 0
    assert "No pair is labelled negative, so negatives are pairs without a chain." in result.out
    assert "Conflicts" not in result.out


def test_one_positive(lookalike, chain):
    folder = chain(LINKS[0], splits=TRAIN)
    result = lookalike("positiveness", "--workspace", folder, "--out", "soft.csv")
    assert result.status == 0
    assert "1 positive and 0 negatives, on 2 of 6 images." in result.out
    assert rows_of(folder.parent / "soft.csv") == {frozenset(BOWLS[:2]): (1.0, 1)}


def test_one_huge_component_leaves_no_negatives(lookalike, chain):
    every = [f"{BOWLS[0]},{b}/00{n}/{p}.png,1" for b in ("bowl", "box", "rod") for n in range(6) for p in (1, 2)
             if (b, n) != ("bowl", 0)]  # fmt: skip
    options = ("--split", "all", "--workspace", chain(*every, splits={}))
    result = lookalike("positiveness", *options, "--json")
    assert result.json["few_negatives"] is True
    assert result.json["share_of_labelled"] == 1.0
    assert "Few negatives are left" in lookalike("positiveness", *options).out
    result = lookalike("positiveness", *options, "--max-distance", 1)
    assert "Few negatives" not in result.out


def test_more_pairs_than_wanted_are_refused_unless_the_limit_is_raised(lookalike, chain):
    folder = chain(*LINKS, splits=TRAIN)
    options = ("positiveness", "--workspace", folder, "--out", "soft.csv", "--max-pairs", 14)
    result = lookalike(*options)
    assert result.status == 1
    assert all(part in result.err for part in ("soft.csv", "15 pairs", "--max-pairs is 14"))
    assert not (folder.parent / "soft.csv").exists()
    assert lookalike(*options[:-1], 15).status == 0
    assert len(rows_of(folder.parent / "soft.csv")) == 15


@pytest.mark.parametrize(
    ("status", "options", "words"),
    [
        (2, ("--beta", "-1"), "--beta"),
        (2, ("--beta", "nan"), "--beta"),
        (2, ("--max-distance", "0"), "--max-distance"),
        (2, ("--split", "tests"), "--split: tests"),
        (2, ("--nodes", "photo"), "--nodes: photo"),
        (1, ("--min-positiveness", "2"), "2.0"),
        (1, ("--out", "soft.json"), "soft.json"),
        (1, ("--contradictions", "review.txt"), "review.txt"),
        (1, ("--pairs", "asked.csv"), "--output"),
        (1, ("--out", "nowhere/soft.csv"), "nowhere/soft.csv"),
    ],
)
def test_options_that_are_wrong(lookalike, labelled, status, options, words):
    before = sorted(labelled.iterdir())
    result = lookalike("positiveness", *options)
    assert result.status == status
    assert words in result.err
    assert sorted(labelled.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_anywhere_the_file_is_whole_or_what_it_was(started, completed, labelled, how):
    out = labelled / "soft.parquet"
    wanted = by_hand(labelled, beta=0.7, most=7)
    for after in (0.5, 0.9, 1.3):
        out.write_bytes(b"before")
        process = started("positiveness", "--out", out, cwd=labelled)
        time.sleep(after)
        process.send_signal(how)
        _, complaint = process.communicate(timeout=60)
        assert "Traceback" not in complaint
        assert out.read_bytes() == b"before" or same(rows_of(out), wanted)
    completed("positiveness", "--out", out, cwd=labelled)
    assert same(rows_of(out), wanted)
    assert not list(labelled.glob(".*.new"))


@pytest.mark.slow
def test_a_disk_that_refuses_more_keeps_the_old_file(started, labelled):
    out = labelled / "soft.csv"
    out.write_text("before")
    process = started(
        "positiveness",
        "--split",
        "all",
        "--nodes",
        "item",
        "--out",
        out,
        cwd=labelled,
        preexec_fn=small_files,
    )
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "The disk is full" in complaint
    assert "Traceback" not in complaint
    assert out.read_text() == "before"
    assert not list(labelled.glob(".*.new"))
