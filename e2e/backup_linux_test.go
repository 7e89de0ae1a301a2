package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// uninterrupted counts the processes below a program that the system does not interrupt.
func uninterrupted(pid int) (n int) {
	for _, p := range progtest.Descendants(pid) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p))
		if strings.Contains(string(status), "\nState:\tD") {
			n++
		}
	}
	return n
}

// TestBackupBesideHeldProcesses: commands that cannot be stopped, since each waits for what it
// has started as vfork does, keep nobody from a backup, nor does a file of any length that has
// nothing of the disk.
func TestBackupBesideHeldProcesses(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	clone, known := map[string]int{"amd64": 56, "arm64": 220}[runtime.GOARCH]
	if !known {
		t.Skip("no number of clone for " + runtime.GOARCH)
	}
	p := start(t)
	const deep = 5
	p.send("m1", "one", fmt.Sprintf(`background perl -e 'for (1..%d) { last if syscall(%d, 0x4011, 0, 0, 0, 0) } sleep 1000'`, deep, clone))
	progtest.WaitFor(t, "processes that wait for their children", func() bool { return uninterrupted(p.Pid()) == deep })
	p.send("m2", "two", "run truncate -s 4T gap")
	cmd := exec.Command("sh", filepath.Join(codextest.Root(t), "deploy", "backup.sh"), p.State, p.State, p.Work)
	cmd.Env = append(os.Environ(), "BACKUP_LIMIT=60")
	var said bytes.Buffer
	cmd.Stderr = &said
	archive, err := cmd.Output()
	if err != nil || len(archive) == 0 {
		t.Errorf("%v: %s", err, said.String())
	}
	if got := text(p.send("m3", "two", "say after")); got != "after" {
		t.Errorf("afterwards it answers %q", got)
	}
}

// backup is the script for a state directory and a working directory, with some programs of its PATH
// in the place of the system's.
func backup(t *testing.T, state, work string, programs map[string]string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(codextest.Root(t), "deploy", "backup.sh"), state, state, work)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "BACKUP_LIMIT=600")
	return cmd
}

