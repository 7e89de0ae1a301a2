# The image of a workspace, and for docker run: docs/image.md.
ARG DEBIAN=trixie
ARG GO=1.26
ARG NODE_BUILD=22
# The digests of the bases, as image/bases.lock has them: @sha256:… each. Without, the bases are
# what their names stand for on that day.
ARG DEBIAN_DIGEST=
ARG GO_DIGEST=
ARG NODE_DIGEST=

# The program. It is cross-compiled, so this stage runs on the builder's own platform.
FROM --platform=$BUILDPLATFORM golang:${GO}-${DEBIAN}${GO_DIGEST} AS build
WORKDIR /src
ENV GOCACHE=/go/cache
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=dev
RUN CGO_ENABLED=0 GOOS="$TARGETOS" GOARCH="$TARGETARCH" \
	go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /out/molecule-runtime ./cmd/runtime

# The pinned codex. npm refuses a package whose checksum is not that of the lockfile.
# What codex has for speaking and listening stays behind.
FROM --platform=$BUILDPLATFORM node:${NODE_BUILD}-${DEBIAN}-slim${NODE_DIGEST} AS codex
WORKDIR /codex
COPY image/codex/package.json image/codex/package-lock.json ./
ARG TARGETARCH
ARG npm_config_cache
RUN case "$TARGETARCH" in amd64) cpu=x64 ;; *) cpu=$TARGETARCH ;; esac && \
	npm ci --os=linux --cpu="$cpu" --ignore-scripts --no-audit --no-fund --loglevel=error && \
	{ [ -d node_modules/@openai/codex-linux-"$cpu" ] || \
	{ echo "npm has left out the package of codex: the registry has no such bytes as package-lock.json says" >&2; exit 1; }; } && \
	mv node_modules/@openai/codex-linux-"$cpu"/vendor/* /out && \
	rm -rf /out/codex-resources/voice

# The system under both. It waits for neither.
FROM debian:${DEBIAN}-slim${DEBIAN_DIGEST} AS system
# NODE and PYTHON bring Debian's Node.js and Python for agents whose work wants them, T4
# what the platform's tier 4 promises: docker, and sudo for the agent.
ARG NODE=0
ARG PYTHON=0
ARG T4=0
RUN set -eu; \
	packages="bash ca-certificates curl git tini"; \
	[ "$NODE" = 0 ] || packages="$packages nodejs npm"; \
	[ "$PYTHON" = 0 ] || packages="$packages python3 python3-pip python3-venv"; \
	[ "$T4" = 0 ] || packages="$packages docker-cli sudo"; \
	apt-get update; \
	# shellcheck disable=SC2086 # a list of words
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages; \
	rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log; \
	# It has the whole environment, and the kernel shows that of a program that may not be read to nobody.
	chmod 0711 "$(command -v tini)"; \
	useradd --uid 1000 --create-home --shell /bin/bash agent; \
	useradd --uid 990 --user-group --no-create-home --home-dir /configs --shell /usr/sbin/nologin runtime; \
	[ "$T4" = 0 ] || { echo 'agent ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/agent && chmod 0440 /etc/sudoers.d/agent; }; \
	install -d -o agent -g agent /configs /workspace; \
	# start.sh names it to those who start the agent's commands.
	git config --file /etc/gitconfig.agent include.path /etc/gitconfig; \
	for dir in /workspace '/workspace/*'; do git config --file /etc/gitconfig.agent --add safe.directory "$dir"; done; \
	ln -s /opt/codex/codex-path/rg /usr/local/bin/rg; \
	ln -s start.sh /usr/local/bin/runtime

FROM system
COPY --from=codex /out /opt/codex
COPY start.sh image/molecule-askpass image/bin/codex /usr/local/bin/

# Everything that lasts is under /configs.
ENV RUNTIME_IN_CONTAINER=1 \
	RUNTIME_ADDR=0.0.0.0:8000 \
	CONFIGS_DIR=/configs \
	RUNTIME_STATE_DIR=/configs/.runtime \
	CODEX_HOME=/configs/.codex \
	CODEX_BIN=/opt/codex/bin/codex \
	GIT_ASKPASS=/usr/local/bin/molecule-askpass \
	LANG=C.UTF-8
EXPOSE 8000
WORKDIR /workspace
# Root, because the platform's volumes arrive as root's; start.sh drops to the runtime's own
# user, which starts codex as agent, and becomes tini.
USER root
ENTRYPOINT ["/usr/local/bin/start.sh"]
CMD ["serve"]

COPY --from=build /out/molecule-runtime /usr/local/bin/molecule-runtime
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="molecule-codex-runtime" \
	org.opencontainers.image.description="The Codex CLI as an A2A agent, and a workspace of the Molecule platform" \
	org.opencontainers.image.licenses="Apache-2.0" \
	org.opencontainers.image.source="https://github.com/Molecule-AI/molecule-codex-runtime" \
	org.opencontainers.image.version="$VERSION" \
	org.opencontainers.image.revision="$REVISION"
