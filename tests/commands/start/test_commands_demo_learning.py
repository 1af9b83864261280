"""The demo's last step: learning from its labels, shown on the test split; without PyTorch, all else."""

import html
import re
import shutil
import subprocess
import sys

import pytest

from lookalike.evaluate.measures.table import DEFAULT
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.evaluate import evaluate
from lookalike.workflows.decide.trained import trained, untrained
from lookalike.workflows.decide.verdict import corrected_on_pool
from lookalike.workflows.demo.learning import BASE, NAME

LEARNED_SECTION = '<div id="learned"'
WITHOUT_TORCH = """
import sys

class Without:  # PyTorch, as if it were not installed
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] == "torch" else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Without, sys.meta_path)
from lookalike.cli import main
sys.argv = ["lookalike", "demo", "--output", "d", "--images", "200", "--queries", "10"]
main()
"""


@pytest.mark.slow
def test_the_demo_shows_an_encoder_before_and_after_learning(studio_demo):
    printed = (studio_demo / "printed.txt").read_text(encoding="utf-8")
    flat = " ".join(printed.split())
    workspace = Workspace(studio_demo / "d")
    assert trained(workspace) == (NAME,)
    assert BASE in untrained(workspace)
    found = evaluate(workspace, [BASE, NAME], DEFAULT)
    assert found.rule.split == "test"
    assert f"test split: {found.labels:,} labels" in flat
    line = next(line for line in printed.splitlines() if line.startswith(NAME))
    after = next(one for one in found.scores if one.encoder == NAME)
    shown = re.sub(r" \[.*?\]", "", line).split()  # without intervals
    assert [f"{after[name].value:.3f}" for name in ("EHR@5", "AUC_mac")] == shown[2:4]
    rates = corrected_on_pool(workspace, found.ranked)
    assert f"{rates.of[NAME].score.value:.3f}" == shown[1] != f"{after['HR@5'].value:.3f}"
    assert re.search(r"By the labels: .*HR@5 corrected", flat)
    assert re.search(r"ground truth: .*HR@5", flat)
    page = (studio_demo / "d/reports/report.html").read_text()
    assert LEARNED_SECTION in page
    learned = html.unescape(page.split(LEARNED_SECTION)[1].split("</section>")[0])
    truth = learned.split(f'aria-label="{NAME} by the ground truth"')[1].split("</table>")[0]
    assert shown[4] in truth
    labels = learned.split(f'aria-label="{NAME} by the labels"')[1].split("</table>")[0]
    assert shown[1] in re.sub("<[^>]+>", "", labels.split("</tr>")[1])
    assert "Most improved" in learned
    assert f"lookalike evaluate {BASE} {NAME} --workspace d" in flat


@pytest.mark.slow
def test_without_pytorch_an_earlier_demo_is_replaced_and_the_installation_is_named(studio_demo, tmp_path):
    shutil.copytree(studio_demo / "d", tmp_path / "d")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    flat = " ".join(done.stdout.split())
    assert flat.count("left out") == 1
    assert flat.count("pip install '.[learn]'") == 1
    assert "Done in" in flat
    assert len(Workspace(tmp_path / "d").catalog) == 200
    assert trained(Workspace(tmp_path / "d")) == ()
    page = (tmp_path / "d/reports/report.html").read_text()
    assert "<h3>Compared with" in page
    assert LEARNED_SECTION not in page
