package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestUnfitCodex is not used: messages, /readyz and doctor say what it lacks and which one to install. Its successor
// is used without a restart of the runtime.
func TestUnfitCodex(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(codextest.Dir(t, "bin"), "codex")
	codextest.StandIn(t, bin, codextest.Version(t), `s|"turn/steer"|"turn/gone"|`)
	p := start(t, "CODEX_BIN="+bin)
	const lacks = "turn/steer"
	task := p.send("m1", "one", "say hello")
	if words := fmt.Sprint(task["status"]); state(task) != "TASK_STATE_FAILED" || !strings.Contains(words, lacks) || !strings.Contains(words, "npm install -g @openai/codex@") {
		t.Errorf("the message is %v", task["status"])
	}
	if status, body := p.readyz(); status != http.StatusServiceUnavailable || !strings.Contains(body, lacks) {
		t.Errorf("/readyz: %d %s", status, body)
	}
	codextest.StandIn(t, bin, codextest.Version(t), "")
	if task := p.send("m2", "one", "say hello"); text(task) != "hello" {
		t.Errorf("with its successor: %v", task["status"])
	}
	progtest.WaitFor(t, "readiness", func() bool {
		status, _ := p.readyz()
		return status == http.StatusOK
	})
}

// TestLauncherOfAnother: what a launcher says elsewhere is about another codex than the one that has started.
func TestLauncherOfAnother(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(codextest.Dir(t, "bin"), "codex")
	codextest.StandIn(t, bin, "0.1.0", `s|"turn/steer"|"turn/gone"|`)
	launcher := bin + "-launcher"
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in\n--version | *generate-json-schema*) exec '%s' \"$@\" ;;\nesac\nexec '%s' \"$@\"\n", bin, codextest.Bin(t))
	codextest.Program(t, launcher, script)
	p := start(t, "CODEX_BIN="+launcher)
	if task := p.send("m1", "one", "say hello"); text(task) != "hello" {
		t.Errorf("the message is %v", task["status"])
	}
	progtest.WaitFor(t, "the log", func() bool { return strings.Contains(p.Log(), "is not the one that has started") })
}

// TestUntriedCodex runs, with a warning wherever people look.
func TestUntriedCodex(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(codextest.Dir(t, "bin"), "codex")
	codextest.StandIn(t, bin, "0.999.0", "")
	p := start(t, "CODEX_BIN="+bin)
	if task := p.send("m1", "one", "say hello"); text(task) != "hello" {
		t.Errorf("the message is %v", task["status"])
	}
	const says = "and not with 0.999.0"
	if status, body := p.readyz(); status != http.StatusOK || !strings.Contains(body, says) || !strings.Contains(body, "ready, codex 0.999.0") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if _, card := p.fetch("/.well-known/agent-card.json"); !strings.Contains(card, "Runs codex 0.999.0 (this runtime was tried with") {
		t.Errorf("the card: %s", card)
	}
	if _, series := p.fetch("/metrics"); !strings.Contains(series, `molecule_codex_codex_info{tried="false",version="0.999.0"} 1`) {
		t.Error("the metrics do not name the codex that runs")
	}
	progtest.WaitFor(t, "the log", func() bool { return strings.Contains(p.Log(), "this codex may do some things otherwise") })
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
