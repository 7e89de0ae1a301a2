package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func machineOf(t *testing.T, environ ...string) (Settings, string) {
	t.Helper()
	s, _, err := LoadMachine(append([]string{"HOME=" + t.TempDir(), "PATH=/bin", "TMPDIR=/tmp"}, environ...))
	if err != nil {
		return s, err.Error()
	}
	return s, ""
}

// TestMachineDefaults: loopback, the host's name, a state and a codex home of its own.
func TestMachineDefaults(t *testing.T) {
	root := t.TempDir()
	s, why := machineOf(t, "XDG_STATE_HOME=/var/lib/state", "RUNTIME_MACHINE_ROOT="+root, "CODEX_HOME=/elsewhere")
	name, _ := os.Hostname()
	if why != "" || s.MachineAddr != "127.0.0.1:7443" || s.MachineName != name || s.MachineTurns < 4 || s.MachineDrain != 10*time.Minute ||
		s.StateDir != "/var/lib/state/molecule-machine" || s.CodexHome != "/var/lib/state/molecule-machine/codex" || s.WorkDir != root || s.Sandbox != "workspace-write" {
		t.Errorf("%+v, %s", s, why)
	}
	if s, why := machineOf(t, "RUNTIME_WORKDIR="+root, "RUNTIME_STATE_DIR=/var/lib/mine"); why != "" || s.WorkDir != root || s.StateDir != "/var/lib/mine" {
		t.Errorf("as a runtime has them: %q, %q, %s", s.WorkDir, s.StateDir, why)
	}
}

// TestMachineSettings that are wrong are said with their names.
func TestMachineSettings(t *testing.T) {
	root := t.TempDir()
	for setting, want := range map[string]string{
		"RUNTIME_MACHINE_ADDR=7443":                                  "RUNTIME_MACHINE_ADDR",
		"RUNTIME_MACHINE_ADDR=:70000":                                "RUNTIME_MACHINE_ADDR",
		"RUNTIME_MACHINE_NAME=a b":                                   "RUNTIME_MACHINE_NAME",
		"RUNTIME_MACHINE_LABELS=gpu":                                 "RUNTIME_MACHINE_LABELS",
		"RUNTIME_MACHINE_TOKEN=short-secret":                         "RUNTIME_MACHINE_TOKEN",
		"RUNTIME_MACHINE_KEY=/k":                                     "RUNTIME_MACHINE_CERT",
		"RUNTIME_MACHINE_TURNS=-1":                                   "RUNTIME_MACHINE_TURNS",
		"RUNTIME_MACHINE_TURN=1":                                     "did you mean RUNTIME_MACHINE_TURNS",
		"RUNTIME_STATE_DIR=" + filepath.Join(root, "state"):          "RUNTIME_STATE_DIR",
		"RUNTIME_MACHINE_TOKEN_FILE=" + filepath.Join(root, "token"): "RUNTIME_MACHINE_TOKEN_FILE",
		"RUNTIME_MACHINE_CERT=" + filepath.Join(root, "cert"):        "RUNTIME_MACHINE_CERT",
		"RUNTIME_MACHINE_LABELS=gpu=yes, arch=arm64,":                "",
		"RUNTIME_MACHINE_ADDR=0.0.0.0:7443":                          "",
		"RUNTIME_MACHINE_TOKEN=long-enough-not-to-be-tried":          "",
	} {
		s, why := machineOf(t, "RUNTIME_MACHINE_ROOT="+root, setting)
		if (why == "") != (want == "") || !strings.Contains(why, want) || strings.Contains(why, "short-secret") {
			t.Errorf("%s: %s", setting, why)
		}
		if want == "" && strings.Contains(setting, "gpu") && (len(s.Labels) != 2 || s.Labels["arch"] != "arm64") {
			t.Errorf("labels are %v", s.Labels)
		}
	}
}

// TestMachineHomeOfAnotherUser: what codex has on the machine lies where the user of commands can write, if such a place is named.
func TestMachineHomeOfAnotherUser(t *testing.T) {
	root := t.TempDir()
	for home, want := range map[string]string{"CODEX_HOME=/home/agent/.codex": "/home/agent/.codex/machine", "CODEX_HOME=": "/var/lib/mine/codex"} {
		s, why := machineOf(t, "RUNTIME_MACHINE_ROOT="+root, "RUNTIME_STATE_DIR=/var/lib/mine", "CODEX_USER=4242:4242", "CODEX_SANDBOX=danger-full-access", home)
		if why != "" || s.User == nil || s.CodexHome != want {
			t.Errorf("%s: %q, %s", home, s.CodexHome, why)
		}
	}
}
