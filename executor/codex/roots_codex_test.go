package codex_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// A yard is a working directory with a folder that jobs ask for, and a directory beside
// it that no command may write.
type yard struct{ work, folder, outside string }

// folders are the kinds of folders that jobs ask for.
var folders = map[string]func(t *testing.T, y yard){
	"plain": func(t *testing.T, y yard) {
		if err := os.Mkdir(y.folder, 0o700); err != nil {
			t.Fatal(err)
		}
	},
	"worktree": func(t *testing.T, y yard) {
		for _, args := range [][]string{
			{"init", "-q", "repo"},
			{"-C", "repo", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "begin"},
			{"-C", "repo", "worktree", "add", "-q", y.folder},
		} {
			cmd := exec.CommandContext(t.Context(), "git", args...)
			cmd.Dir = y.work
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v: %s", args, err, out)
			}
		}
	},
}

// inYard describes an executor that sandboxes the commands of a yard.
func inYard(t *testing.T, model *modeltest.Model, policy agent.ApprovalPolicy, kind string) (config, yard) {
	t.Helper()
	cfg := codexConfig(t, model)
	work, err := filepath.EvalSymlinks(cfg.Child.Dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Thread = codex.Thread{Cwd: work, ApprovalPolicy: policy, Sandbox: agent.WorkspaceWrite}
	y := yard{work, filepath.Join(work, "sub"), codextest.Dir(t, "outside")}
	folders[kind](t, y)
	return cfg, y
}

// swap puts a symlink to the outside in the folder's place, as a command may.
func (y yard) swap() string { return "mv sub kept && ln -s " + y.outside + " sub" }

// swapping has a turn of another conversation swap the folder to and fro, until stop is
// called.
func (y yard) swapping(t *testing.T, e *rig) (stop func()) {
	t.Helper()
	swapper := submit(t, e, "swapper", "two",
		"run touch swapping; while [ ! -e stop ]; do "+y.swap()+"; rm sub; mv kept sub; done; echo stopped")
	eventually(t, "the swaps to begin", func() bool {
		_, err := os.Stat(filepath.Join(y.work, "swapping"))
		return err == nil
	})
	return func() {
		if err := os.WriteFile(filepath.Join(y.work, "stop"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		swapper.wait(t)
	}
}

// untouched fails the test if anything was written outside.
func (y yard) untouched(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(y.outside)
	if err != nil || len(left) > 0 {
		t.Errorf("commands have written outside of the sandbox: %v, %v", left, err)
	}
}

// intrusion are commands that write into the folder, by the shell and by a patch.
const intrusion = "run touch here && echo writes\npatch made.txt\n"

// TestFolderSwappedAtAQuestion swaps a folder while the turn that runs there waits for an
// answer: what the turn does after it must not be let out of its sandbox.
func TestFolderSwappedAtAQuestion(t *testing.T) {
	t.Parallel()
	for kind := range folders {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cfg, y := inYard(t, modeltest.Start(t, fakemodel.Keywords), agent.OnRequest, kind)
			e := running(t, cfg)
			w := submitWith(t, e, "j1", "run touch before && pwd -P\nescalate true\n"+intrusion, agent.Options{Cwd: y.folder})
			q := w.asked(t, 1)
			if _, err := os.Stat(filepath.Join(y.folder, "before")); err != nil {
				t.Fatalf("the turn does not work in its folder: %v", err)
			}
			if got := submit(t, e, "j2", "two", "run "+y.swap()).wait(t); got.Failure != nil {
				t.Fatalf("%+v", got)
			}
			if target, err := os.Readlink(y.folder); err != nil || target != y.outside {
				t.Fatalf("the folder was not swapped: %q, %v", target, err)
			}
			mustReply(t, e, "j1", q, "no")
			eventually(t, "the end, or word that the patch would leave the sandbox", func() bool {
				return len(seen[agent.Question](w)) > 1 || len(seen[agent.Ended](w)) > 0
			})
			y.untouched(t)
			mustReply(t, e, "j1", w.asked(t, 2), "no")
			if got := said(w.wait(t)); strings.Contains(got, "writes") {
				t.Errorf("the turn says %q", got)
			}
			y.untouched(t)
		})
	}
}

// TestFolderSwappedAllTheTime swaps a folder to and fro while a turn runs commands there,
// so that some of them find the symlink between codex's looking and its mounting.
func TestFolderSwappedAllTheTime(t *testing.T) {
	t.Parallel()
	for kind := range folders {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cfg, y := inYard(t, modeltest.Start(t, fakemodel.Keywords), agent.Never, kind)
			e := running(t, cfg)
			w := submitWith(t, e, "j1", "run touch before\n"+strings.Repeat(intrusion, 8), agent.Options{Cwd: y.folder})
			eventually(t, "the turn to work in its folder", func() bool {
				_, err := os.Stat(filepath.Join(y.folder, "before"))
				return err == nil
			})
			stop := y.swapping(t, e)
			w.wait(t)
			stop()
			y.untouched(t)
		})
	}
}

