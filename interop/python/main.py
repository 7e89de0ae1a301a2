"""Drives a runtime with the a2a-sdk of this environment.

Prints one line a case: "ok   ...", "FAIL ...", or "skip ..." for what is
not to be had.
"""

import asyncio
import os
import sys

from importlib.metadata import version

from shapes import NotOffered, Target

PATIENCE = 30  # seconds for one case


async def run(client, line: str, case) -> bool:
    try:
        none = await asyncio.wait_for(case(client), PATIENCE)
    except TimeoutError:
        why = f'no end within {PATIENCE} s'
    except Exception as err:
        why = ' '.join((str(err) or repr(err)).split())
    else:
        # None, or why there is nothing to test.
        print(f'skip {line}: {none}' if none else f'ok   {line}', flush=True)
        return True
    wire = f'\n      > {client.recorder.last}' if client.recorder.calls else ''
    print(f'FAIL {line}: {why}{wire}', flush=True)
    return False


async def drive(name: str, client, connect, cases, target: Target, chosen: str) -> bool:
    try:
        await asyncio.wait_for(connect(client, target), PATIENCE)
    except NotOffered:
        print(f'skip {name}: the card does not offer it', flush=True)
        return True
    except Exception as err:
        print(f'FAIL {name}, connect: {err!r}', flush=True)
        return False
    good = True
    for case in cases:
        line = f'{name}, {case.__name__.strip("_").replace("_", "-")}'
        if chosen in line:
            good = await run(client, line, case) and good
    await client.close()
    return good


async def main(target: Target, chosen: str) -> bool:
    if version('a2a-sdk').startswith('0.2.'):
        from sdk02 import clients
    elif version('a2a-sdk').startswith('0.'):
        from sdk03 import clients
    else:
        from sdk1 import clients
    results = [await drive(*entry, target, chosen) for entry in clients()]
    return all(results)


if __name__ == '__main__':
    where = Target(
        base=os.environ['INTEROP_URL'],
        guarded=os.environ['INTEROP_GUARDED_URL'],
        token=os.environ['INTEROP_TOKEN'],
        all=bool(os.environ.get('INTEROP_ALL')),
    )
    sys.exit(0 if asyncio.run(main(where, ''.join(sys.argv[1:2]))) else 1)
