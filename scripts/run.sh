#!/bin/sh
# Serves from a clone, or runs another command of the program as it would be served.
# With no credential for a model it says so and uses the built-in scripted model, which
# names itself in every answer. A machine asks no model.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
export CODEX_BIN="${CODEX_BIN:-$root/.tools/bin/codex}"
home=${CODEX_HOME:-$HOME/.codex}
if [ "${1:-}" != machine ] && [ -z "${OPENAI_API_KEY:-}${OPENAI_BASE_URL:-}${RUNTIME_MODEL:-}" ] && [ ! -e "$home/auth.json" ] &&
	! grep -qs '^[[:space:]]*model_provider[[:space:]]*=' "$home/config.toml"; then
	echo "run: no OPENAI_API_KEY, no $home/auth.json and no model_provider in $home/config.toml: answers come from the built-in scripted model, which has no intelligence. For codex's own: OPENAI_API_KEY=… make run, or codex login before it" >&2
	export RUNTIME_MODEL=scripted
fi
# What is started here again is not for codex's commands to write.
if [ -z "${RUNTIME_WORKDIR:-}" ] && [ "$(pwd -P)" = "$root" ]; then
	export RUNTIME_WORKDIR="$root/.tools/work"
	(umask 077 && mkdir -p "$RUNTIME_WORKDIR")
fi
exec "$root/bin/runtime" "${@:-serve}"
