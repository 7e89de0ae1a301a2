# make run and make test are the two that matter; make help lists the rest.
export CGO_ENABLED ?= 0
# A tag may have any letters, and this stands in commands.
VERSION ?= $(or $(shell git describe --tags --always --dirty 2>/dev/null | tr -cd 'A-Za-z0-9._+-'),dev)
GIVEN   := $(if $(filter command environment,$(firstword $(origin VERSION))),$(VERSION))
BENCH   ?= latest
LDFLAGS := -s -w -X main.version=$(VERSION)
TOOL    := go tool -modfile=tools/go.mod

.PHONY: help needs build codex compat pin run machine doctor test test-all check-deploy first-minutes interop moved try image bases image-test lint bench bench-machines bench-against sim sim-fleet sim-mutations chaos hostile fuzz vuln release release-check screenshots screens clean

help: ## what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

needs:
	@scripts/needs.sh go npm

build: ## bin/runtime, one static binary
	@scripts/needs.sh go
	scripts/still.sh compiling go build -trimpath -ldflags '$(LDFLAGS)' -o bin/runtime ./cmd/runtime

codex: ## install the pinned codex under .tools; the last line is its path
	@scripts/codex.sh

compat: codex ## the tests that are about codex on each version of the window, into docs/codex-versions.md; VERSION: one, or latest
	@scripts/compat.sh $(GIVEN)

pin: codex ## move the pin to another codex: VERSION. It leaves a commit to be read
	@scripts/pin.sh $(GIVEN)

run: needs build codex ## serve on 127.0.0.1:8000; with no credential, on the built-in scripted model
	@scripts/run.sh

machine: needs build codex ## run commands here for runtimes elsewhere; it prints what joins it
	@scripts/run.sh machine

doctor: needs build codex ## whether make run would run a turn, and what to do if not
	@scripts/run.sh doctor

test: codex lint ## what each change is tested with: formatting, vet, lint, unit tests with -race, end to end on the real codex
	@ALL=$(ALL) scripts/test.sh

test-all: codex lint ## the same, and what takes longer: bounds, hostile callers, the console in a browser, the image's programs
	@ALL=1 scripts/test.sh

check-deploy: ## compose files, manifests and alarms of deploy/, and what makes releases
	@scripts/check-deploy.sh

lint: ## gofmt, go vet, golangci-lint
	@scripts/lint.sh

first-minutes: codex ## a new user's ways to the first answer, each timed: from a clone, the Connect block, the image; WAY: one of them; WARM=1: the clone with caches; REPORT=1 for docs/getting-started.md
	@REPORT='$(REPORT)' WARM='$(WARM)' scripts/first-minutes.sh $(WAY)

interop: build codex ## the official JavaScript and Python SDKs against the built program; INTEROP_HEAVY=1: the large clients; SDK=newest: the newest, too
	@INTEROP_HEAVY='$(INTEROP_HEAVY)' SDK='$(SDK)' scripts/interop.sh

moved: ## what is pinned here and has moved, with what to do: docs/fidelity.md
	@scripts/moved.sh

try: codex ## the tests of what imports a Go module, in a copy with a newer one; MODULE=path or path@version, ALL=1: end to end, too
	@ALL='$(ALL)' scripts/try.sh $(MODULE)

image: ## the container image, with docker, podman or buildah; IMAGE, PLATFORM, BUILD_ARGS: docs/image.md
	@VERSION=$(VERSION) scripts/image.sh

bases: ## write image/bases.lock, the digests of what the image is built on; needs skopeo
	@scripts/bases.sh

image-test: ## build the image without a registry and run it as the platform does; needs root on Debian; SHORT=1, BUILD_ARGS: docs/image.md
	@VERSION='$(VERSION)' SHORT='$(SHORT)' BUILD_ARGS='$(BUILD_ARGS)' scripts/image-test.sh

bench: codex ## what it costs, into bench/results/$(BENCH).txt and its tables
	go test -run '^$$' -bench . -benchtime 1x -timeout 30m ./bench > bench/results/$(BENCH).tmp || { cat bench/results/$(BENCH).tmp; exit 1; }
	mv bench/results/$(BENCH).tmp bench/results/$(BENCH).txt
	go test -run Table ./bench -v -args -results results/$(BENCH).txt $(if $(filter published,$(BENCH)),-update)

bench-machines: codex ## of make bench, what commands on other machines cost, five minutes; into bench/results/machines.txt
	go test -run '^$$' -bench '^Benchmark(Machine|LoginShell|Machines|MachineShares)$$' -benchtime 1x -timeout 15m ./bench > bench/results/machines.tmp || { cat bench/results/machines.tmp; exit 1; }
	mv bench/results/machines.tmp bench/results/machines.txt
	go test -run Table ./bench -v -args -results results/machines.txt

bench-against: codex ## what it costs beside the program of another commit, in one run; REF: the commit
	@scripts/bench-against.sh '$(REF)'

