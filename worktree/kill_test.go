package worktree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

const (
	partVariable = "WORKTREE_TEST_PART"
	dirVariable  = "WORKTREE_TEST_DIR"
)

// otherProcess is this program as another process, which is killed or has no room.
func otherProcess(part string) {
	root := os.Getenv(dirVariable)
	if part == "full" {
		signal.Ignore(syscall.SIGXFSZ) // what is started has it ignored, too
		limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Println(err)
			return
		}
	}
	ctx := context.Background()
	r, err := worktree.Open(ctx, worktree.Config{Dir: filepath.Join(root, "r")})
	if err != nil {
		fmt.Println("open:", err)
		return
	}
	tree, err := r.Add(ctx, "c", filepath.Join(root, "tree"))
	if err != nil {
		fmt.Println("add:", err)
		return
	}
	switch part {
	case "full":
		_, err := tree.Commit(ctx, worktree.Change{Message: "m", Author: author})
		fmt.Println("commit:", errors.Is(err, worktree.ErrFull), err)
		text, _ := os.ReadFile(filepath.Join(root, "bundle"))
		_, err = r.Absorb(ctx, bytes.NewReader(text), "main", 1<<30)
		fmt.Println("absorb:", errors.Is(err, worktree.ErrFull), err)
	case "work":
		work(ctx, r, tree, root)
	}
}

// work commits, resets and absorbs until it is killed. A line says what is done for good.
func work(ctx context.Context, r *worktree.Repository, tree *worktree.Tree, root string) {
	text, err := os.ReadFile(filepath.Join(root, "bundle"))
	for i := 0; err == nil; i++ {
		for n := range 20 {
			name := filepath.Join(tree.Dir(), fmt.Sprintf("f%d", n))
			err = errors.Join(err, os.WriteFile(name, fmt.Appendf(nil, "%d %d", os.Getpid(), i), 0o600))
		}
		var done worktree.Committed
		if done, err = tree.Commit(ctx, worktree.Change{Message: "m", Author: author}); err != nil {
			break
		}
		fmt.Println("committed", done.Head)
		if _, err = r.Absorb(ctx, bytes.NewReader(text), "main", 1<<30); err == nil {
			err = r.Drop(ctx, "main")
		}
		if err == nil && i%3 == 0 {
			if err = tree.Reset(ctx, os.Getenv("WORKTREE_TEST_FIRST"), false); err == nil {
				fmt.Println("committed", os.Getenv("WORKTREE_TEST_FIRST"))
			}
		}
	}
	fmt.Println("work:", err)
}

// scene is a repository with a tree, and a bundle that can be absorbed.
func scene(t *testing.T) (root, first string) {
	t.Helper()
	root = t.TempDir()
	r := openAt(t, filepath.Join(root, "r"))
	first, err := r.Begin(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	src := operators(t)
	var noise bytes.Buffer
	for range 20000 {
		fmt.Fprint(&noise, rand.Uint64())
	}
	write(t, noise.String(), src, "noise")
	git(t, src, "add", "-A")
	git(t, src, "commit", "--quiet", "-m", "noise")
	git(t, src, "bundle", "create", filepath.Join(root, "bundle"), "main")
	return root, first
}

func otherPart(t *testing.T, part, root, first string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), partVariable+"="+part, dirVariable+"="+root, "WORKTREE_TEST_FIRST="+first)
	return cmd
}

// TestKills: wherever a process is killed, with or without the git that it has started, the next one goes on, and has every
// commit that was told.
func TestKills(t *testing.T) {
	root, first := scene(t)
	const rounds = 12
	for round := range rounds {
		cmd := otherPart(t, "work", root, first)
		var said bytes.Buffer
		cmd.Stdout = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(50+rand.IntN(600))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // it was killed
		timer.Stop()
		if round%2 == 0 {
			killGits(t, root)
		}
		if strings.Contains(said.String(), ":") {
			t.Fatalf("round %d: %s", round, &said)
		}
		r := openAt(t, filepath.Join(root, "r"))
		tree, err := r.Add(t.Context(), "c", filepath.Join(root, "tree"))
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		write(t, fmt.Sprint(round), tree.Dir(), "round")
		done := commit(t, tree)
		if got := git(t, r.Dir(), "show", done.Head+":round"); got != fmt.Sprint(round) {
			t.Errorf("round %d: the commit has %q", round, got)
		}
		if lines := strings.Fields(said.String()); len(lines) > 0 {
			last := lines[len(lines)-1]
			if len(last) == 40 && git(t, r.Dir(), "cat-file", "-t", last) != "commit" {
				t.Errorf("round %d: %s is lost", round, last)
			}
		}
		text, err := os.ReadFile(filepath.Join(root, "bundle"))
		if err != nil {
			t.Fatal(err)
		}
		absorb(t, r, "main", text)
		fsck(t, r)
		if out := git(t, tree.Dir(), "status", "--porcelain"); out != "" {
			t.Errorf("round %d: a git of a command's own says %q", round, out)
		}
	}
	killGits(t, root)
	gone := func() bool {
		left, _ := filepath.Glob(filepath.Join(openAt(t, filepath.Join(root, "r")).Dir(), "runtime-incoming/*"))
		return len(left) == 0
	}
	for !gone() { // what was killed takes a moment to let go
	}
}

