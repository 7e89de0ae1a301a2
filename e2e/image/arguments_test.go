package image

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestArguments has what the build arguments promise, and nothing of it without them.
func TestArguments(t *testing.T) {
	im := open(t)
	socket := filepath.Join(t.TempDir(), "docker.sock")
	docker, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer docker.Close()
	if err := errors.Join(os.Chown(socket, 0, 4321), os.Chmod(socket, 0o660)); err != nil {
		t.Fatal(err)
	}
	c := im.run(t, spec{
		tier: 4, user: "root", configs: volume(t, "configs", 0), workspace: volume(t, "workspace", 0), socket: socket,
		env: append([]string{"CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never"}, standalone...),
	})
	c.listens()
	for argument, command := range map[string]string{
		"NODE=1":   "node --version && npm --version && npx --version && echo it is",
		"PYTHON=1": "python3 -m venv /tmp/venv && /tmp/venv/bin/pip --version && echo it is",
		"T4=1":     "sudo -n id -u && docker --version && test -w /var/run/docker.sock && id -G | grep -w 4321 && echo it is",
	} {
		want := slices.Contains(strings.Fields(*argsFlag), argument)
		if said := c.ask(argument, "run "+command); strings.Contains(said, "\\nit is") != want {
			t.Errorf("%s, which is %v: %s: %s", argument, want, command, said)
		}
	}
}
