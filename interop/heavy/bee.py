"""beeai-framework: its agent that speaks A2A."""

from importlib.metadata import version

from beeai_framework.adapters.a2a.agents import A2AAgent
from beeai_framework.memory import UnconstrainedMemory

from lines import ANSWER, QUESTION, URL, Skip, asks_for_changes, run


def agent() -> A2AAgent:
    return A2AAgent(url=URL, memory=UnconstrainedMemory())


async def answered(streaming: bool):
    result = await agent().run(asks_for_changes(), streaming=streaming)
    texts = [m.text for m in result.output]
    assert texts == [ANSWER], f'the output is {texts!r}'


async def ask():
    await answered(streaming=False)


async def stream():
    await answered(streaming=True)


async def question():
    asking = agent()
    asked = await asking.run(QUESTION)
    result = await asking.run('accept')
    assert any('it ran' in m.text for m in result.output), (asked.output, result.output)


async def cancel():
    raise Skip('an agent of beeai cancels nothing')


run(f'beeai-framework {version("beeai-framework")}', ask, stream, question, cancel)
