"""The command lines of the SDKs of Go and Rust: what a person sees of an answer."""

import asyncio
import json
import re
import sys

from lines import ANSWER, QUESTION, URL, asks_for_changes, once, run


class Go:
    start = ()

    def send(self, words, *options, task=None):
        to = ('--task', task) if task else ()
        return ('send', *options, *to, URL, words)

    def cancel(self, task):
        return ('cancel', URL, task)

    as_json = ('--output', 'json')
    now = ('--immediate',)


class Rust:
    start = ('--agent-card', URL)

    def send(self, words, *options, task=None):
        to = ('--task-id', task) if task else ()
        return ('send', *options, *to, words)

    def cancel(self, task):
        return ('task', 'cancel', task)

    as_json = ('--output', 'json')
    now = ('--async', '--return-immediately')


name, program = sys.argv.pop(1), sys.argv.pop(1)
cli = {'go': Go, 'rust': Rust}[name]()


async def out(args) -> str:
    process = await asyncio.create_subprocess_exec(
        program, *cli.start, *args, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    said, complained = await process.communicate()
    assert said, complained.decode()
    return said.decode()


def task_of(text: str) -> str:
    return re.search(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', text).group()


def texts(value) -> list[str]:
    """The texts of all parts of the agent, in their order."""
    if isinstance(value, list):
        return [t for v in value for t in texts(v)]
    if not isinstance(value, dict) or value.get('role') == 'ROLE_USER':
        return []
    if isinstance(value.get('text'), str):
        return [value['text']]
    return [t for key in sorted(value, key=lambda k: k != 'status') for t in texts(value[key])]


def documents(text: str) -> list:
    """JSON, one value behind another."""
    found, decoder = [], json.JSONDecoder()
    while text := text.strip():
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:]
    return found


async def ask():
    seen = await out(cli.send(asks_for_changes()))
    assert seen.count(ANSWER.strip()) == 1, seen


async def stream():
    seen = texts(documents(await out(cli.send(asks_for_changes(), '--stream', *cli.as_json))))
    once([''.join(seen)])
    assert all(t.strip() for t in seen), f'there is an empty text: {seen!r}'


async def question():
    asked = await out(cli.send(QUESTION))
    assert 'echo it ran' in asked, asked
    answered = await out(cli.send('accept', task=task_of(asked)))
    assert 'completed' in answered.lower() and 'it ran' in answered, answered


async def cancel():
    task = task_of(await out(cli.send('hang', *cli.now)))
    canceled = await out(cli.cancel(task))
    assert 'canceled' in canceled.lower(), canceled


run(f'{name} command line', ask, stream, question, cancel)