// TestFolderOfASubagent: what a turn hands to a subagent has the turn's sandbox.
func TestFolderOfASubagent(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	spawn, _ := json.Marshal(map[string]any{"task_name": "sub", "message": "do it"})
	var commands []string
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		outputs := t.NewToolOutputs()
		switch sub := t.FromSubagent(); {
		case sub && len(outputs) < len(commands):
			t.Exec(commands[len(outputs)])
		case sub:
			t.Say("sub is done")
		case len(outputs) == 0:
			t.CallIn("collaboration", "spawn_agent", string(spawn))
		case len(outputs) == 1:
			t.CallIn("collaboration", "wait_agent", `{"timeout_ms":30000}`)
		}
	})
	cfg, y := inYard(t, model, agent.Never, "plain")
	commands = []string{"touch before", "cd " + y.work + " && " + y.swap(), "touch here", "touch " + y.work + "/after"}
	submitWith(t, running(t, cfg), "j1", "go", agent.Options{Cwd: y.folder}).wait(t)
	if _, err := os.Stat(filepath.Join(y.work, "kept", "before")); err != nil {
		t.Errorf("the subagent does not work in the folder, or has not swapped it: %v", err)
	}
	y.untouched(t)
}

// TestRootsOfTheConfiguration: where the user's configuration lets commands write what
// they must not, no turn runs.
func TestRootsOfTheConfiguration(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	cfg, y := inYard(t, modeltest.Start(t, fakemodel.Keywords), agent.Never, "plain")
	cfg.Child.Args = append(cfg.Child.Args, "-c", `sandbox_workspace_write.writable_roots=["`+y.outside+`"]`)
	cfg.Apart = []within.Place{{Name: "RUNTIME_STATE_DIR", Path: filepath.Join(y.outside, "state")}}
	end := submit(t, running(t, cfg), "j1", "one", "run true").wait(t)
	if end.Failure == nil || !strings.Contains(end.Failure.Message, y.outside+" (sandbox_workspace_write.writable_roots)") {
		t.Errorf("%+v", end.Failure)
	}
	cfg.Apart = []within.Place{{Name: "HOME", Path: filepath.Dir(y.outside)}}
	wantEnd(t, submit(t, running(t, cfg), "j2", "two", "run true").wait(t), agent.Completed, "")
	cfg.Prepare = func(context.Context) (codex.Launch, error) {
		return codex.Launch{Env: cfg.Child.Env, Loaded: []within.Place{{Name: "PATH", Path: "/bin"}, {Name: "PATH", Path: y.outside}}}, nil
	}
	end = submit(t, running(t, cfg), "j3", "three", "run true").wait(t)
	if end.Failure == nil || !strings.Contains(end.Failure.Message, y.outside+" of PATH lies") {
		t.Errorf("%+v", end.Failure)
	}
}

// TestRootsOfAJob: where threads have no sandbox, a job that asks for one has none in which
// its commands write what they must not.
func TestRootsOfAJob(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	cfg, y := inYard(t, modeltest.Start(t, fakemodel.Keywords), agent.Never, "plain")
	cfg.Thread.Sandbox = agent.FullAccess
	cfg.Apart = []within.Place{{Name: "HOME", Path: y.outside}}
	var loaded []within.Place
	cfg.Prepare = func(context.Context) (codex.Launch, error) {
		return codex.Launch{Env: cfg.Child.Env, Loaded: loaded}, nil
	}
	narrow := agent.Options{Sandbox: agent.WorkspaceWrite}
	wantEnd(t, submitWith(t, running(t, cfg), "beside", "run true", narrow).wait(t), agent.Completed, "")
	for name, place := range map[string]within.Place{
		"below":    {Name: "PATH", Path: filepath.Join(y.work, "bin")},
		"relative": {Name: "PATH", Path: "bin"},
	} {
		loaded = []within.Place{place}
		e := running(t, cfg)
		end := submitWith(t, e, name, "run touch "+name, narrow).wait(t)
		if end.Outcome != agent.Rejected || end.Failure == nil || !strings.Contains(end.Failure.Message, "of PATH lies") {
			t.Errorf("%s: %s, %+v", name, end.Outcome, end.Failure)
		}
		if _, err := os.Lstat(filepath.Join(y.work, name)); err == nil {
			t.Errorf("%s: it has run", name)
		}
		wantEnd(t, submitWith(t, e, name+"-read", "run true", agent.Options{Sandbox: agent.ReadOnly}).wait(t), agent.Completed, "")
	}
}
