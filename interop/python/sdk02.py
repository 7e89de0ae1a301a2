"""a2a-sdk 0.2: A2A 0.2, which is that part of 0.3 which it knows, over JSON-RPC."""

from base64 import b64decode
from importlib.metadata import version
from uuid import uuid4

import httpx

from a2a import types
from a2a.client import A2ACardResolver, A2AClient

from cases import BARE_CASES
from shapes import Event, File, Target, Task

NAMES = {-32001: 'task-not-found', -32002: 'task-not-cancelable', -32602: 'invalid-params'}


def texts(holder) -> str:
    return ''.join(getattr(p.root, 'text', '') for p in (holder.parts if holder else []))


def files(artifacts) -> list[File]:
    found = [p.root.file for a in artifacts or [] for p in a.parts if isinstance(p.root, types.FilePart)]
    return [
        File(f.name, f.mimeType, b64decode(f.bytes) if hasattr(f, 'bytes') else None, getattr(f, 'uri', None)) for f in found
    ]


class RpcError(Exception):
    pass


def result(response):
    answer = response.root
    if isinstance(answer, types.JSONRPCErrorResponse):
        raise RpcError(answer.error.root.code if hasattr(answer.error, 'root') else answer.error.code)
    return answer.result


def neutral(task) -> Task:
    assert isinstance(task, types.Task), f'not a task: {task!r}'
    return Task(
        id=task.id,
        context_id=task.contextId,
        state=task.status.state.value,
        status=texts(task.status.message),
        artifacts={a.artifactId: texts(a) for a in task.artifacts or []},
        history=[texts(m) for m in task.history or []],
        files=files(task.artifacts),
    )


def event(of) -> Event:
    if isinstance(of, types.Task):
        task = neutral(of)
        return Event('task', task.id, task.state, artifacts=task.artifacts)
    if isinstance(of, types.TaskStatusUpdateEvent):
        return Event('status', of.taskId, of.status.state.value, said=texts(of.status.message))
    chunk = {of.artifact.artifactId: texts(of.artifact)}
    return Event('artifact', of.taskId, append=bool(of.append), last=bool(of.lastChunk), artifacts=chunk, files=files([of.artifact]))


class Recorder:
    """There is none: what goes over the wire is what the cases say."""

    calls = ()


class Client:
    version = '0.3'
    status_only = False
    recorder = Recorder()

    async def open(self, target: Target) -> None:
        self.http = httpx.AsyncClient(timeout=30)
        self.card = await A2ACardResolver(self.http, target.base).get_agent_card()
        self.client = A2AClient(self.http, agent_card=self.card)

    async def close(self) -> None:
        await self.http.aclose()

    def why(self, err: BaseException) -> str:
        return NAMES.get(err.args[0], str(err.args[0])) if isinstance(err, RpcError) else type(err).__name__

    def _params(self, key: str, text: str, wait: bool, context_id=None, task_id=None) -> types.MessageSendParams:
        message = types.Message(
            messageId=key,
            role=types.Role.user,
            parts=[types.Part(root=types.TextPart(text=text))],
            contextId=context_id,
            taskId=task_id,
        )
        modes = ['text', 'text/x-diff']  # as its examples have them
        return types.MessageSendParams(
            message=message, configuration=types.MessageSendConfiguration(acceptedOutputModes=modes, blocking=wait)
        )

    async def send(self, key: str, text: str, *, wait: bool = True, **where) -> Task:
        request = types.SendMessageRequest(id=str(uuid4()), params=self._params(key, text, wait, **where))
        return neutral(result(await self.client.send_message(request)))

    async def stream(self, key: str, text: str, **where):
        request = types.SendStreamingMessageRequest(id=str(uuid4()), params=self._params(key, text, True, **where))
        async for response in self.client.send_message_streaming(request):
            yield event(result(response))

    async def get(self, task_id: str, history_length: int | None = None) -> Task:
        params = types.TaskQueryParams(id=task_id, historyLength=history_length)
        return neutral(result(await self.client.get_task(types.GetTaskRequest(id=str(uuid4()), params=params))))

    async def cancel(self, task_id: str) -> Task:
        params = types.TaskIdParams(id=task_id)
        return neutral(result(await self.client.cancel_task(types.CancelTaskRequest(id=str(uuid4()), params=params))))

    async def subscribe(self, task_id: str):
        raise RpcError(-32001)  # the SDK cannot
        yield


def clients():
    yield f'python {version("a2a-sdk")}, A2A 0.2 JSONRPC', Client(), Client.open, BARE_CASES
