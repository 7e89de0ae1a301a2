"""google-adk: a remote agent, which needs no model of its own, under a runner."""

import logging
import warnings

from importlib.metadata import version

import httpx

warnings.simplefilter('ignore')
logging.disable(logging.WARNING)

from a2a.client import ClientConfig, ClientFactory  # noqa: E402
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402

from lines import ANSWER, PREFIX, QUESTION, URL, Skip, asks_for_changes, once, run  # noqa: E402


class Talk:
    """A session with the agent."""

    def __init__(self, **config) -> None:
        options = {}
        if config:
            http = httpx.AsyncClient(timeout=60)
            options['a2a_client_factory'] = ClientFactory(ClientConfig(httpx_client=http, **config))
        agent = RemoteA2aAgent(name='codex', agent_card=f'{URL}/.well-known/agent-card.json', **options)
        self.runner = InMemoryRunner(agent=agent, app_name='interop')
        self.session = None

    async def say(self, *parts: types.Part) -> list:
        if not self.session:
            self.session = await self.runner.session_service.create_session(app_name='interop', user_id='u')
        message = types.Content(role='user', parts=list(parts))
        events = self.runner.run_async(user_id='u', session_id=self.session.id, new_message=message)
        return [e async for e in events]

    async def kept(self) -> list[str]:
        """The texts of the agent that the session keeps."""
        session = await self.runner.session_service.get_session(
            app_name='interop', user_id='u', session_id=self.session.id
        )
        return said([e for e in session.events if e.author == 'codex'])


def said(events) -> list[str]:
    """The texts of whole events, but for thoughts."""
    parts = [p for e in events if not e.partial and e.content for p in e.content.parts or []]
    return [p.text for p in parts if p.text is not None and not p.thought]


def text(words: str) -> types.Part:
    return types.Part(text=words)


async def ask():
    talk = Talk()
    events = await talk.say(text(asks_for_changes()))
    once(said(events))
    once(await talk.kept(), 'what the session keeps')
    last = [e for e in events if e.content][-1]
    assert last.content.parts[-1].text == ANSWER, f'the last event with content is {last.content!r}'


async def stream():
    talk = Talk(streaming=True)
    events = await talk.say(text(asks_for_changes()))
    once(said(events))
    once(await talk.kept(), 'what the session keeps')
    assert '' not in said(events), 'there is an empty text'


async def text_only():
    events = await Talk(streaming=True, accepted_output_modes=['text/plain']).say(text(asks_for_changes()))
    once(said(events))
    blobs = [p for e in events if e.content for p in e.content.parts or [] if p.text is None]
    assert not blobs, f'there is progress: {blobs!r}'


async def second_turn():
    talk = Talk()
    await talk.say(text('remember the plum'))
    assert said(await talk.say(text('recall')))[-1] == PREFIX + 'recalled: the plum'


async def question():
    talk = Talk()
    events = await talk.say(text(QUESTION))
    calls = [p.function_call for e in events if e.content for p in e.content.parts or [] if p.function_call]
    assert calls, f'nothing is asked: {said(events)}'
    response = types.FunctionResponse(id=calls[-1].id, name=calls[-1].name, response={'result': 'accept'})
    answer = said(await talk.say(types.Part(function_response=response)))
    assert any('it ran' in t for t in answer), answer


async def cancel():
    raise Skip('a remote agent of ADK cancels nothing')


run(f'google-adk {version("google-adk")}', ask, stream, text_only, second_turn, question, cancel)
