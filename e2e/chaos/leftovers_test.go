package chaos

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// books reads what the closed program has left in its database.
func (a *auditor) books(ctx context.Context, dir string) {
	s, err := store.Open(ctx, store.Config{Dir: dir, Reserve: -1})
	if err != nil {
		a.ledger.fault("%v", err)
		return
	}
	defer s.Close()
	if err := s.Check(ctx); err != nil {
		a.ledger.fault("%v", err)
	}
	open, err := s.Unfinished(ctx)
	if err != nil {
		a.ledger.fault("%v", err)
	}
	for _, p := range open {
		a.ledger.fault("task %s is %s in the database, with %d messages waiting and %d questions", p.Task.ID, p.Task.State, len(p.Messages), len(p.Questions))
	}
	sizes, err := s.Sizes(ctx)
	if err != nil {
		a.ledger.fault("%v", err)
	}
	if sizes.Waiting != 0 || sizes.Outbox != 0 || sizes.Tasks != len(a.shared) {
		a.ledger.fault("the database holds %d tasks, %d waiting messages, %d deliveries; want %d, 0, 0", sizes.Tasks, sizes.Waiting, sizes.Outbox, len(a.shared))
	}
}

// mountPoints are what the sandbox of codex lays over a working directory: empty folders, which
// it takes away unless it is killed, or ones that the runtime keeps with a .gitignore.
var mountPoints = []string{".agents", ".aws", ".codex", ".git"}

// files checks that nothing is left in a directory but what belongs there.
func (a *auditor) files(dir string, known ...string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		a.ledger.fault("%v", err)
	}
	for _, entry := range entries {
		inside, err := os.ReadDir(filepath.Join(dir, entry.Name()))
		unused := err == nil && (len(inside) == 0 || len(inside) == 1 && inside[0].Name() == ".gitignore")
		if slices.Contains(known, entry.Name()) || unused && slices.Contains(mountPoints, entry.Name()) {
			continue
		}
		a.ledger.fault("%s is left in %s", entry.Name(), dir)
	}
}

// processes checks that none is left that has the mark in its environment.
func (a *auditor) processes(mark string) {
	for _, pid := range marked(mark, map[int]bool{os.Getpid(): true}) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		a.ledger.fault("process %d is left: %q", pid, line)
	}
}

// marked are the processes that have the mark in their environment, but for some.
func marked(mark string, but map[int]bool) (found []int) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environ, []byte(mark)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && !but[pid] {
			found = append(found, pid)
		}
	}
	return found
}
