"""crewai: what its agents delegate with, without a model."""

import os

from importlib.metadata import version

os.environ.update(CREWAI_DISABLE_TELEMETRY='true', OTEL_SDK_DISABLED='true', CREWAI_TRACING_ENABLED='false')

from crewai.a2a.updates import PollingConfig, StreamingConfig  # noqa: E402
from crewai.a2a.utils.delegation import aexecute_a2a_delegation  # noqa: E402

from lines import QUESTION, URL, Skip, asks_for_changes, once, run  # noqa: E402


async def delegate(words: str, updates, **more):
    return await aexecute_a2a_delegation(
        endpoint=f'{URL}/.well-known/agent-card.json',
        auth=None,
        timeout=60,
        task_description=words,
        accepted_output_modes=['application/json'],  # which is what its agents send
        updates=updates,
        **more,
    )


async def ask():
    result = await delegate(asks_for_changes(), PollingConfig(interval=0.1))
    once([result['result']])


async def stream():
    result = await delegate(asks_for_changes(), StreamingConfig())
    once([result['result']])
    assert 'diff --git' not in result['result'], result['result']


async def question():
    asked = await delegate(QUESTION, StreamingConfig())
    assert asked['status'].value == 'input-required', asked['status']
    assert 'echo it ran' in asked['error'], asked['error']
    task = asked['history'][-1]
    result = await delegate('accept', StreamingConfig(), context_id=task.context_id, task_id=task.task_id)
    assert 'it ran' in result['result'], result


async def cancel():
    raise Skip('crewai cancels nothing')


run(f'crewai {version("crewai")}', ask, stream, question, cancel)
