#!/bin/sh
# Serves from a clone. With no credential for a model it says so and uses the
# built-in scripted model, which names itself in every answer.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
export CODEX_BIN="${CODEX_BIN:-$root/.tools/bin/codex}"
home=${CODEX_HOME:-$HOME/.codex}
if [ -z "${OPENAI_API_KEY:-}${OPENAI_BASE_URL:-}${RUNTIME_MODEL:-}" ] && [ ! -e "$home/auth.json" ]; then
	echo "run: no OPENAI_API_KEY and no $home/auth.json: answers come from the built-in scripted model" >&2
	export RUNTIME_MODEL=scripted
fi
exec "$root/bin/runtime" serve
