"""a2a-sdk 0.3: A2A 0.3 over JSON-RPC and HTTP+JSON."""

from base64 import b64decode
from importlib.metadata import version

from a2a import types
from a2a.client import ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.client.middleware import ClientCallContext

from cases import CASES, GUARDED_CASES, PLAIN_CASES
from neutral import Neutral
from shapes import Event, File, Task

NAMES = {
    -32001: 'task-not-found',
    -32002: 'task-not-cancelable',
    -32004: 'unsupported',
    -32602: 'invalid-params',
}


def texts(parts) -> str:
    return ''.join(getattr(p.root, 'text', '') for p in parts or [])


def files(artifacts) -> list[File]:
    found = [p.root.file for a in artifacts or [] for p in a.parts if isinstance(p.root, types.FilePart)]
    return [
        File(f.name, f.mime_type, b64decode(f.bytes) if hasattr(f, 'bytes') else None, getattr(f, 'uri', None)) for f in found
    ]


def artifacts(task: types.Task) -> dict[str, str]:
    return {a.artifact_id: texts(a.parts) for a in task.artifacts or []}


def neutral(task) -> Task:
    assert isinstance(task, types.Task), f'not a task: {task!r}'
    message = task.status.message
    return Task(
        id=task.id,
        context_id=task.context_id,
        state=task.status.state.value,
        status=texts(message.parts) if message else '',
        artifacts=artifacts(task),
        history=[texts(m.parts) for m in task.history or []],
        files=files(task.artifacts),
    )


def event(pair) -> Event:
    task, update = pair
    together = ''.join(artifacts(task).values())
    if update is None:
        return Event('task', task.id, task.status.state.value, artifacts=artifacts(task), together=together)
    if isinstance(update, types.TaskStatusUpdateEvent):
        said = texts(update.status.message.parts) if update.status.message else ''
        return Event('status', update.task_id, update.status.state.value, said=said, together=together)
    chunk = {update.artifact.artifact_id: texts(update.artifact.parts)}
    return Event(
        'artifact', update.task_id, append=bool(update.append), last=bool(update.last_chunk), artifacts=chunk, together=together,
        files=files([update.artifact]),
    )  # fmt: skip


class Client(Neutral):
    Context = ClientCallContext

    def __init__(self, binding: str = 'JSONRPC') -> None:
        super().__init__('0.3', binding)
        self.status_only = binding == 'HTTP+JSON'

    def _choose(self, url: str | None) -> bool:
        if url:
            self.card.additional_interfaces = [types.AgentInterface(transport=self.binding, url=url)]
        offered = [self.card.preferred_transport] + [i.transport for i in self.card.additional_interfaces or []]
        return self.binding in offered

    def _config(self, **options) -> ClientConfig:
        return ClientConfig(supported_transports=[self.binding], **options)

    async def _made_of(self, url: str, **options):
        return await ClientFactory.connect(url, ClientConfig(**options) if options else None)

    def why(self, err: BaseException) -> str:
        if isinstance(err, A2AClientJSONRPCError):
            return NAMES.get(err.error.code, str(err.error.code))
        if isinstance(err, A2AClientHTTPError):
            return f'HTTP {err.status_code}'
        return type(err).__name__

    def _message(self, key: str, text: str | None, context_id=None, task_id=None) -> types.Message:
        parts = [] if text is None else [types.Part(root=types.TextPart(text=text))]
        return types.Message(
            message_id=key, role=types.Role.user, parts=parts, context_id=context_id, task_id=task_id
        )

    async def send(self, key: str, text: str | None, *, wait: bool = True, **where) -> Task:
        client = self.waiting if wait else self.polling
        message = self._message(key, text, **where)
        results = [r async for r in client.send_message(message, context=self.context)]
        assert len(results) == 1 and isinstance(results[0], tuple), f'not one task: {results!r}'
        return neutral(results[0][0])

    async def stream(self, key: str, text: str | None, **where):
        message = self._message(key, text, **where)
        async for pair in self.streaming.send_message(message, context=self.context):
            yield event(pair)

    async def get(self, task_id: str, history_length: int | None = None) -> Task:
        query = types.TaskQueryParams(id=task_id, history_length=history_length)
        return neutral(await self.streaming.get_task(query, context=self.context))

    async def cancel(self, task_id: str) -> Task:
        return neutral(await self.streaming.cancel_task(types.TaskIdParams(id=task_id)))

    async def subscribe(self, task_id: str):
        async for pair in self.streaming.resubscribe(types.TaskIdParams(id=task_id)):
            yield event(pair)


def clients():
    name = f'python {version("a2a-sdk")}'
    for binding in ('JSONRPC', 'HTTP+JSON'):
        yield f'{name}, A2A 0.3 {binding}', Client(binding), Client.open, CASES
    yield f'{name}, made of a URL', Client(), Client.open_plain, PLAIN_CASES
    yield f'{name}, with a token', Client(), Client.open_guarded, GUARDED_CASES
