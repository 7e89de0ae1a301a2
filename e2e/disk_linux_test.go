package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// volume returns a state directory on a disk of its own, of so many MiB.
func volume(t *testing.T, mib int) string {
	dir := codextest.Dir(t, "volume")
	err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, fmt.Sprintf("size=%dm", mib))
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root can mount a disk: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "state")
}

// TestReadinessKnowsTheReserve: while the store takes no message for want of room,
// /readyz says so, and its metric too; when there is room again, so do they.
func TestReadinessKnowsTheReserve(t *testing.T) {
	state := volume(t, 40)
	p := start(t, "RUNTIME_STATE_DIR="+state)
	progtest.WaitFor(t, "readiness", func() bool { code, _ := p.fetch("/readyz"); return code == http.StatusOK })
	p.send("m1", "c", "say hello")
	filler := filepath.Join(filepath.Dir(state), "filler")
	if err := os.WriteFile(filler, make([]byte, 26<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := p.call("SendMessage", object{"message": message("m2", "c", "say hello")})
	code, body := p.fetch("/readyz")
	if at(refused, "error", "code") != float64(-32000) || code != http.StatusServiceUnavailable || !strings.Contains(body, "16 MiB are kept for turns that run") {
		t.Errorf("the message is answered %v, and /readyz %d %s", refused, code, body)
	}
	if got := p.scrape(); got["molecule_codex_ready"] != 0 || got[`molecule_codex_check{check="state"}`] != 0 {
		t.Errorf("ready: %v, check: %v", got["molecule_codex_ready"], got[`molecule_codex_check{check="state"}`])
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if code, body := p.fetch("/readyz"); code != http.StatusOK {
		t.Errorf("with room again, /readyz says %d %s", code, body)
	}
	p.send("m2", "c", "say hello")
}

// TestDiskTooSmall: what can never accept a message is told at the start.
func TestDiskTooSmall(t *testing.T) {
	p := start(t, "RUNTIME_STATE_DIR="+volume(t, 12))
	progtest.WaitFor(t, "words about the disk", func() bool {
		return strings.Contains(p.Log(), "its disk has 12 MiB in all, and 16 MiB of it are kept free for turns that run: no message is ever accepted on it")
	})
	if code, body := p.fetch("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %d %s", code, body)
	}
}

// TestMessagesWithoutFilesAreTakenLonger: where the disk of the state is short of room, none
// that brings a file is taken any more, and others are.
func TestMessagesWithoutFilesAreTakenLonger(t *testing.T) {
	state := volume(t, 60)
	p := start(t, "RUNTIME_STATE_DIR="+state)
	bring := func(id string) object {
		file := object{"raw": "eA==", "filename": id}
		return p.call("SendMessage", object{"message": object{"messageId": id, "role": "ROLE_USER", "parts": []object{{"text": "say hello"}, file}}})
	}
	p.task(bring("m1"))
	filler := filepath.Join(filepath.Dir(state), "filler")
	if err := os.WriteFile(filler, make([]byte, 35<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := bring("m2")
	if words, _ := at(refused, "error", "message").(string); at(refused, "error", "code") != float64(-32000) || !strings.Contains(words, "could not be stored: the runtime's disk is full") {
		t.Errorf("a message with a file is answered %v", refused)
	}
	p.send("m3", "c", "say hello")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	p.task(bring("m2"))
}

// TestFullDiskForgetsNothing: what was said while all disks were full holds after a kill. A tool
// that has begun is not begun again, nor what has ended, and what was canceled never begins.
func TestFullDiskForgetsNothing(t *testing.T) {
	disk := filepath.Dir(volume(t, 80))
	dirs := map[string]string{}
	for _, name := range []string{"state", "home", "work"} {
		dirs[name] = filepath.Join(disk, name)
		if err := os.Mkdir(dirs[name], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	full := make(chan struct{})
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		<-full
		fakemodel.Keywords(turn)
	})
	p := startOn(t, binary, model, "RUNTIME_STATE_DIR="+dirs["state"], "CODEX_HOME="+dirs["home"], "RUNTIME_WORKDIR="+dirs["work"], "CODEX_APPROVAL_POLICY=never")
	long := "commentary " + strings.Repeat("word ", 1500) + "\nrun "
	done := p.begin("m1", "one", long+"echo ended >> one\nsay done")
	queued := p.begin("m2", "one", "run echo canceled >> one")
	shown := p.stream(t.Context(), "SendStreamingMessage", object{"message": message("m3", "two", long+"echo ran >> two; until [ -e go ]; do sleep 0.1; done")})
	running, _ := at(shown.next(), "task").(object)
	p.modelAsked(2)
	for _, name := range []string{"one", "two"} {
		writeFile(t, filepath.Join(dirs["work"], name), "effects:\n") // a block that can take more on a full disk
	}
	filler := filepath.Join(disk, "filler")
	fillUp(t, filler)
	close(full)
	if end := p.ended(done["id"]); state(end) != "TASK_STATE_COMPLETED" {
		t.Errorf("on the full disk a turn ended with %v", end)
	}
	if c := p.call("CancelTask", object{"id": queued["id"]}); at(c, "result", "status", "state") != "TASK_STATE_CANCELED" {
		t.Errorf("on the full disk a cancel is answered %v", c)
	}
	shown.until("command") // noted, so that a kill does not make us forget it
	progtest.WaitFor(t, "the tool to begin", func() bool { return strings.Contains(contents(t, filepath.Join(dirs["work"], "two")), "ran") })
	if refused := p.call("SendMessage", object{"message": message("m9", "three", "say hello")}); at(refused, "error", "code") != float64(-32000) {
		t.Errorf("on the full disk a message is answered %v", refused)
	}
	p.Kill()
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	p = &program{Program: p.Restart(), Model: p.Model, t: t}
	for want, id := range map[string]any{"TASK_STATE_COMPLETED": done["id"], "TASK_STATE_CANCELED": queued["id"], "TASK_STATE_FAILED": running["id"]} {
		if end := p.ended(id); state(end) != want {
			t.Errorf("after the kill a task is %s, want %s: %v", state(end), want, end)
		}
	}
	for name, want := range map[string]string{"one": "effects:\nended\n", "two": "effects:\nran\n"} {
		if got := contents(t, filepath.Join(dirs["work"], name)); got != want {
			t.Errorf("what was done in %s: %q, want %q", name, got, want)
		}
	}
}

// fillUp makes a file of all that is left of its disk.
func fillUp(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for piece := make([]byte, 1<<20); len(piece) > 0; {
		if _, err := file.Write(piece); err != nil {
			piece = piece[:len(piece)/2]
		}
	}
}
