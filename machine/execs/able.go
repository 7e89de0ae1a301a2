package execs

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

const helpTime = 20 * time.Second

// Able returns the version of codex, and why it cannot be an exec-server, with what to do; empty if it can.
func (s *Servers) Able(ctx context.Context, home string) (version, trouble string) {
	env := append(slices.Clip(s.cfg.Env), "CODEX_HOME="+home)
	version, why := preflight.Program{Bin: s.cfg.Bin, Env: env, User: s.cfg.User}.Version(ctx)
	if why != "" {
		return "", "codex: " + why + ": install it, and set CODEX_BIN where it is not in PATH"
	}
	ctx, cancel := context.WithTimeout(ctx, helpTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.cfg.Bin, "exec-server", "--help")
	cmd.Env, cmd.Dir = env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := s.cfg.User.Start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	for _, flag := range []string{"--listen", "--concurrent-requests", "--ws-auth", "--ws-token-sha256"} {
		if err != nil || !strings.Contains(out.String(), flag) {
			return version, fmt.Sprintf("codex %s cannot run commands for other machines (%v): install a newer one, and set CODEX_BIN where it is not in PATH",
				version, cmp.Or(err, fmt.Errorf("its exec-server has no %s", flag)))
		}
	}
	return version, ""
}