sim: ## the scheduler, the tasks and the store on a simulated agent, in simulated time; SEEDS, SEED: the first
	go test ./internal/test/sim -run '^TestSeeds$$' -count=1 -timeout 300m -args -sim.seeds $(or $(SEEDS),1000) -sim.first $(or $(SEED),1)

sim-fleet: ## the placement of conversations on simulated machines, in simulated time; SEEDS, SEED: the first; LARGE: how many of them are of 200 machines
	go test ./internal/test/fleetsim -run '^TestSeeds$$' -count=1 -timeout 300m -args -sim.seeds $(or $(SEEDS),1000) -sim.first $(or $(SEED),1) -sim.large $(or $(LARGE),0)

sim-mutations: ## put faults back, one at a time, and have the simulations find each
	go test ./internal/test/sim -run '^TestMutations$$' -count=1 -timeout 120m -v -args -sim.mutations -sim.seeds $(or $(SEEDS),1000)
	go test ./internal/test/fleetsim -run '^TestMutations$$' -count=1 -timeout 120m -v -args -sim.mutations -sim.seeds $(or $(SEEDS),1000)

# Longer than codex waits, without a word, before its fifth retry (3.5 s).
CHAOS_SILENCE = 6s

chaos: codex ## kills and hindrances at random instants; SEED, KILLS or DURATION, CUTS, MESSAGES, REPORT=1 for docs/reliability.md
	go test ./e2e/chaos -run TestChaos -count=1 -timeout 120m -v -args -silence $(CHAOS_SILENCE) -seed $(or $(SEED),1) \
		$(if $(DURATION),-duration $(DURATION),-kills $(or $(KILLS),1000)) $(if $(REPORT),-report ../../docs/reliability.md)
	go test ./e2e/chaos -run TestMachines -count=1 -timeout 120m -v -args -seed $(or $(SEED),1) \
		$(if $(DURATION),-duration $(DURATION),-kills $(or $(KILLS),300)) $(if $(REPORT),-report ../../docs/reliability.md)
	go test ./e2e/chaos -run TestCuts -count=1 -timeout 60m -v -args -silence $(CHAOS_SILENCE) -seed $(or $(SEED),1) -cuts $(or $(CUTS),300)
	go test ./e2e/chaos -run TestInbox -count=1 -timeout 60m -v -args -seed $(or $(SEED),1) -messages $(or $(MESSAGES),1000)

hostile: codex ## attacks the built program: every route, credential, host, path, URL, and hostile others; make test-all has the short form
	go test ./e2e/hostile -count=1 -timeout 30m -v -args -all

fuzz: ## each fuzz target for a short while
	go test -run '^$$' -fuzz FuzzLines -fuzztime 20s ./appserver
	go test -run '^$$' -fuzz FuzzDelta -fuzztime 20s ./appserver
	go test -run '^$$' -fuzz FuzzJSONRPC -fuzztime 20s ./server
	go test -run '^$$' -fuzz FuzzREST -fuzztime 20s ./server
	go test -run '^$$' -fuzz FuzzScan -fuzztime 20s ./server/wire
	go test -run '^$$' -fuzz FuzzCover -fuzztime 20s ./internal/forward
	go test -run '^$$' -fuzz FuzzRequest -fuzztime 20s ./internal/forward
	go test -run '^$$' -fuzz FuzzAnswers -fuzztime 20s ./platform
	go test -run '^$$' -fuzz FuzzFlatten -fuzztime 20s ./platform
	go test -run '^$$' -fuzz FuzzLimits -fuzztime 20s ./executor/codex/failure
	go test -run '^$$' -fuzz FuzzMeasureTOML -fuzztime 20s ./adapter
	go test -run '^$$' -fuzz FuzzParts -fuzztime 20s ./tasks
	go test -run '^$$' -fuzz FuzzRead -fuzztime 20s ./tasks/requests

vuln: ## known weaknesses of what the program is built from, as far as it calls them
	$(TOOL) govulncheck ./...

release: ## archives for each system, their bills of materials and checksums, into dist/
	cd tools && go run ./release -root .. -out ../dist -version '$(VERSION)' -epoch "$$(git log -1 --format=%ct)"

release-check: ## build every archive twice, from nothing, and compare
	cd tools && go test -count=1 -timeout 60m ./release -args -all

screenshots: codex ## the pictures of the console in docs/images; needs Chromium
	SCREENSHOTS=$(CURDIR)/docs/images go test ./e2e/browser -run TestPictures -count=1

screens: codex ## what the terminal showed in its tests, as text, under .tools/screens
	mkdir -p .tools/screens
	go test ./e2e -run '^TestTerminal' -count=1 -artifacts -outputdir $(CURDIR)/.tools/screens

clean: ## what was built, and the installed codex
	rm -rf bin dist .tools
