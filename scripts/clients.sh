#!/bin/sh
# The clients of the SDKs: how scripts/interop.sh, which reads this, installs them. Those that
# are pinned are installed under $tools, and with SDK=newest the newest ones beside them, under
# $tools/newest: of an SDK for an earlier version of A2A, the newest of its series.

: "${root:?is the repository}" "${tools:?is where clients are installed}"

# The command line of Rust's SDK has no file of its own to be pinned in.
rust_pin=0.4.5

need() {
	if ! command -v "$1" >/dev/null 2>&1; then
		echo "interop: $1 is needed: install $2 (Debian: apt-get install $3)" >&2
		exit 1
	fi
}

# installed STAMP FILE...: whether STAMP was written for these files as they are.
installed() {
	stamp=$1
	shift
	[ "$(cat "$stamp" 2>/dev/null)" = "$(cat "$@" | cksum)" ]
}

# install_node NAME: the packages of interop/NAME.
install_node() {
	folder=$tools/$1
	set -- "$root/interop/$1/package.json" "$root/interop/$1/package-lock.json"
	installed "$folder/stamp" "$@" && return
	mkdir -p "$folder"
	cp "$@" "$folder"
	(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >&2
	cat "$@" | cksum >"$folder/stamp"
}

# install_python FOLDER NAME: a virtual environment for interop/FOLDER/requirements-NAME.txt.
install_python() {
	venv=$tools/python-$2
	requirements=$root/interop/$1/requirements-$2.txt
	installed "$venv/stamp" "$requirements" && return
	rm -rf "$venv"
	if ! python3 -m venv "$venv" >&2; then
		echo "interop: python3 cannot make a virtual environment (Debian: apt-get install python3-venv)" >&2
		exit 1
	fi
	"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" >&2
	cksum <"$requirements" >"$venv/stamp"
}

# install_light and install_heavy install what is pinned; the heavy take minutes.
install_light() {
	install_node js
	install_node mcp
	for v in 0.2 0.3 1; do install_python python $v; done
}

install_heavy() {
	need go "Go 1.26" golang
	need cargo "Rust 1.85 or newer" cargo
	need mvn "Maven, with Java 17 or newer" "maven openjdk-17-jdk-headless"
	for v in adk-1 adk-2 crewai beeai; do install_python heavy $v; done
	(cd "$root/interop/go" && go build -o "$tools/go/a2a" github.com/a2aproject/a2a-go/v2/cmd/a2a) >&2
	if [ "$(cat "$tools/rust/stamp" 2>/dev/null)" != "$rust_pin" ]; then
		cargo install --quiet --locked --force --root "$tools/rust" --version "$rust_pin" a2a-cli >&2
		echo "$rust_pin" >"$tools/rust/stamp"
	fi
	installed "$tools/java/stamp" "$root/interop/java/pom.xml" && return
	rm -rf "$tools/java"
	install_java "$tools/java"
	cksum <"$root/interop/java/pom.xml" >"$tools/java/stamp"
}

# install_java FOLDER [ARGUMENT...]
install_java() {
	java=$1
	shift
	mkdir -p "$java"
	mvn -q -B -Dstyle.color=never -f "$root/interop/java/pom.xml" dependency:copy-dependencies -DoutputDirectory="$java/lib" "$@" >&2
}

# newest_light and newest_heavy install the newest beside the pinned, and say what differs.
newest_light() {
	rm -rf "$tools/newest"
	mkdir -p "$tools/newest/old"
	had newest_node js a2a-sdk-0.3@npm:@a2a-js/sdk@0.3 a2a-sdk-1@npm:@a2a-js/sdk@latest
	had newest_node mcp @modelcontextprotocol/sdk@latest
	had newest_python python 0.2 'a2a-sdk==0.2.*'
	had newest_python python 0.3 'a2a-sdk==0.3.*'
	had newest_python python 1 a2a-sdk
}

newest_heavy() {
	rm -rf "$tools/newest"
	mkdir -p "$tools/newest/old"
	had newest_python heavy adk-1 'google-adk[a2a]==1.*'
	had newest_python heavy adk-2 'google-adk[a2a]'
	had newest_python heavy crewai 'crewai[a2a]'
	had newest_python heavy beeai 'beeai-framework[a2a]'
	had newest_go
	had newest_rust
	had newest_java
}

# had COMMAND...: one that is not to be had keeps no other from being driven. Its
# own suite fails. It runs beside this shell, for set -e does nothing in conditions.
had() {
	("$@") &
	wait $! || echo "$*: cannot be installed"
}

newest_go() {
	folder=$tools/newest/go
	mkdir -p "$folder"
	cp "$root"/interop/go/go.* "$folder"
	(cd "$folder" && go get github.com/a2aproject/a2a-go/v2@latest && go build -mod=mod -o a2a github.com/a2aproject/a2a-go/v2/cmd/a2a) >&2
	go_modules "$root/interop/go" >"$tools/newest/old/go"
	go_modules "$folder" | differ go "$tools/newest/old/go"
}

newest_rust() {
	cargo install --quiet --locked --root "$tools/newest/rust" a2a-cli >&2
	echo "a2a-cli $rust_pin" >"$tools/newest/old/rust"
	cargo install --root "$tools/newest/rust" --list | sed -n 's/^a2a-cli v\(.*\):/a2a-cli \1/p' | differ rust "$tools/newest/old/rust"
}

newest_java() {
	install_java "$tools/newest/java" '-Da2a=[0.3,0.3.9999]'
	jars "$tools/java/lib" >"$tools/newest/old/java"
	jars "$tools/newest/java/lib" | differ java "$tools/newest/old/java"
}

newest_node() { # NAME SPECIFIER...
	folder=$tools/newest/$1
	name=$1
	shift
	mkdir -p "$folder"
	npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error "$@" >&2
	node_packages "$tools/$name" >"$tools/newest/old/$name"
	node_packages "$folder" | differ "$name" "$tools/newest/old/$name"
}

newest_python() { # FOLDER NAME SPECIFIER
	venv=$tools/newest/python-$2
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check "$3" >&2
	sed 's/==/ /' "$root/interop/$1/requirements-$2.txt" >"$tools/newest/old/$2"
	"$venv/bin/pip" freeze --disable-pip-version-check | sed 's/==/ /' | differ "python-$2" "$tools/newest/old/$2"
}

# What is installed, as lines of a name and a version.
node_packages() {
	npm ls --prefix "$1" --all --parseable --long | sed -n 's|[^:]*/node_modules/\([^:]*\):.*@\([^@:]*\).*|\1 \2|p'
}
go_modules() { (cd "$1" && go list -m -f '{{if not .Main}}{{.Path}} {{.Version}}{{end}}' all); }
jars() { find "$1" -name '*.jar' | sed 's|.*/\(.*\)-\([0-9].*\)\.jar|\1 \2|'; }

# differ NAME PINNED: which of the packages that it reads are of other versions than in the
# file PINNED, and which are new there.
differ() {
	awk -v name="$1" '
		NR == FNR { old[$1] = $2; next }
		old[$1] != $2 { n++; all = all "\n  " $1 " " (old[$1] == "" ? "(new)" : old[$1] " ->") " " $2 }
		END { print "newest " name ": " (n ? n " differ from the pinned" all : "as pinned") }' "$2" -
}
