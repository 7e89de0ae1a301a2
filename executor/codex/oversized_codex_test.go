package codex_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// An archive is an executor whose folders have files of instructions.
type archive struct {
	*rig
	t         *testing.T
	model     *modeltest.Model
	home      string
	work, sub string
	n         int
}

func inArchive(t *testing.T) *archive {
	t.Helper()
	spawn, _ := json.Marshal(map[string]any{"task_name": "sub", "message": "do it", "fork_turns": "none"})
	l := &archive{t: t, model: modeltest.Start(t, func(t *fakemodel.Turn) {
		switch {
		case t.LastUserText() != "spawn" || len(t.NewToolOutputs()) > 1:
			fakemodel.Keywords(t)
		case len(t.NewToolOutputs()) == 0:
			t.CallIn("collaboration", "spawn_agent", string(spawn))
		default:
			t.CallIn("collaboration", "wait_agent", `{"timeout_ms":30000}`)
		}
	})}
	cfg := codexConfig(t, l.model)
	l.home = codextest.Home(t)
	cfg.Child.Env = append(cfg.Child.Env, "CODEX_HOME="+l.home)
	if err := os.WriteFile(filepath.Join(l.home, "config.toml"), []byte(`project_doc_fallback_filenames=["OTHER.md"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	l.work = codextest.Dir(t, "archive")
	l.sub = filepath.Join(l.work, "sub")
	if err := os.Mkdir(l.sub, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg.Thread.Cwd = l.work
	cfg.Prepare = func(context.Context) (codex.Launch, error) {
		return codex.Launch{Env: cfg.Child.Env, Oversized: adapter.Launch{Home: l.home}.Oversized}, nil
	}
	l.rig = running(t, cfg)
	return l
}

// put writes a file of instructions that say its own path, and have a size.
func (l *archive) put(path string, size int64) {
	l.t.Helper()
	if err := os.WriteFile(path, []byte("the words of "+path+"\n"), 0o600); err != nil {
		l.t.Fatal(err)
	}
	if size > 0 {
		if err := os.Truncate(path, size); err != nil {
			l.t.Fatal(err)
		}
	}
}

// hears runs a turn, and reports whether any request of it has the words of a file, and what
// the sender was told.
func (l *archive) hears(path, of, text string, o agent.Options) (heard bool, notices string) {
	l.t.Helper()
	l.n++
	before := len(l.model.Requests())
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: fmt.Sprint("j", l.n), Context: of, Input: []agent.Input{agent.Text(text)}, Options: o}
	if _, err := l.Submit(job, w.observe); err != nil {
		l.t.Fatal(err)
	}
	wantEnd(l.t, w.wait(l.t), agent.Completed, "")
	for _, r := range l.model.Requests()[before:] {
		heard = heard || strings.Contains(string(r.Body), "the words of "+path)
	}
	for _, n := range seen[agent.Notice](w) {
		notices += n.Text
	}
	return heard, notices
}

// TestLargeInstructions: where a folder has a file of instructions that is too large, codex
// reads none: not when it begins a conversation, nor when it goes on with one elsewhere or
// with less leave, nor for a subagent.
func TestLargeInstructions(t *testing.T) {
	t.Parallel()
	const large = 2 << 20
	for _, name := range []string{"AGENTS.md", "AGENTS.override.md", "OTHER.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := inArchive(t)
			top, deep := filepath.Join(l.work, name), filepath.Join(l.sub, name)
			l.put(top, 0)
			if heard, notices := l.hears(top, "first", "say hi", agent.Options{}); !heard || notices != "" {
				t.Errorf("a small file: heard: %t; told %q", heard, notices)
			}
			l.put(deep, large)
			heard, notices := l.hears(deep, "first", "say hi", agent.Options{Cwd: l.sub})
			if heard || !strings.Contains(notices, "Codex reads no AGENTS.md in this conversation: "+deep) {
				t.Errorf("a large file in the folder of a message: heard: %t; told %q", heard, notices)
			}
			l.put(top, large)
			for i, o := range []agent.Options{{}, {Cwd: l.sub}, {Sandbox: agent.ReadOnly}} {
				heard, notices := l.hears(top, fmt.Sprint("new-", i), "spawn", o)
				if heard || !strings.Contains(notices, "Codex reads no AGENTS.md") {
					t.Errorf("a large file, %+v: heard: %t; told %q", o, heard, notices)
				}
			}
			l.put(top, 0)
			l.put(deep, 0)
			if heard, notices := l.hears(deep, "later", "say hi", agent.Options{Cwd: l.sub}); !heard || notices != "" {
				t.Errorf("a file that was made small: heard: %t; told %q", heard, notices)
			}
		})
	}
}

// TestLargeInstructionsAfterAKill: what took codex's memory, and ended it, is not read when its
// conversations are resumed.
func TestLargeInstructionsAfterAKill(t *testing.T) {
	t.Parallel()
	l := inArchive(t)
	path := filepath.Join(l.work, "AGENTS.md")
	hangs := make(chan struct{})
	var hung atomic.Bool
	l.model.SetScript(func(t *fakemodel.Turn) {
		if hung.Swap(true) {
			fakemodel.Keywords(t)
			return
		}
		close(hangs)
		t.Hang()
	})
	w := &witness{ended: make(chan agent.Ended, 1)}
	if _, err := l.Submit(executor.Job{ID: "j", Context: "c", Input: []agent.Input{agent.Text("say hi")}}, w.observe); err != nil {
		t.Fatal(err)
	}
	<-hangs
	l.put(path, 2<<20)
	killCodex(t, l.rig)
	wantEnd(t, w.wait(t), agent.Completed, "")
	last := l.model.Requests()[len(l.model.Requests())-1]
	told := slices.ContainsFunc(seen[agent.Notice](w), func(n agent.Notice) bool { return strings.HasPrefix(n.Text, "Codex reads no AGENTS.md") })
	if strings.Contains(string(last.Body), "the words of "+path) || !told {
		t.Errorf("told: %+v; the request: %s", seen[agent.Notice](w), last.Body)
	}
}

// TestSubagentsGoWithTheirThread: a subagent's file says whose it is, and codex deletes it with the
// thread that it has worked for, also where that one's own file has gone before.
func TestSubagentsGoWithTheirThread(t *testing.T) {
	t.Parallel()
	l := inArchive(t)
	sizes := func() (threads int, sessions []string) {
		t.Helper()
		sizes, err := rollout.Home{Dir: l.home}.Sizes(func(_, path string) string {
			threads++
			return rollout.SessionOf(path)
		})
		if err != nil {
			t.Fatal(err)
		}
		return threads, slices.Collect(maps.Keys(sizes))
	}
	l.hears("nothing", "c", "spawn", agent.Options{})
	threads, sessions := sizes()
	if threads != 2 || len(sessions) != 1 || sessions[0] == "" {
		t.Fatalf("%d threads of %q", threads, sessions)
	}
	if err := l.Forget(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	if left, err := (rollout.Home{Dir: l.home}).Remove(sessions); err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	if err := l.Delete(t.Context(), sessions[0]); err != nil {
		t.Error(err)
	}
	if threads, sessions := sizes(); threads > 0 {
		t.Errorf("left are %d threads of %q", threads, sessions)
	}
}
