"""a2a-sdk 1.x: A2A 1.0, and 0.3 through its compatibility layer, both over
JSON-RPC and HTTP+JSON.
"""

from importlib.metadata import version

from a2a.client import ClientCallContext, ClientConfig, create_client
from a2a.types import a2a_pb2 as pb
from a2a.utils import errors

from cases import CASES, GUARDED_CASES, PLAIN_CASES
from neutral import Neutral
from shapes import Event, File, Task

NAMES = {
    errors.TaskNotFoundError: 'task-not-found',
    errors.TaskNotCancelableError: 'task-not-cancelable',
    errors.UnsupportedOperationError: 'unsupported',
    errors.InvalidParamsError: 'invalid-params',
}


def texts(parts) -> str:
    return ''.join(p.text for p in parts)


def files(artifacts) -> list[File]:
    return [
        File(p.filename, p.media_type, p.raw if p.WhichOneof('content') == 'raw' else None, p.url or None)
        for a in artifacts
        for p in a.parts
        if p.WhichOneof('content') in ('raw', 'url')
    ]


def state(status: pb.TaskStatus) -> str:
    return pb.TaskState.Name(status.state).removeprefix('TASK_STATE_').replace('_', '-').lower()


def artifacts(task: pb.Task) -> dict[str, str]:
    return {a.artifact_id: texts(a.parts) for a in task.artifacts}


def neutral(task: pb.Task) -> Task:
    return Task(
        id=task.id,
        context_id=task.context_id,
        state=state(task.status),
        status=texts(task.status.message.parts),
        artifacts=artifacts(task),
        history=[texts(m.parts) for m in task.history],
        files=files(task.artifacts),
    )


def event(response: pb.StreamResponse) -> Event:
    which = response.WhichOneof('payload')
    if which == 'task':
        return Event('task', response.task.id, state(response.task.status), artifacts=artifacts(response.task))
    if which == 'status_update':
        update = response.status_update
        return Event('status', update.task_id, state(update.status), said=texts(update.status.message.parts))
    assert which == 'artifact_update', f'an event of the unknown kind {which}'
    update = response.artifact_update
    chunk = {update.artifact.artifact_id: texts(update.artifact.parts)}
    return Event('artifact', update.task_id, append=update.append, last=update.last_chunk, artifacts=chunk, files=files([update.artifact]))


class Client(Neutral):
    Context = ClientCallContext

    def __init__(self, a2a: str = '1.0', binding: str = 'JSONRPC') -> None:
        super().__init__(a2a, binding)
        self.recorder.http.headers['A2A-Version'] = a2a

    def _choose(self, url: str | None) -> bool:
        # The SDK would always choose 1.0, so nothing else is left in the card.
        mine = (self.binding, self.version)
        fits = [i for i in self.card.supported_interfaces if (i.protocol_binding, i.protocol_version) == mine]
        if url:
            fits.append(pb.AgentInterface(url=url, protocol_binding=self.binding, protocol_version=self.version))
        del self.card.supported_interfaces[:]
        self.card.supported_interfaces.extend(fits)
        return bool(fits)

    def _config(self, **options) -> ClientConfig:
        return ClientConfig(supported_protocol_bindings=[self.binding], **options)

    async def _made_of(self, url: str, **options):
        return await create_client(url, ClientConfig(**options) if options else None)

    def why(self, err: BaseException) -> str:
        return NAMES.get(type(err), type(err).__name__)

    def _request(self, key: str, text: str | None, context_id='', task_id='') -> pb.SendMessageRequest:
        parts = [] if text is None else [pb.Part(text=text)]
        message = pb.Message(
            message_id=key, role=pb.ROLE_USER, parts=parts, context_id=context_id, task_id=task_id
        )
        return pb.SendMessageRequest(message=message)

    async def send(self, key: str, text: str | None, *, wait: bool = True, **where) -> Task:
        client = self.waiting if wait else self.polling
        request = self._request(key, text, **where)
        results = [r async for r in client.send_message(request, context=self.context)]
        assert len(results) == 1 and results[0].HasField('task'), f'not one task: {results!r}'
        return neutral(results[0].task)

    async def stream(self, key: str, text: str | None, **where):
        request = self._request(key, text, **where)
        async for response in self.streaming.send_message(request, context=self.context):
            yield event(response)

    async def get(self, task_id: str, history_length: int | None = None) -> Task:
        query = pb.GetTaskRequest(id=task_id, history_length=history_length)
        return neutral(await self.streaming.get_task(query, context=self.context))

    async def list(self, **query) -> tuple[list[Task], str, int]:
        page = await self.streaming.list_tasks(pb.ListTasksRequest(**query))
        return [neutral(t) for t in page.tasks], page.next_page_token, page.total_size

    async def cancel(self, task_id: str) -> Task:
        return neutral(await self.streaming.cancel_task(pb.CancelTaskRequest(id=task_id)))

    async def subscribe(self, task_id: str):
        async for response in self.streaming.subscribe(pb.SubscribeToTaskRequest(id=task_id)):
            yield event(response)


def clients():
    name = f'python {version("a2a-sdk")}'
    for a2a in ('1.0', '0.3'):
        for binding in ('JSONRPC', 'HTTP+JSON'):
            yield f'{name}, A2A {a2a} {binding}', Client(a2a, binding), Client.open, CASES
    yield f'{name}, made of a URL', Client(), Client.open_plain, PLAIN_CASES
    yield f'{name}, with a token', Client(), Client.open_guarded, GUARDED_CASES