// killGits kills the git processes that work below a folder.
func killGits(t *testing.T, root string) {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		text, _ := os.ReadFile(path)
		if bytes.Contains(text, []byte("GIT_DIR="+root)) {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestFullDisk: nothing is committed, and the repository is as it was.
func TestFullDisk(t *testing.T) {
	root, first := scene(t)
	r := openAt(t, filepath.Join(root, "r"))
	tree, err := r.Add(t.Context(), "c", filepath.Join(root, "tree"))
	if err != nil {
		t.Fatal(err)
	}
	var noise bytes.Buffer
	for range 20000 {
		fmt.Fprint(&noise, rand.Uint64())
	}
	write(t, noise.String(), tree.Dir(), "noise")
	write(t, "small", tree.Dir(), "small")
	out, err := otherPart(t, "full", root, first).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "commit: true") || !strings.Contains(string(out), "absorb: true") {
		t.Errorf("%v\n%s", err, out)
	}
	if headOf(t, r, "c") != first || headOf(t, r, "main") != "" {
		t.Error("a branch was moved")
	}
	sound(t, r)
	if done := commit(t, tree); files(t, r, done.Head) != "100644 noise\n100644 small" {
		t.Error(files(t, r, done.Head))
	}
}

// TestLocksLeft are removed if they are old and no process has them, and waited for if not.
func TestLocksLeft(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name, path string
		at         time.Time
	}{
		{"of the index", "worktrees/*/index.lock", old}, {"of the branch", "refs/heads/c.lock", old},
		{"of the tree's HEAD", "worktrees/*/HEAD.lock", old}, {"of all refs", "packed-refs.lock", old},
		{"of the index, just now", "worktrees/*/index.lock", time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, tree := begun(t, "c")
			if err := r.Branch(t.Context(), "other", headOf(t, r, "c")); err != nil {
				t.Fatal(err)
			}
			path := strings.Replace(filepath.Join(r.Dir(), c.path), filepath.Join(r.Dir(), "worktrees/*"), admin(t, r), 1)
			write(t, "", path)
			if err := os.Chtimes(path, c.at, c.at); err != nil { // no time leaves it as it is
				t.Fatal(err)
			}
			write(t, "x", tree.Dir(), "f")
			start := time.Now()
			if done := commit(t, tree); !done.Changed {
				t.Errorf("%+v", done)
			}
			if err := r.Drop(t.Context(), "other"); err != nil {
				t.Error(err)
			}
			if c.at != old && time.Since(start) < time.Second {
				t.Error("a lock that may be in use was not waited for")
			}
			sound(t, r)
		})
	}
}

// TestLockInUse is not taken from the git that a command has started, nor from one of ours that outlives us.
func TestLockInUse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("who has a file open is not known here")
	}
	r, tree := begun(t, "c")
	write(t, "x", tree.Dir(), "f")
	change := worktree.Change{Message: "m", Author: author}
	path := filepath.Join(admin(t, r), "index.lock")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := tree.Commit(ctx, change); !errors.Is(err, worktree.ErrLocked) {
		t.Errorf("a process has the lock open: %v", err)
	}
	if err := errors.Join(file.Close(), os.Remove(path)); err != nil {
		t.Fatal(err)
	}

	holds, _ := filepath.Glob(filepath.Join(r.Dir(), "runtime-locks/*"))
	if len(holds) != 1 {
		t.Fatalf("there are %q", holds)
	}
	held, err := os.OpenFile(holds[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	survivor := exec.Command("cat")
	in, err := survivor.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	survivor.ExtraFiles = []*os.File{held}
	if err := survivor.Start(); err != nil {
		t.Fatal(err)
	}
	_ = held.Close()
	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := tree.Commit(ctx, change); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("a git of an earlier process is at work: %v", err)
	}
	_ = in.Close()
	_ = survivor.Wait()
	if done := commit(t, tree); !done.Changed {
		t.Errorf("%+v", done)
	}
}

// TestContextEnds a git that is at work, and all that it has started.
func TestContextEnds(t *testing.T) {
	r, tree := begun(t, "c")
	pipe := filepath.Join(t.TempDir(), "git")
	script := write(t, "#!/bin/sh\ncase \"$1\" in update-index) sleep 600 & echo started >"+pipe+"; wait;; *) exec "+gitProgram(t)+" \"$@\";; esac\n", t.TempDir(), "git")
	chmod(t, 0o755, script)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(script)+":"+os.Getenv("PATH"))
	slow := openAt(t, r.Dir())
	again, err := slow.Add(t.Context(), "c", tree.Dir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, "x", tree.Dir(), "f")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, _ = os.ReadFile(pipe)
		cancel()
	}()
	if _, err := again.Commit(ctx, worktree.Change{Message: "m", Author: author}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if done := commit(t, tree); !done.Changed { // which waits for all that has the lock
		t.Errorf("%+v", done)
	}
}

// TestGitOutlivesUs: what a killed process has started keeps its branch, until it has ended.
func TestGitOutlivesUs(t *testing.T) {
	root, first := scene(t)
	dir := t.TempDir()
	begun, goOn := filepath.Join(dir, "begun"), filepath.Join(dir, "go-on")
	script := write(t, "#!/bin/sh\ncase \"$1\" in commit-tree) echo begun >"+begun+"; read -r line <"+goOn+";; esac\nexec "+gitProgram(t)+" \"$@\"\n", dir, "git")
	chmod(t, 0o755, script)
	for _, pipe := range []string{begun, goOn} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := otherPart(t, "work", root, first)
	cmd.Env = append(cmd.Env, "PATH="+dir+":"+os.Getenv("PATH"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(begun); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill() // it runs
	_ = cmd.Wait()
	r := openAt(t, filepath.Join(root, "r"))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := r.Add(ctx, "c", filepath.Join(root, "tree")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("its git is at work: %v", err)
	}
	if err := os.WriteFile(goOn, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, err := r.Add(t.Context(), "c", filepath.Join(root, "tree"))
	if err != nil {
		t.Fatal(err)
	}
	if done := commit(t, tree); !done.Changed {
		t.Errorf("%+v", done)
	}
}
