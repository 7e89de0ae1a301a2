package settings

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// A host is what the defaults want to know of the machine.
type host interface {
	cwd() (string, error)
	home() string // that the account has, whatever HOME says; empty if it is not known
	isDir(path string) bool
	program() string              // this one's file, as it was called; empty if it is not known
	within(dir, path string) bool // as within.Dir has it
	canWrite(dir string) bool
	canRun(file string) bool
	user(name string) (*asuser.User, error)
}

type osHost struct{}

func (osHost) cwd() (string, error) { return os.Getwd() }

func (osHost) home() string {
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		return u.HomeDir
	}
	return ""
}

func (osHost) isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (osHost) program() string {
	file, _ := os.Executable()
	called, err := exec.LookPath(os.Args[0])
	if abs, errAbs := filepath.Abs(called); err == nil && errAbs == nil && within.Real(abs) == within.Real(file) {
		return abs // the links on the way count, too
	}
	return file
}

func (osHost) within(dir, path string) bool { return within.Dir(dir, path) }

func (h osHost) canWrite(dir string) bool { return h.isDir(dir) && unix.Access(dir, unix.W_OK) == nil }

func (osHost) canRun(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && unix.Access(file, unix.X_OK) == nil
}

func (osHost) user(name string) (*asuser.User, error) { return asuser.Lookup(name) }
