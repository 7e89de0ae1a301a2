package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// standIn is the real codex, but for the version that it says, and for what a script of sed takes from what it says
// of its protocol.
func standIn(t *testing.T, path, version, edit string) {
	t.Helper()
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in
--version) echo codex-cli %s ;;
*generate-json-schema*)
	%s "$@" || exit
	for dir; do :; done
	sed -i '%s' "$dir"/*.json "$dir"/v2/*.json ;;
*) exec %[2]s "$@" ;;
esac
`, version, codextest.Bin(t), edit)
	if err := os.WriteFile(path+".new", []byte(script), 0o755); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestUnfitCodex is not started: messages, /readyz and doctor say what it lacks and which one to install. Its successor
// is used without a restart of the runtime.
func TestUnfitCodex(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(codextest.Dir(t, "bin"), "codex")
	standIn(t, bin, codextest.Version(t), `s|"turn/steer"|"turn/gone"|`)
	p := start(t, "CODEX_BIN="+bin)
	const lacks = "turn/steer"
	task := p.send("m1", "one", "say hello")
	if words := fmt.Sprint(task["status"]); state(task) != "TASK_STATE_FAILED" || !strings.Contains(words, lacks) || !strings.Contains(words, "npm install -g @openai/codex@") {
		t.Errorf("the message is %v", task["status"])
	}
	if status, body := p.readyz(); status != http.StatusServiceUnavailable || !strings.Contains(body, lacks) {
		t.Errorf("/readyz: %d %s", status, body)
	}
	standIn(t, bin, codextest.Version(t), "")
	if task := p.send("m2", "one", "say hello"); text(task) != "hello" {
		t.Errorf("with its successor: %v", task["status"])
	}
	progtest.WaitFor(t, "readiness", func() bool {
		status, _ := p.readyz()
		return status == http.StatusOK
	})
}

// TestUntriedCodex runs, with a warning wherever people look.
func TestUntriedCodex(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(codextest.Dir(t, "bin"), "codex")
	standIn(t, bin, "0.999.0", "")
	p := start(t, "CODEX_BIN="+bin)
	if task := p.send("m1", "one", "say hello"); text(task) != "hello" {
		t.Errorf("the message is %v", task["status"])
	}
	const says = "was not tried"
	if status, body := p.readyz(); status != http.StatusOK || !strings.Contains(body, says) || !strings.Contains(body, "0.999.0") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if _, card := p.fetch("/.well-known/agent-card.json"); !strings.Contains(card, "Runs codex 0.999.0, with which this runtime "+says) {
		t.Errorf("the card: %s", card)
	}
	if _, series := p.fetch("/metrics"); !strings.Contains(series, `molecule_codex_codex_info{tried="true",version="`+codextest.Version(t)) {
		t.Error("the metrics do not name the codex that runs") // which is the real one, and says so itself
	}
	progtest.WaitFor(t, "the log", func() bool { return strings.Contains(p.Log(), says) })
	if out, code := p.Command("doctor"); !strings.Contains(out, says) {
		t.Errorf("doctor ends with %d: %s", code, out)
	}
}

// readyz asks whether a turn would run, until the checks have been made.
func (p *program) readyz() (status int, body string) {
	p.t.Helper()
	progtest.WaitFor(p.t, "the checks", func() bool {
		status, body = p.fetch("/readyz")
		return strings.Contains(body, `"codex"`)
	})
	return status, body
}
