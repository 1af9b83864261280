"""The names people build on are a promise: adding or removing one is a decision, made here."""

import inspect

import lookalike
from lookalike.core import errors

PROMISED = [
    "Catalog",
    "Comparison",
    "Embeddings",
    "Interval",
    "JudgedRanks",
    "Labels",
    "LookalikeError",
    "Pool",
    "Positiveness",
    "Rule",
    "Run",
    "Score",
    "Scores",
    "TrainedEmbeddings",
    "__version__",
    "compare",
    "audit_exposure",
    "audit_measures",
    "draw_sample",
    "embed",
    "embeddings",
    "estimate_sample",
    "find_items",
    "finetune",
    "intervals",
    "judged_ranks",
    "make_pool",
    "open_workspace",
    "positive_rate",
    "positiveness",
    "random_pairs",
    "rank_run",
    "read_catalog",
    "read_judged_ranks",
    "read_labels",
    "read_run",
    "score",
    "score_ranks",
    "to_frame",
    "training_verdict",
    "write_judged_ranks",
]
ERRORS = {
    "LookalikeError": "Exception",
    "ArgumentError": "LookalikeError",
    "EncoderError": "ArgumentError",
    "MeasureError": "ArgumentError",
    "CatalogError": "LookalikeError",
    "EmbeddingsError": "LookalikeError",
    "LabelsError": "LookalikeError",
    "RunError": "LookalikeError",
    "PoolError": "LookalikeError",
    "SearchError": "LookalikeError",
    "LearningError": "LookalikeError",
    "JudgeError": "LookalikeError",
    "VoteError": "LookalikeError",
    "AccessError": "LookalikeError",
    "NotComparableError": "LookalikeError",
    "WorkspaceError": "LookalikeError",
    "StorageError": "WorkspaceError",
}


def test_public_names():
    assert sorted(lookalike.__all__) == sorted(PROMISED)


def test_every_public_name_is_there_and_documented():
    for name in lookalike.__all__:
        value = getattr(lookalike, name)
        assert name == "__version__" or inspect.getdoc(value), name


def test_dir_lists_exactly_the_public_names():
    assert sorted(dir(lookalike)) == sorted(PROMISED)


def test_what_is_not_public_is_an_attribute_error():
    assert not hasattr(lookalike, "no_such_name")


def test_the_error_tree():
    found = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind)}
    assert {name: kind.__base__.__name__ for name, kind in found.items()} == ERRORS


def drawn_tree() -> dict[str, str]:
    """Child -> parent, from the indentation of the picture in the docstring."""
    parent, open_at = {}, [(-1, "Exception")]
    for line in errors.__doc__.splitlines():
        name = line.lstrip(" │├└─").split(" ")[0]
        if name in ERRORS:
            at = line.index(name)
            while open_at[-1][0] >= at:
                open_at.pop()
            parent[name] = open_at[-1][1]
            open_at.append((at, name))
    return parent


def test_the_docstring_shows_the_tree_as_it_is():
    assert drawn_tree() == ERRORS


def test_every_error_has_a_problem_and_a_way_out():
    for name in ERRORS:
        error = getattr(errors, name)("This is wrong.", fix="Do that.")
        assert (error.problem, error.fix) == ("This is wrong.", "Do that.")
        assert str(error) == "This is wrong.\nDo that."
