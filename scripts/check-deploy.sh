#!/bin/sh
# Lints and tests the modules beside the program's: what checks deploy/, and what makes
# releases. They are modules of their own, so that what they need is nobody else's. What
# they read lies outside of them, where go test does not see that it has changed.
set -eu
cd "$(dirname "$0")/.."
for module in deploy/check tools; do
	(
		cd "$module"
		go vet ./...
		go tool -modfile="$OLDPWD/tools/go.mod" golangci-lint run ./...
	)
done
(cd deploy/check && go test -count=1 ./...)
(cd tools && go test -count=1 ./release)
