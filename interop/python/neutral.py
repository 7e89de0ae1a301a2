"""What the clients of both newer SDKs have in common, and the wire record."""

import json

import httpx

from a2a.client import A2ACardResolver, ClientFactory
from a2a.client.auth import AuthInterceptor, InMemoryContextCredentialStore

from shapes import NotOffered, Target

# The session in whose name a client's credentials are kept.
SESSION = 'interop'


class Recorder:
    """Remembers what went over the wire.

    For the proof that a client speaks the version it is said to speak, and for
    the report of a failure.
    """

    def __init__(self) -> None:
        self.calls: list[httpx.Request] = []
        self.answers: dict[httpx.Request, httpx.Response] = {}
        self.http = httpx.AsyncClient(
            timeout=30,
            event_hooks={'request': [self._request], 'response': [self._response]},
        )

    async def _request(self, request: httpx.Request) -> None:
        self.calls.append(request)

    async def _response(self, response: httpx.Response) -> None:
        self.answers[response.request] = response
        if 'event-stream' not in response.headers.get('content-type', ''):
            await response.aread()

    @property
    def last(self) -> str:
        if not self.calls:
            return 'nothing was sent'
        request = self.calls[-1]
        text = f'{request.method} {request.url.raw_path.decode()}'
        if version := request.headers.get('A2A-Version'):
            text += f' (A2A-Version {version})'
        text += f' {request.content.decode()}'
        if answer := self.answers.get(request):
            body = answer.text.strip() if answer.is_closed and hasattr(answer, '_content') else ''
            text += f'\n      < {answer.status_code} {answer.headers.get("content-type")} {body}'
        return text

    def foreign(self, version: str, binding: str) -> list[dict]:
        """Returns the calls that are not of this version and binding."""
        found = []
        for request in self.calls:
            path = request.url.path
            rpc = json.loads(request.content).get('method') if request.content else None
            header = request.headers.get('A2A-Version')
            if path.startswith('/.well-known/'):
                continue
            if binding == 'JSONRPC':
                fits = rpc is not None and ('/' in rpc) == (version == '0.3')
            else:
                fits = rpc is None and path.startswith('/v1/') == (version == '0.3')
            if not fits or (version == '1.0' and header != '1.0'):
                found.append({'path': path, 'method': rpc, 'version': header})
        return found


class Neutral:
    """A client of the neutral shape, as far as both SDKs are alike.

    A subclass says how its SDK is configured, and what its tasks, events and
    errors are in the words of the cases.
    """

    # The class of the context that a call is made in.
    Context: type

    # Whether the SDK shows nothing of an error but its HTTP status.
    status_only = False

    def __init__(self, a2a: str, binding: str = 'JSONRPC') -> None:
        self.version = a2a
        self.binding = binding
        self.recorder = Recorder()
        self.context = None
        self.interceptors: list[AuthInterceptor] = []

    async def open(self, target: Target) -> None:
        """Connects over the version and binding of this client."""
        self.card = await self._resolve(target.base)
        if not self._choose(None):
            if not target.all:
                raise NotOffered
            self._choose(target.base)
        self._connect()

    async def open_plain(self, target: Target) -> None:
        """Is made of a URL, with nothing else set than whether it streams."""
        self.streaming = await self._made_of(target.base)
        self.waiting = await self._made_of(target.base, streaming=False)

    async def open_guarded(self, target: Target) -> None:
        """Has the token, and knows a client without it."""
        store = InMemoryContextCredentialStore()
        await store.set_credentials(SESSION, 'bearer', target.token)
        self.interceptors = [AuthInterceptor(store)]
        self.context = self.Context(state={'sessionId': SESSION})
        self.card = await self._resolve(target.guarded)
        self._connect()
        self.stranger = type(self)()
        self.stranger.card = self.card
        self.stranger._connect()

    async def close(self) -> None:
        await self.recorder.http.aclose()
        for name in ('streaming', 'waiting', 'stranger'):
            if other := getattr(self, name, None):
                await other.close()

    async def _resolve(self, base: str):
        return await A2ACardResolver(self.recorder.http, base).get_agent_card()

    def _connect(self) -> None:
        def client(**options):
            config = self._config(httpx_client=self.recorder.http, **options)
            return ClientFactory(config).create(self.card, interceptors=self.interceptors)

        self.streaming = client()
        self.waiting = client(streaming=False)
        self.polling = client(streaming=False, polling=True)

    def _choose(self, url: str | None) -> bool:
        """Has the card name this version and binding; a URL adds it."""
        raise NotImplementedError

    def _config(self, **options):
        """Returns a configuration with the binding of this client alone."""
        raise NotImplementedError

    async def _made_of(self, url: str, **options):
        """Returns the SDK's own client of a URL."""
        raise NotImplementedError
