#!/bin/sh
# Opens an issue with a text, one for each subject: report.sh TITLE FILE. Where an issue of that
# title is open it gets the text as a comment, unless its last one is the same. An empty text is
# nothing to report. Of a log of tests, what failed is compared: all else in it differs every
# night. It takes gh, and a GH_TOKEN that may write issues.
set -eu
export LC_ALL=C
if [ $# -ne 2 ]; then
	echo "usage: scripts/report.sh TITLE FILE" >&2
	exit 2
fi
TITLE=$1 file=$2
export TITLE
grep -q '[^[:space:]]' "$file" || exit 0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# The lines of go test, and of scripts/interop.sh, without the time that the test took.
sed -n 's/^[[:space:]]*\(-*[[:space:]]*FAIL[:[:space:]].*\)/\1/p' "$file" |
	sed 's/[[:space:]]*(*[0-9.][0-9.]*s)*$//' | sort -u >"$tmp/failed"
compared=$tmp/failed
[ -s "$tmp/failed" ] || compared=$file
mark="<!-- report $(cksum <"$compared" | tr ' ' '-') -->"

# Indented it is code: names in it notify no account, and addresses are no links. An issue takes
# 65536 characters.
code() { tr -cd '\t\n\40-\176\200-\377' | cut -c1-240 | sed 's/^/    /'; }
{
	echo "$mark"
	echo "What to do: docs/fidelity.md.${GITHUB_RUN_ID:+ All of it: $GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID}"
	echo
	head -n 50 "$tmp/failed" | code
	[ ! -s "$tmp/failed" ] || printf '\nThe last lines:\n\n'
	tail -n 150 "$file" | code
} >"$tmp/body"

gh issue list --state open --limit 1000 --json number,title --jq '.[] | "\(.number)\t\(.title)"' >"$tmp/open"
number=$(awk -F '\t' '$2 == ENVIRON["TITLE"] { print $1; exit }' "$tmp/open")
if [ -z "$number" ]; then
	gh issue create --title "$TITLE" --body-file "$tmp/body"
	exit
fi
gh issue view "$number" --json body,comments --jq '.body, .comments[].body' >"$tmp/said"
if [ "$(tr -d '\r' <"$tmp/said" | grep '^<!-- report [0-9-]* -->$' | tail -n 1)" = "$mark" ]; then
	echo "report: #$number says so already: $TITLE"
	exit
fi
gh issue comment "$number" --body-file "$tmp/body"