// TestBackupOfManyNames: files that commands make, of any number and name, hold nothing up and are
// in the backup.
func TestBackupOfManyNames(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	const many = 30_000
	odd := []string{"-rf", " ", "*", "new\nline", `a\nb`, `a\057..\057..\057b`}
	for _, name := range odd {
		if err := os.WriteFile(filepath.Join(p.Work, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.send("m1", "one", fmt.Sprintf(`run seq -f f%%080.0f %d | xargs touch`, many))
	cmd := backup(t, p.State, p.Work, nil)
	var said bytes.Buffer
	cmd.Stderr = &said
	archive, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for members := tar.NewReader(zipped); ; {
		header, err := members.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names[strings.TrimPrefix(header.Name, "."+p.Work+"/")] = true
	}
	if len(names) < many {
		t.Errorf("it has %d names", len(names))
	}
	for _, name := range odd {
		if !names[name] {
			t.Errorf("it does not have %q", name)
		}
	}
}

// TestBackupThatListsNothing: a directory whose names cannot be read is missed, and not left out.
func TestBackupThatListsNothing(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	if err := os.WriteFile(filepath.Join(state, "state.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := backup(t, state, state, map[string]string{"find": "exit 1"})
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "not all could be listed") || !strings.Contains(said.String(), "no whole archive") {
		t.Errorf("%v: %s", err, said.String())
	}
}

// TestBackupThatHangs: whatever of a backup does not end, the runtime goes on after the limit.
func TestBackupThatHangs(t *testing.T) {
	t.Parallel()
	awk, err := exec.LookPath("awk")
	if err != nil {
		t.Fatal(err)
	}
	sed, err := exec.LookPath("sed")
	if err != nil {
		t.Fatal(err)
	}
	for hangs, program := range map[string]string{
		"tar":  "[ \"$1\" != --version ] || { echo GNU; exit; }\nhang",
		"find": "hang",
		"awk":  "case \"$*\" in *LEASE*) hang ;; *) exec " + awk + " \"$@\" ;; esac", // the shell waits for it
	} {
		t.Run(hangs, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			hung := filepath.Join(t.TempDir(), "hung") // the time is up once it hangs
			cmd := backup(t, p.State, p.Work, map[string]string{
				hangs: fmt.Sprintf("hang() { >%s; exec sleep 4711; }\n%s", hung, program),
				"sed": fmt.Sprintf("case $* in *uptime) [ -e %s ] && echo 601 || echo 0 ;; *) exec %s \"$@\" ;; esac", hung, sed),
			})
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = io.Discard, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var hanging int
			progtest.WaitFor(t, "what hangs", func() bool {
				hanging = progtest.Find(cmd.Process.Pid, "sleep 4711")
				return hanging != 0
			})
			if got := text(p.send("m1", "one", "say after")); got != "after" {
				t.Errorf("afterwards it answers %q", got)
			}
			_ = syscall.Kill(hanging, syscall.SIGKILL) // so that its output has an end
			if err := cmd.Wait(); err == nil || !strings.Contains(said.String(), "longer than 600 s") {
				t.Errorf("%v: %s", err, said.String())
			}
		})
	}
}

// copying is a backup that copies once its gate is opened.
type copying struct {
	*exec.Cmd
	gate  *os.File
	said  bytes.Buffer
	ended chan error
}

// startCopying has a backup begin, which comes to its gate.
func startCopying(t *testing.T, p *program) *copying {
	t.Helper()
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := exec.LookPath("tar")
	if err != nil {
		t.Fatal(err)
	}
	tar := fmt.Sprintf("[ \"$1\" = --version ] || read -r _ <%s || :\nexec %s \"$@\"", gate, whole)
	c := &copying{Cmd: backup(t, p.State, p.Work, map[string]string{"tar": tar}), ended: make(chan error, 1)}
	c.Stdout, c.Stderr = io.Discard, &c.said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.ended <- c.Wait() }()
	progtest.WaitFor(t, "a backup to copy", func() bool {
		select {
		case err := <-c.ended:
			t.Fatalf("%v: %s", err, c.said.String())
		default:
		}
		c.gate, err = os.OpenFile(gate, os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails until it is read
		return err == nil
	})
	return c
}

// end has it copy, and tells what became of it.
func (c *copying) end() error {
	c.gate.Close()
	return <-c.ended
}

// signal has the program stop or go on, and waits until it has.
func signal(t *testing.T, p *program, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.Pid(), s); err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "the program to have "+s.String(), func() bool { return standsStill(t, p) == (s == syscall.SIGSTOP) })
}

// TestBackupBesideAnother: a second one does not begin, which the end of the first would have
// copy what works. A lock, which any user of the machine can take, keeps none from beginning.
func TestBackupBesideAnother(t *testing.T) {
	t.Parallel()
	p := start(t)
	refused := func() {
		t.Helper()
		cmd := backup(t, p.State, p.Work, nil)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = io.Discard, &said
		if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "stands still already") || !standsStill(t, p) {
			t.Errorf("%v: %s", err, said.String())
		}
	}
	first := startCopying(t, p)
	refused()
	if err := first.end(); err != nil {
		t.Errorf("%v: %s", err, first.said.String())
	}

	signal(t, p, syscall.SIGSTOP)
	refused()
	signal(t, p, syscall.SIGCONT)

	process, err := os.Open(fmt.Sprintf("/proc/%d", p.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	defer process.Close()
	if err := syscall.Flock(int(process.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	cmd := backup(t, p.State, p.Work, nil)
	var said bytes.Buffer
	cmd.Stderr = &said
	if out, err := cmd.Output(); err != nil || len(out) == 0 {
		t.Errorf("in the end: %v: %s", err, said.String())
	}
}

// TestBackupOfWhatGoesOn: what was copied while the runtime worked is no backup, as where another
// that began in the same moment has let it go on, and also where a third has stopped it again.
func TestBackupOfWhatGoesOn(t *testing.T) {
	t.Parallel()
	p := start(t)
	for name, signals := range map[string][]syscall.Signal{
		"goes on":          {syscall.SIGCONT},
		"is stopped again": {syscall.SIGCONT, syscall.SIGSTOP},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCopying(t, p)
			for _, s := range signals {
				signal(t, p, s)
			}
			if err := c.end(); err == nil || !strings.Contains(c.said.String(), "let the runtime go on") || standsStill(t, p) {
				t.Errorf("%v: %s", err, c.said.String())
			}
		})
	}
}

// TestBackupOfACodexThatGoesOn: its commands are its user, who lets it go on.
func TestBackupOfACodexThatGoesOn(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send("m1", "one", "say hello")
	c := startCopying(t, p)
	codex := p.Codex()
	for _, s := range []syscall.Signal{syscall.SIGCONT, syscall.SIGSTOP} {
		if err := syscall.Kill(codex, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.end(); err == nil || !strings.Contains(c.said.String(), "or its codex") {
		t.Errorf("%v: %s", err, c.said.String())
	}
	if got := text(p.send("m2", "one", "say after")); got != "after" {
		t.Errorf("afterwards it answers %q", got)
	}
}

// TestBackupBesideABegin: what was copied while a runtime began, which had not been there, is none.
func TestBackupBesideABegin(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.Kill()
	c := startCopying(t, p)
	p.Program = p.Restart()
	if err := c.end(); err == nil || !strings.Contains(c.said.String(), "a runtime has begun") {
		t.Errorf("%v: %s", err, c.said.String())
	}
}

// TestBackupHasNoLock: the lock would be in it by another name than it is left out by.
func TestBackupHasNoLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state, link := filepath.Join(dir, "st[1]"), filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(state, 0o700), os.WriteFile(filepath.Join(state, "state.lock"), nil, 0o600), os.Symlink(state, link)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		state, says string
		dirs        []string
	}{
		"not among them": {state, "named as that is", []string{t.TempDir()}},
		"a link":         {link, "by another name", []string{state}},
		"both":           {state, "by another name", []string{state, link}},
		"two slashes":    {dir + "//st[1]", "without //", []string{dir}},
		"a way back":     {state, "without //", []string{dir, dir + "/../" + filepath.Base(dir)}},
		"brackets":       {state, "", []string{state}},
	} {
		cmd := backup(t, c.state, state, nil)
		cmd.Args = append(cmd.Args[:3], c.dirs...)
		var said, archive bytes.Buffer
		cmd.Stdout, cmd.Stderr = &archive, &said
		err := cmd.Run()
		if (err == nil) != (c.says == "") || !strings.Contains(said.String(), c.says) {
			t.Errorf("%s: %v: %s", name, err, said.String())
		}
		list := exec.CommandContext(t.Context(), "tar", "-tz")
		list.Stdin = &archive
		if listed, _ := list.Output(); strings.Contains(string(listed), "state.lock") { // of nothing there is none
			t.Errorf("%s: the archive has %s", name, listed)
		}
	}
}

// TestBackupThatIsKilled: the runtime does not stand still until the limit.
func TestBackupThatIsKilled(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := startCopying(t, p)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := text(p.send("m1", "one", "say after")); got != "after" {
		t.Errorf("afterwards it answers %q", got)
	}
	if err := c.end(); err == nil {
		t.Error("it succeeds")
	}
}

func standsStill(t *testing.T, p *program) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(status), "\nState:\tT")
}
