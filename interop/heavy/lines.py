"""Runs the cases of a client, and prints a line for each."""

import asyncio
import os
import sys
import uuid

URL = os.environ['INTEROP_URL']
PREFIX = '[built-in scripted model, no intelligence behind it] '
ANSWER = PREFIX + ''.join(f'{n:07d} ' for n in range(12))
PATIENCE = 60  # seconds for one case


def asks_for_changes() -> str:
    """Is answered with ANSWER, and has a diff."""
    return f'patch {uuid.uuid4()}.txt\nstream 12 8 20ms'


QUESTION = 'escalate echo it ran'


def once(texts, what='what is shown') -> None:
    """Checks that the answer is there once, at the end."""
    texts = [t for t in texts if t]
    count = ''.join(texts).count(ANSWER.strip())
    assert count == 1, f'the answer is {count} times in {what}: {texts!r}'
    assert texts[-1].strip().endswith(ANSWER.strip()), f'{what} ends with {texts[-1]!r}'


class Skip(Exception):
    """The client cannot do it."""


async def _all(name: str, cases) -> bool:
    good, chosen = True, ''.join(sys.argv[1:2])
    for case in cases:
        line = f'{name}, {case.__name__.replace("_", "-")}'
        if chosen not in line:
            continue
        try:
            await asyncio.wait_for(case(), PATIENCE)
        except Skip as why:
            print(f'skip {line}: {why}', flush=True)
        except Exception as err:
            print(f'FAIL {line}: {" ".join((str(err) or repr(err)).split())}', flush=True)
            good = False
        else:
            print(f'ok   {line}', flush=True)
    return good


def run(name: str, *cases) -> None:
    sys.exit(0 if asyncio.run(_all(name, cases)) else 1)
