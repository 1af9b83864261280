"""On the studio catalog's demo the audits equal the slow versions: real ranks, a real pool, real gaps."""

import numpy as np
import pytest
from oracles import auditing
from oracles.scoring import ehr
from oracles.worlds import rows_from

from lookalike.audit.correlation import KINDS
from lookalike.core.types import Rule
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import judged_pairs
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.audit import audit
from lookalike.workflows.decide.trained import untrained

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workspace(studio_demo):
    return Workspace(studio_demo / "d")


@pytest.mark.parametrize("rule", ["surfaced", "only"])
def test_the_demo_workspace(workspace, rule, monkeypatch):
    monkeypatch.setitem(auditing.MEASURES, "EHR@5", lambda rows: ehr(rows, 5))
    found = audit(workspace, rule=rule, replicates=0)
    pairs = judged_pairs(workspace.catalog, workspace.labels(), Rule())
    pool, names = workspace.pool(), untrained(workspace)
    world = [rows_from(judged_ranks(workspace.catalog, workspace.embeddings(name), pairs)) for name in names]
    put = {(pool.query[p], pool.item[p], int(g)) for p, g in zip(pool.pair, pool.source, strict=True)}
    by = [[(row.query, row.candidate, g) in put for row in world[0]] for g in range(len(pool.generators))]
    assert found.of_none == sum(not any(one) for one in zip(*by, strict=True)) > 0
    own = [auditing.covered(rows, 5) for rows in world]
    fed = [names.index(name) for name in pool.generators]
    shared = set.intersection(*(own[i] for i in fed))
    chosen = [shared if shared <= one else set() for one in own]
    assert shared
    for g, name in enumerate(pool.generators):
        stay = auditing.left(by, g, rule)
        for measure in found.leave_one_out.measures:
            close(found.leave_one_out.agreement(measure, name), auditing.bias(measure, world, stay))
            expected = auditing.full_coverage(measure, world, chosen, stay, 5)
            close(found.full_coverage.agreement(measure, name), expected)
    for cell in found.coverage_sweep.cells:
        if cell.measure != "AUC_mic":
            for one in cell.by_encoder:
                rows = world[names.index(one.encoder)]
                expected = auditing.swept(cell.measure, rows, shared, 5, cell.coverage)
                np.testing.assert_allclose((one.spearman, one.kendall, one.pearson), expected, atol=1e-6)


def close(found, expected) -> None:
    got = [getattr(found.correlations, kind).value for kind in KINDS]
    np.testing.assert_allclose(got, expected, atol=1e-6)
