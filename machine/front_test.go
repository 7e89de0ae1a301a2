package machine_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// refused checks that a request is refused.
func (c *tenant) refused(method, path string, body any, status int, code string) {
	c.g.t.Helper()
	if gotStatus, got := c.do(method, path, body, nil); got != code || gotStatus != status {
		c.g.t.Errorf("%s %s: %d %q, want %d %q", method, path, gotStatus, got, status, code)
	}
}

func shared(dir string) wire.Want { return wire.Want{Files: wire.FilesShared, Dir: dir} }

func file(place, name string) string {
	return "/v1/places/" + place + "/file?path=" + url.QueryEscape(name)
}

// TestSharedPlaces lie below the root, are there, and are of one runtime.
func TestSharedPlaces(t *testing.T) {
	g := start(t)
	c, other := g.tenant("r1", 1), g.tenant("r2", 1)
	root, outside := g.cfg.Root, t.TempDir()
	work := filepath.Join(root, "a", "work")
	if err := errors.Join(os.MkdirAll(work, 0o755), os.Symlink(work, filepath.Join(root, "inside")), os.Symlink(outside, filepath.Join(root, "out")),
		os.WriteFile(filepath.Join(root, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var place wire.Place
	c.must(http.MethodPut, "/v1/places/p1", shared(filepath.Join(root, "inside")), &place)
	if place.Dir != work {
		t.Errorf("the place is %+v", place)
	}
	for dir, want := range map[string]string{
		outside: wire.CodePath, filepath.Join(root, "out"): wire.CodePath, root + "/../": wire.CodePath, "/": wire.CodePath, root + "x": wire.CodeMissing,
		filepath.Join(root, "none"): wire.CodeMissing, filepath.Join(root, "file"): wire.CodeInvalid, "a": wire.CodeInvalid, "": wire.CodeInvalid,
	} {
		if _, code := c.do(http.MethodPut, "/v1/places/p2", shared(dir), nil); code != want {
			t.Errorf("a place in %q: %q, want %q", dir, code, want)
		}
	}
	c.refused(http.MethodPut, "/v1/places/p2", wire.Want{Files: wire.FilesGit}, http.StatusBadRequest, wire.CodeInvalid)
	c.refused(http.MethodPut, "/v1/places/p2", wire.Want{}, http.StatusBadRequest, wire.CodeFiles)
	c.refused(http.MethodPut, "/v1/places/..p", shared(root), http.StatusBadRequest, wire.CodeInvalid)
	c.must(http.MethodPut, file("p1", "made/for/it"), []byte("text"), nil)
	other.refused(http.MethodGet, file("p1", "made/for/it"), nil, http.StatusNotFound, wire.CodeMissing)
	other.refused(http.MethodPut, file("p1", "x"), []byte("x"), http.StatusNotFound, wire.CodeMissing)
	other.must(http.MethodDelete, "/v1/places/p1", nil, nil)
	var text []byte
	c.must(http.MethodGet, file("p1", "made/for/it"), nil, &text)
	if string(text) != "text" {
		t.Errorf("read %q", text)
	}
	c.must(http.MethodDelete, "/v1/places/p1", nil, nil)
	c.refused(http.MethodGet, file("p1", "made/for/it"), nil, http.StatusNotFound, wire.CodeMissing)
	if _, err := os.Stat(filepath.Join(work, "made/for/it")); err != nil {
		t.Errorf("what is shared was removed: %v", err)
	}
}

// TestFiles are read and written below their place, whole or not at all.
func TestFiles(t *testing.T) {
	g := start(t)
	c := g.tenant("r1", 1)
	work, outside := filepath.Join(g.cfg.Root, "work"), filepath.Join(g.cfg.Root, "outside")
	if err := errors.Join(os.Mkdir(work, 0o755), os.Mkdir(outside, 0o755), os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600),
		os.Symlink("../outside", filepath.Join(work, "out")), os.Symlink("../outside/secret", filepath.Join(work, "secret")),
		os.WriteFile(filepath.Join(work, "tool"), []byte("old"), 0o755), os.Truncate(mustFile(t, work, "large"), 100<<20+1)); err != nil {
		t.Fatal(err)
	}
	c.must(http.MethodPut, "/v1/places/p", shared(work), nil)
	for _, name := range []string{"../outside/secret", "/etc/hostname", "out/secret", "secret", "out/new", "", ".", "a/../..", "tool/x", "out"} {
		for _, method := range []string{http.MethodGet, http.MethodPut} {
			if method == http.MethodPut && (name == "secret" || name == "out") {
				continue // the link itself is replaced
			}
			if _, code := c.do(method, file("p", name), []byte("x"), nil); code != wire.CodePath {
				t.Errorf("%s %q: %q", method, name, code)
			}
		}
	}
	c.refused(http.MethodGet, file("p", "none"), nil, http.StatusNotFound, wire.CodeMissing)
	c.refused(http.MethodGet, file("p", "large"), nil, http.StatusRequestEntityTooLarge, wire.CodeTooLarge)
	c.refused(http.MethodPut, file("p", "tool"), bytes.Repeat([]byte("x"), 100<<20+1), http.StatusRequestEntityTooLarge, wire.CodeTooLarge)
	if text, err := os.ReadFile(filepath.Join(work, "tool")); string(text) != "old" || err != nil {
		t.Errorf("after a file that was too large: %d bytes, %v", len(text), err)
	}
	c.must(http.MethodPut, file("p", "tool"), []byte("new"), nil)
	if info, err := os.Stat(filepath.Join(work, "tool")); err != nil || info.Mode().Perm() != 0o755 || info.Size() != 3 {
		t.Errorf("a program that was written again: %v, %v", info.Mode(), err)
	}
	c.must(http.MethodPut, file("p", "secret"), []byte("mine"), nil)
	if text, err := os.ReadFile(filepath.Join(outside, "secret")); string(text) != "s" || err != nil {
		t.Errorf("by a link was written %q, %v", text, err)
	}
	left, err := filepath.Glob(filepath.Join(work, ".machine-*"))
	if len(left) > 0 || err != nil {
		t.Errorf("left is %q", left)
	}
}

func mustFile(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTurns are bounded over all runtimes, and their statuses say so at once.
func TestTurns(t *testing.T) {
	g := start(t)
	a, b := g.tenant("a", 1), g.tenant("b", 1)
	wa, wb := a.watch(), b.watch()
	a.must(http.MethodPut, "/v1/turns/1", wire.Turn{Place: "p"}, nil)
	a.must(http.MethodPut, "/v1/turns/1", wire.Turn{Place: "p"}, nil)
	b.must(http.MethodPut, "/v1/turns/1", wire.Turn{Place: "p"}, nil)
	b.refused(http.MethodPut, "/v1/turns/2", wire.Turn{}, http.StatusConflict, wire.CodeFull)
	wa.until("both turns", func(s wire.Status) bool { return s.Taken == 2 && s.Mine == 1 && s.Turns == 2 })
	a.must(http.MethodDelete, "/v1/turns/1", nil, nil)
	wb.until("one turn", func(s wire.Status) bool { return s.Taken == 1 && s.Mine == 1 })
	b.must(http.MethodPut, "/v1/turns/2", wire.Turn{}, nil)
	b.refused(http.MethodPut, "/v1/turns/a%2Fb", wire.Turn{}, http.StatusBadRequest, wire.CodeInvalid)
	b.refused(http.MethodPut, "/v1/turns/3", []byte("{"), http.StatusBadRequest, wire.CodeInvalid)
	b.refused(http.MethodPut, "/v1/turns/3", []byte(`{"place":"`+strings.Repeat("x", 1<<20)+`"}`), http.StatusRequestEntityTooLarge, wire.CodeTooLarge)
	b.refused(http.MethodGet, "/v1/nothing", nil, http.StatusNotFound, wire.CodeMissing)
}

// TestDrainIsKept: by whatever runtime it was said, over a restart.
func TestDrainIsKept(t *testing.T) {
	g := start(t)
	a, b := g.tenant("a", 1), g.tenant("b", 1)
	w := b.watch()
	a.must(http.MethodPut, "/v1/turns/1", wire.Turn{}, nil)
	b.must(http.MethodPut, "/v1/drain", wire.Drain{Draining: true}, nil)
	w.until("the drain", func(s wire.Status) bool { return s.Draining && s.Taken == 1 })
	a.must(http.MethodPut, "/v1/turns/1", wire.Turn{}, nil) // it runs
	a.refused(http.MethodPut, "/v1/turns/2", wire.Turn{}, http.StatusConflict, wire.CodeDraining)
	g.stop()
	next := run(t, g.cfg)
	a = next.tenant("a", 2)
	a.refused(http.MethodPut, "/v1/turns/2", wire.Turn{}, http.StatusConflict, wire.CodeDraining)
	a.must(http.MethodPut, "/v1/drain", wire.Drain{}, nil)
	a.must(http.MethodPut, "/v1/turns/2", wire.Turn{}, nil)
	next.stop()
	var now wire.Drain
	run(t, next.cfg).tenant("a", 3).must(http.MethodGet, "/v1/drain", nil, &now)
	if now.Draining {
		t.Error("it drains again")
	}
}

// TestQuit: turns go on that run, none begins, and the machine ends with the last.
func TestQuit(t *testing.T) {
	g := start(t)
	c := g.tenant("a", 1)
	w := c.watch()
	c.must(http.MethodPut, "/v1/turns/1", wire.Turn{}, nil)
	argv, alive := g.command("it")
	c.exec().start("p1", argv)
	wait(t, "the command to run", alive)
	close(g.quit)
	w.until("the drain", func(s wire.Status) bool { return s.Draining })
	c.refused(http.MethodPut, "/v1/turns/2", wire.Turn{}, http.StatusConflict, wire.CodeDraining)
	if !alive() {
		t.Error("the command was ended")
	}
	select {
	case <-g.ended:
		t.Error("the machine has ended with a turn")
	default:
	}
	c.must(http.MethodDelete, "/v1/turns/1", nil, nil)
	w.ended()
	select {
	case <-g.ended:
	case <-time.After(progtest.Patience):
		t.Fatal("the machine does not end")
	}
	if g.err != nil || alive() {
		t.Errorf("%v; the command lives: %v", g.err, alive())
	}
}

// TestQuitHasAnEnd: turns that take too long are cut off.
func TestQuitHasAnEnd(t *testing.T) {
	g := start(t, func(cfg *machine.Config) { cfg.Drain = 50 * time.Millisecond })
	c := g.tenant("a", 1)
	w := c.watch()
	c.must(http.MethodPut, "/v1/turns/1", wire.Turn{}, nil)
	close(g.quit)
	w.ended()
	<-g.ended
	if !strings.Contains(g.log.String(), "turns are cut off") {
		t.Error("the log does not say so")
	}
}

// TestTrouble is said, with what to do, and passes.
func TestTrouble(t *testing.T) {
	bin := ""
	g := start(t, func(cfg *machine.Config) { bin, cfg.Bin = cfg.Bin, filepath.Join(cfg.Root, "codex") })
	c := g.tenant("a", 1)
	w := c.watch()
	w.until("the trouble", func(s wire.Status) bool { return strings.Contains(s.Trouble, "CODEX_BIN") })
	c.refused(http.MethodPut, "/v1/turns/1", wire.Turn{}, http.StatusServiceUnavailable, wire.CodeTrouble)
	if _, res, err := c.dial(token); err == nil || res == nil || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a WebSocket without codex: %v", err)
	}
	if err := os.Symlink(bin, filepath.Join(g.cfg.Root, "codex")); err != nil {
		t.Fatal(err)
	}
	w.until("the end of the trouble", func(s wire.Status) bool { return s.Trouble == "" && s.Codex != "" })
	c.must(http.MethodPut, "/v1/turns/1", wire.Turn{}, nil)
}

// TestOneOfAStateDirectory: a second machine is refused.
func TestOneOfAStateDirectory(t *testing.T) {
	g := start(t)
	cfg := g.cfg
	cfg.Joined = func(machine.Join) { t.Error("a second machine listens") }
	if err := machine.Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "in use by another") {
		t.Errorf("%v", err)
	}
}

// TestCommandsOfAnEarlierLife: what a machine that was killed has left is ended by the next.
func TestCommandsOfAnEarlierLife(t *testing.T) {
	g := start(t)
	id, err := os.ReadFile(filepath.Join(g.cfg.State, "id"))
	if err != nil {
		t.Fatal(err)
	}
	g.stop()
	mine, aliveMine := g.command("mine")
	theirs, aliveTheirs := g.command("theirs")
	leave(t, mine, "MOLECULE_MACHINE_RUNTIME="+strings.TrimSpace(string(id))+"/r1")
	leave(t, theirs, "MOLECULE_MACHINE_RUNTIME=another/r1")
	wait(t, "both to run", func() bool { return aliveMine() && aliveTheirs() })
	run(t, g.cfg)
	if aliveMine() || !aliveTheirs() {
		t.Errorf("of this machine: %v, of another one: %v", aliveMine(), aliveTheirs())
	}
}
