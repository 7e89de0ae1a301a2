"""What every client is asked to do.

A case gets a client of the neutral shape that sdk03.py and sdk1.py make of
their SDK: tasks and events are alike in both, errors are named by client.why.
"""

import asyncio
import json
import uuid

from contextlib import aclosing

import httpx

from shapes import ENDED, Event, Task

PREFIX = '[built-in scripted model, no intelligence behind it] '


def new_id() -> str:
    return str(uuid.uuid4())


def pieces(count: int, size: int) -> str:
    return ''.join(f'{n:0{size - 1}d} ' for n in range(count))


def same(got, want, what='') -> None:
    assert got == want, f'{what or "value"} is {got!r}, want {want!r}'


class Reader:
    """Puts together what a stream shows, as the specification has it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.artifacts: dict[str, str] = {}

    def take(self, event: Event) -> Event:
        self.events.append(event)
        for key, text in event.artifacts.items():
            assert not event.append or key in self.artifacts, f'a chunk is appended to the unknown artifact {key}'
            self.artifacts[key] = self.artifacts[key] + text if event.append else text
        # Where the SDK puts the task together itself, it must get the same.
        if event.together is not None:
            same(event.together, self.text, 'what the SDK has put together')
        return event

    async def all(self, stream) -> 'Reader':
        async with aclosing(stream):
            async for event in stream:
                self.take(event)
        return self

    @property
    def text(self) -> str:
        return ''.join(self.artifacts.values())

    def check(self, state: str, text: str | None = None) -> None:
        """Checks the order of the events, and that all are of one task."""
        same(self.events[0].kind, 'task', 'the first event')
        same(self.events[-1].state, state, 'the last state')
        same(sum(e.state in ENDED for e in self.events), 1, 'the number of terminal events')
        same(len({e.task_id for e in self.events}), 1, 'the number of tasks')
        if text is not None:
            same(self.text, text)


# More pieces than anybody waits for: what streams them is canceled.
ENDLESS = 'stream 100000 8 20ms'


async def cut(client, stream, enough) -> Reader:
    """Reads a stream, cancels its task when there is enough of it, and reads on to the end."""
    seen, canceled = Reader(), None
    async with aclosing(stream):
        async for event in stream:
            seen.take(event)
            if canceled is None and enough(seen):
                canceled = asyncio.create_task(client.cancel(event.task_id))
    assert canceled, 'the stream ends before it is canceled'
    task = await canceled
    seen.check('canceled', (await client.get(task.id)).text)
    assert (PREFIX + pieces(100000, 8)).startswith(seen.text), 'the text has a gap'
    return seen


async def fails(client, want: str, call) -> None:
    try:
        got = await call
    except Exception as err:
        why = client.why(err)
        if client.status_only:
            want = 'HTTP 404' if want == 'task-not-found' else 'HTTP 400'
        assert why == want, f'want {want}, got {why}: {err!r}'
        return
    raise AssertionError(f'want {want}, got {got}')


async def drain(stream) -> list[Event]:
    return (await Reader().all(stream)).events


async def until(client, task_id: str, states: tuple[str, ...], words: str = '') -> Task:
    """Waits for one of the states, and for words in what has been said."""
    while True:
        task = await client.get(task_id)
        if task.state in states and words in task.text:
            return task
        assert task.state not in ENDED, f'the task is {task.state}'
        await asyncio.sleep(0.025)


async def runs(client, task: Task) -> None:
    assert task.state not in ENDED, f'the task is {task.state}'
    now = await client.get(task.id)
    assert now.state not in ENDED, f'the task is {now.state} already'


async def card(c):
    same(c.card.name, 'codex (scripted model)')
    assert c.card.capabilities.streaming
    assert c.card.skills


async def send(c):
    task = await c.send(new_id(), 'say hello')
    same(task.state, 'completed')
    same(task.text, PREFIX + 'hello')
    assert task.id and task.context_id


async def send_without_waiting(c):
    task = await c.send(new_id(), 'wait 1s\nsay later', wait=False)
    assert task.state in ('submitted', 'working'), task.state
    same((await until(c, task.id, ('completed',))).text, PREFIX + 'later')


async def stream(c):
    seen = await Reader().all(c.stream(new_id(), 'stream 40 8 20ms'))
    seen.check('completed', PREFIX + pieces(40, 8))


async def stream_in_chunks(c):
    await cut(c, c.stream(new_id(), ENDLESS), lambda s: sum(e.kind == 'artifact' for e in s.events) > 5)


async def stream_in_chunks_to_the_end(c):
    seen = await Reader().all(c.stream(new_id(), 'stream 200 8 20ms'))
    seen.check('completed', PREFIX + pieces(200, 8))
    assert sum(e.kind == 'artifact' for e in seen.events) > 5


ANSWER = PREFIX + pieces(12, 8)


def asks_for_changes() -> str:
    """Is answered with a diff, too."""
    return f'patch {new_id()}.txt\nstream 12 8 20ms'


def told_once(task: Task) -> None:
    same(task.state, 'completed')
    texts = list(task.artifacts.values())
    same(texts[-1], ANSWER, 'the last artifact')
    same(''.join([*texts, task.status, *task.history]).count(ANSWER), 1, 'how often the answer is told')


async def once_in_a_stream(c):
    seen = await Reader().all(c.stream(new_id(), asks_for_changes()))
    seen.check('completed')
    same(list(seen.artifacts.values())[-1], ANSWER, 'the last artifact')
    same(''.join([*seen.artifacts.values(), *(e.said for e in seen.events)]).count(ANSWER), 1, 'how often the answer is told')
    chunk = [e for e in seen.events if e.kind == 'artifact'][-1]
    assert chunk.last and chunk.artifacts, 'the last chunk is not marked'
    assert all(text.strip() for text in chunk.artifacts.values()), 'the last chunk is empty'


async def once_in_an_answer(c):
    told_once(await c.send(new_id(), asks_for_changes()))


async def once_when_polled(c):
    sent = await c.send(new_id(), asks_for_changes(), wait=False)
    told_once(await until(c, sent.id, ('completed',)))


async def question(c):
    asked = await c.send(new_id(), 'escalate echo it ran')
    same(asked.state, 'input-required')
    assert 'echo it ran' in asked.status, asked.status
    task = await c.send(new_id(), 'accept', task_id=asked.id, context_id=asked.context_id)
    same([task.id, task.state], [asked.id, 'completed'])
    assert 'it ran' in task.text, task.text


async def files(c):
    """A small file comes in the answer, a large one by a URL, and a secret not at all."""
    folder = new_id()
    write = 'printf small > small.txt; head -c 3000000 /dev/zero > large.bin; printf secret > .auth_token'
    names = ' and '.join(f'/workspace/{folder}/{name}' for name in ('small.txt', 'large.bin', '.auth_token'))
    seen = await Reader().all(c.stream(new_id(), f'run mkdir {folder} && cd {folder}; {write}\nsay see {names}'))
    shown = [f for e in seen.events for f in e.files]
    task = await c.get(seen.events[0].task_id)
    for got in (shown, task.files):
        same([(f.name, f.media) for f in got], [('small.txt', 'text/plain'), ('large.bin', 'application/octet-stream')])
        same((got[0].content, got[0].url, got[1].content), (b'small', None, None))
    url = task.files[1].url
    same(shown[1].url, url)
    async with httpx.AsyncClient() as browser:  # which has no token
        whole, part = await browser.get(url), await browser.get(url, headers={'Range': 'bytes=2999990-'})
        wrong = await browser.get(url.rsplit('/', 2)[0] + '/' + 'A' * 43 + '/large.bin')
    same((whole.status_code, len(whole.content), whole.headers['x-content-type-options']), (200, 3_000_000, 'nosniff'))
    same((part.status_code, len(part.content), wrong.status_code), (206, 10, 404))


async def failed_turn(c):
    task = await c.send(new_id(), 'fail 400')
    same(task.state, 'failed')
    assert 'scripted failure 400' in task.status, task.status


async def get(c):
    sent = await c.send(new_id(), 'say kept')
    task = await c.get(sent.id)
    same(task.state, 'completed')
    same(task.text, PREFIX + 'kept')
    same(task.context_id, sent.context_id)
    same(task.history, ['say kept'])
    same((await c.get(sent.id, 0)).history, [], 'the history of length 0')


async def list_(c):
    if c.version != '1.0':
        return 'not in this version'
    first = await c.send(new_id(), 'say one')
    second = await c.send(new_id(), 'say two', context_id=first.context_id)
    found, token = [], ''
    while True:
        tasks, token, total = await c.list(context_id=first.context_id, page_size=1, page_token=token)
        same(total, 2, 'the total')
        assert len(tasks) <= 1
        found += [t.id for t in tasks]
        if not token:
            break
    same(found, [second.id, first.id])
    same((await c.list(context_id='no-such-context'))[:2], ([], ''))
    return None


async def cancel(c):
    seen = Reader()
    events = c.stream(new_id(), 'run sleep 60')
    async for event in events:
        if seen.take(event).state == 'working':
            break
    task, _ = await asyncio.gather(c.cancel(seen.events[0].task_id), seen.all(events))
    same(task.state, 'canceled')
    seen.check('canceled')
    same((await c.get(task.id)).state, 'canceled')


async def cancel_ended(c):
    task = await c.send(new_id(), 'say done')
    await fails(c, 'task-not-cancelable', c.cancel(task.id))


async def subscribe(c):
    task = await c.send(new_id(), ENDLESS, wait=False)
    while len((now := await c.get(task.id)).text) <= len(PREFIX):
        assert now.state not in ENDED, 'the turn has ended too early'
        await asyncio.sleep(0.025)
    seen = await cut(c, c.subscribe(task.id), lambda s: len(s.events) > 3)
    assert seen.events[0].artifacts, 'the snapshot has the text so far'


async def subscribe_ended(c):
    task = await c.send(new_id(), 'say done')
    await fails(c, 'unsupported', drain(c.subscribe(task.id)))


async def unknown_task(c):
    await fails(c, 'task-not-found', c.get('no-such-task'))
    await fails(c, 'task-not-found', c.cancel('no-such-task'))
    await fails(c, 'task-not-found', drain(c.subscribe('no-such-task')))
    await fails(c, 'task-not-found', c.send(new_id(), 'say x', task_id='no-such-task'))


async def message_to_ended_task(c):
    task = await c.send(new_id(), 'say done')
    where = {'task_id': task.id, 'context_id': task.context_id}
    await fails(c, 'unsupported', c.send(new_id(), 'say more', **where))
    await fails(c, 'unsupported', drain(c.stream(new_id(), 'say more', **where)))


async def bad_params(c):
    await fails(c, 'invalid-params', c.send(new_id(), None))
    await fails(c, 'invalid-params', c.send(new_id(), ' '))
    await fails(c, 'invalid-params', drain(c.stream(new_id(), None)))
    if c.version == '1.0':
        await fails(c, 'invalid-params', c.list(page_size=1000))


async def same_message(c):
    key = new_id()
    text = 'say once\nhang'
    first = await c.send(key, text, wait=False)
    await runs(c, first)
    waiting = asyncio.create_task(c.send(key, text))  # while the turn runs
    await until(c, first.id, ('working',), 'once')
    await c.cancel(first.id)
    second = await waiting
    third = await c.send(key, text)  # when it has ended
    same([second.id, third.id], [first.id, first.id], 'the tasks')
    same([second.state, third.state], ['canceled'] * 2, 'the states')
    same([second.text, third.text], [PREFIX + 'once'] * 2)
    await fails(c, 'invalid-params', c.send(key, 'say something else'))


async def follow_up(c):
    first = await c.send(new_id(), 'remember the plum')
    second = await c.send(new_id(), 'recall', context_id=first.context_id)
    same(second.context_id, first.context_id)
    assert second.id != first.id, 'a task of its own'
    same(second.text, PREFIX + 'recalled: the plum')


async def message_to_running_task(c):
    task = await c.send(new_id(), 'hang', wait=False)
    await until(c, task.id, ('working',))
    answer = await c.send(new_id(), 'say second', task_id=task.id, context_id=task.context_id)
    same(answer.id, task.id)
    same(answer.state, 'completed')


async def wire(c):
    """Is the last, because it looks at all calls before it."""
    foreign = c.recorder.foreign(c.version, c.binding)
    assert not foreign, json.dumps(foreign)


async def silent_turn(c):
    """Is longer than the shortest time-out that an SDK has by itself (5 s)."""
    seen = await Reader().all(c.stream(new_id(), 'wait 6s\nsay awake'))
    seen.check('completed', PREFIX + 'awake')


async def security(c):
    same(list(c.card.security_schemes), ['bearer'])


async def refused(c):
    """Is for a client without the token that the server asks for."""
    for call in (c.stranger.send(new_id(), 'say hello'), drain(c.stranger.stream(new_id(), 'say hello'))):
        try:
            await call
        except Exception as err:
            assert '401' in str(err), err
        else:
            raise AssertionError('a stranger was served')


CASES = [
    card, send, send_without_waiting, stream, stream_in_chunks, once_in_a_stream, once_in_an_answer, once_when_polled,
    question, files, failed_turn, get, list_, cancel, cancel_ended,
    subscribe, subscribe_ended, unknown_task, message_to_ended_task, bad_params, same_message, follow_up,
    message_to_running_task, wire,
]  # fmt: skip

# For a client made of nothing but a URL, as a newcomer makes it.
PLAIN_CASES = [send, stream, stream_in_chunks, silent_turn]

# For a server that asks for a token.
GUARDED_CASES = [security, send, files, stream, stream_in_chunks_to_the_end, refused]

# For an SDK that no more than sends and reads what it is told to.
BARE_CASES = [
    send, send_without_waiting, stream, stream_in_chunks, once_in_a_stream, once_in_an_answer, once_when_polled, question,
    files, failed_turn, get, cancel, unknown_task, follow_up,
]  # fmt: skip
