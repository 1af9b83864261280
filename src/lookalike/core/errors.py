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
    ├── LearningError           training that cannot start, resume or finish
    ├── JudgeError              a judge that cannot be asked, resumed or read
    ├── VoteError               a vote, lease or verdict that the labelling rules refuse
    ├── AccessError             a person who may not do this, or may not come in
    ├── NotComparableError      two results made on different labels, catalogs or candidate rules
    └── WorkspaceError          no workspace, a busy one, or one of another version
        └── StorageError        the disk refused: full, read-only, gone

An error says what is wrong (the argument, the rule and the value) and then what to do.
The command line prints both. A program reads `problem` and `fix`.
"""

import functools
from textwrap import shorten


class LookalikeError(Exception):
    """What is wrong, and what to do about it; `code` names some causes for programs."""

    def __init__(self, problem: str, *, fix: str, code: str = "") -> None:
        super().__init__(f"{problem}\n{fix}")
        self.problem = problem
        self.fix = fix
        self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        """It can be sent from a worker process."""
        return functools.partial(type(self), fix=self.fix, code=self.code), (self.problem,)


def first_line(error: BaseException) -> str:
    """The first line of another library's error, to end a sentence with; its type where it has no text.

    >>> first_line(ValueError("No such file.\\nTraceback")), first_line(KeyError())
    ('No such file', 'KeyError')
    """
    line = str(error).strip().split("\n", 1)[0]
    return shorten(line, 200, placeholder=" ...").rstrip(".: ") or type(error).__name__


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
    """Training that cannot start, resume or finish."""


class JudgeError(LookalikeError):
    """A judge that cannot be asked, resumed or read."""


class VoteError(LookalikeError):
    """A vote, lease or verdict that the labelling rules refuse; `code` says which rule."""


class AccessError(LookalikeError):
    """A person who may not do this, or may not come in; `code` says why."""


class NotComparableError(LookalikeError):
    """Two results made on different labels, catalogs or candidate rules."""


class WorkspaceError(LookalikeError):
    """No workspace, a busy one, or one of another version."""


class StorageError(WorkspaceError):
    """The disk refused: full, read-only, gone."""
