"""The shape that the cases see, whatever SDK is below."""

from dataclasses import dataclass, field

ENDED = ('completed', 'failed', 'canceled', 'rejected')


@dataclass
class File:
    name: str
    media: str
    content: bytes | None = None
    url: str | None = None


@dataclass
class Task:
    id: str
    context_id: str
    state: str
    status: str  # the text of the status message
    artifacts: dict[str, str]
    history: list[str]
    files: list[File] = field(default_factory=list)

    @property
    def text(self) -> str:
        return ''.join(self.artifacts.values())


@dataclass
class Event:
    kind: str  # task, status or artifact
    task_id: str
    state: str = ''
    append: bool = False
    artifacts: dict[str, str] = field(default_factory=dict)
    files: list[File] = field(default_factory=list)
    last: bool = False  # the chunk is the last one of its artifact
    said: str = ''  # the text of a status message
    together: str | None = None  # the whole text so far, if the SDK tells


@dataclass
class Target:
    """Where the runtimes are."""

    base: str
    guarded: str  # asks for the token
    token: str
    all: bool  # try also what the card does not offer


class NotOffered(Exception):
    """The card does not offer the version over the binding."""
