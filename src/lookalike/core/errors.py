"""Every error a user can meet, in one tree.

    LookalikeError
    ├── ArgumentError           a wrong value for an argument or an option
    │   ├── EncoderError        an encoder string that names nothing usable
    │   └── MeasureError        a measure name that names nothing
    ├── CatalogError            a catalog that cannot be read or used
    ├── EmbeddingsError         vectors that do not fit: rows, dimension, NaN, zero norm
    ├── LabelsError             labels that cannot be read or used
    ├── RunError                a run of another system that cannot be read or used
    ├── PoolError               a pool that cannot be made or extended
    ├── SearchError             a search that cannot be answered
    ├── LearningError           training that cannot begin, go on or end well
    ├── VoteError               a vote, lease or verdict that the rules of labelling refuse
    ├── AccessError             who is not let in, or not to this
    ├── NotComparableError      two results made on different labels, catalogs or candidate rules
    └── WorkspaceError          no workspace, a busy one, one of another version
        └── StorageError        the disk refused: full, read-only, gone

An error says what is wrong (naming the argument, the rule and the value) and how to put it right.
The command line prints both; a program reads `problem` and `fix`.
"""


class LookalikeError(Exception):
    """What went wrong in the user's words, and the way out."""

    def __init__(self, problem: str, *, fix: str) -> None:
        super().__init__(f"{problem}\n{fix}")
        self.problem = problem
        self.fix = fix


class ArgumentError(LookalikeError):
    """A wrong value for an argument or an option."""


class EncoderError(ArgumentError):
    """An encoder string that names nothing usable."""


class MeasureError(ArgumentError):
    """A measure name that names nothing."""


class CatalogError(LookalikeError):
    """A catalog that cannot be read or used."""


class EmbeddingsError(LookalikeError):
    """Vectors that do not fit: rows, dimension, NaN, zero norm."""


class LabelsError(LookalikeError):
    """Labels that cannot be read or used."""


class RunError(LookalikeError):
    """A run of another system that cannot be read or used."""


class PoolError(LookalikeError):
    """A pool that cannot be made or extended."""


class SearchError(LookalikeError):
    """A search that cannot be answered."""


class LearningError(LookalikeError):
    """Training that cannot begin, go on or end well."""


class VoteError(LookalikeError):
    """A vote, lease or verdict that the rules of labelling refuse; `code` says which rule, for programs."""

    def __init__(self, problem: str, *, fix: str, code: str = "") -> None:
        super().__init__(problem, fix=fix)
        self.code = code


class AccessError(LookalikeError):
    """Who is not let in, or not to this; `code` says why, for programs."""

    def __init__(self, problem: str, *, fix: str, code: str = "") -> None:
        super().__init__(problem, fix=fix)
        self.code = code


class NotComparableError(LookalikeError):
    """Two results made on different labels, catalogs or candidate rules."""


class WorkspaceError(LookalikeError):
    """No workspace, a busy one, or one of another version."""


class StorageError(WorkspaceError):
    """The disk refused: full, read-only, gone."""
