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

// A Program is a codex, and how it is started.
type Program struct {
	Bin  string
	Env  []string
	User *asuser.User // that it runs as; nil is ours
}

// Codex checks that a program is a codex that starts. If it does not, the answer says why: a missing file,
// a missing permission and a foreign architecture look alike to who runs it. What its version means is said
// by judge; get is what to do where there is no codex.
func Codex(p Program, get string, judge func(ctx context.Context, version string) Result) Check {
	return Check{"codex", func(ctx context.Context) Result {
		version, why := p.Version(ctx)
		if why != "" {
			return fail(why, get)
		}
		return judge(ctx, version)
	}}
}

// Version asks a program for its version. Where it is no codex that starts, it says why.
func (p Program) Version(ctx context.Context) (version, why string) {
	if why := unstartable(p.Bin); why != "" {
		return "", why
	}
	out, said, err := p.command("--version").run(ctx)
	if err != nil {
		return "", strings.TrimSpace(fmt.Sprintf("%s --version: %v %s", p.Bin, err, said))
	}
	found := strings.TrimSpace(out)
	name, version, _ := strings.Cut(found, " ")
	if name != "codex-cli" {
		return "", fmt.Sprintf("%s is not codex: it calls itself %.60q", p.Bin, found)
	}
	return fmt.Sprintf("%.60s", version), ""
}

// Describe has a codex write what it says of its protocol into a folder, a JSON schema for each type.
func (p Program) Describe(ctx context.Context, folder string) error {
	_, said, err := p.command("app-server", "generate-json-schema", "--experimental", "--out", folder).run(ctx)
	if err != nil {
		return fmt.Errorf("%s app-server generate-json-schema: %w %s", p.Bin, err, said)
	}
	return nil
}

func (p Program) command(args ...string) command {
	return command{argv: append([]string{p.Bin}, args...), user: p.User, env: p.Env, limit: 10 * time.Second}
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
