package preflight

import (
	"bufio"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// Codex checks that bin is a codex of the wanted version and starts in the
// given environment, as the user that it is to run as. If it does not, the answer says why:
// a missing file, a missing permission and a foreign architecture look alike to who runs it.
func Codex(bin, version string, env []string, user *asuser.User) Check {
	return Check{"codex", func(ctx context.Context) Result { return checkCodex(ctx, bin, version, env, user) }}
}

func checkCodex(ctx context.Context, bin, version string, env []string, user *asuser.User) Result {
	get := "install it (make codex, or npm install -g @openai/codex@" + version + ") and point CODEX_BIN at it"
	if why := unstartable(bin); why != "" {
		return fail(why, get)
	}
	out, said, err := command{argv: []string{bin, "--version"}, user: user, env: env, limit: 10 * time.Second}.run(ctx)
	if err != nil {
		return fail(strings.TrimSpace(fmt.Sprintf("%s --version: %v %s", bin, err, said)), get)
	}
	found := strings.TrimSpace(out)
	name, number, _ := strings.Cut(found, " ")
	switch {
	case name != "codex-cli":
		return fail(fmt.Sprintf("%s is not codex: it calls itself %.60q", bin, found), get)
	case number != version:
		return fail(fmt.Sprintf("%s is codex %.60s; this runtime is made and tested for %s", bin, number, version), get)
	}
	return ok(number + " at " + bin)
}

// unstartable says why the file at bin cannot be run, or "" if nothing speaks
// against it.
func unstartable(bin string) string {
	if !strings.ContainsRune(bin, filepath.Separator) {
		return bin + " is not in PATH"
	}
	info, err := os.Stat(bin)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no " + bin
	case err != nil:
		return err.Error()
	case !info.Mode().IsRegular():
		return bin + " is not a file"
	case unix.Access(bin, unix.X_OK) != nil:
		return bin + " is not executable for this user (mode " + info.Mode().Perm().String() + ")"
	}
	return wrongKind(bin)
}

// wrongKind looks into the file: at the machine that a binary was built for,
// and at the interpreter that a script wants.
func wrongKind(bin string) string {
	f, _, err := regular.Open(bin)
	if err != nil {
		return "" // executable and not readable is a way to be
	}
	defer f.Close()
	first, _ := bufio.NewReader(f).Peek(128)
	if script, ok := strings.CutPrefix(string(first), "#!"); ok {
		line, _, _ := strings.Cut(script, "\n")
		interpreter := strings.Fields(line)
		if len(interpreter) > 0 && unix.Access(interpreter[0], unix.X_OK) != nil {
			return bin + " is a script for " + interpreter[0] + ", which is not here"
		}
		return ""
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return "" // another system's format, or none: starting it will tell
	}
	if want, known := machine(runtime.GOARCH); known && e.Machine != want {
		return fmt.Sprintf("%s is built for %s, and this is %s", bin, e.Machine, runtime.GOARCH)
	}
	return ""
}

func machine(goarch string) (elf.Machine, bool) {
	switch goarch {
	case "amd64":
		return elf.EM_X86_64, true
	case "arm64":
		return elf.EM_AARCH64, true
	}
	return 0, false
}
