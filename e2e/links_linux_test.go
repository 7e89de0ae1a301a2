package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLinksLeadIntoNoProcess: codex itself reads files of the working directory, outside of
// the sandbox, and follows links there. They lead into no other process of its user, nor
// does a command that was let out of the sandbox get there: for root, and for a user
// without capabilities.
func TestLinksLeadIntoNoProcess(t *testing.T) {
	for name, begin := range map[string]func(*testing.T) (*program, int){"root": asRoot, "user": asOneUser} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if os.Getuid() != 0 && name != "user" {
				t.Skip("this takes root")
			}
			p, user := begin(t)
			const secret = "of-a-process-beside-it"
			bystander := exec.Command("sleep", "infinity")
			bystander.Env = []string{"PLANTED=" + secret}
			if user != os.Getuid() {
				bystander.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
			}
			if err := bystander.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = bystander.Process.Kill()
				_ = bystander.Wait()
			}()
			link := func(to string) string { return "run rm -f AGENTS.md; ln -s " + to + " AGENTS.md; echo linked" }
			p.send("m1", "c1", "run echo words of a file > words; echo written")
			p.send("m2", "c2", link("words"))
			p.send("m3", "c3", "say one")
			if !p.told("words of a file") {
				t.Error("codex does not follow links any more: see whether it has to be kept from processes")
			}
			environ := fmt.Sprintf("/proc/%d/environ", bystander.Process.Pid)
			p.send("m4", "c4", link(environ))
			p.send("m5", "c5", "say two")
			p.send("m4b", "c4", link(fmt.Sprintf("/proc/%d/environ", p.Pid()))) // which a user's program has above it
			p.send("m5b", "c5b", "say three")
			task := p.send("m6", "c6", "escalate cat "+environ+"; echo looked")
			asked(t, task, 0, "environ")
			said := text(p.task(p.call("SendMessage", answer(task, "a1", "yes"))))
			if !strings.Contains(said, "looked") || strings.Contains(said, secret) {
				t.Errorf("the command says %q", said)
			}
			if p.told(secret) || p.told("OPENAI_API_KEY=") {
				t.Error("codex has read what another process has in its environment")
			}
		})
	}
}

// TestDoctorNamesOpenProcesses: where codex is kept from no process, what stands above the
// program and has its secrets is named.
func TestDoctorNamesOpenProcesses(t *testing.T) {
	t.Parallel()
	p := start(t)
	for sandbox, open := range map[string]bool{"danger-full-access": true, "workspace-write": false} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", `"$0" doctor; true`, binary)
		cmd.Env = append(p.Environ(), "CODEX_SANDBOX="+sandbox)
		out, _ := cmd.CombinedOutput()
		if named := strings.Contains(string(out), "(sh) has OPENAI_API_KEY"); named != open || !strings.Contains(string(out), "codex user") {
			t.Errorf("%s: the shell is named: %v\n%s", sandbox, named, out)
		}
	}
}

// TestDoctorNamesCommandLines: what has a secret of the program's in its command line is named.
func TestDoctorNamesCommandLines(t *testing.T) {
	t.Parallel()
	p := start(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `OPENAI_API_KEY=key-of-the-e2e-suite "$0" doctor; true`, binary)
	cmd.Env = append(p.Environ(), "CODEX_SANDBOX=danger-full-access")
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "(sh) has a secret in its command line") {
		t.Errorf("the shell is not named:\n%s", out)
	}
}

// told reports whether codex has told the model something.
func (p *program) told(what string) bool {
	for _, r := range p.Model.Requests() {
		if bytes.Contains(r.Body, []byte(what)) {
			return true
		}
	}
	return false
}

func asRoot(t *testing.T) (*program, int) { return start(t), os.Getuid() }

// asOneUser starts the program as a user without capabilities, who is codex's, too.
func asOneUser(t *testing.T) (*program, int) {
	if os.Getuid() != 0 {
		return start(t), os.Getuid()
	}
	home, work, state := foldersOf(t, runtimeUser, runtimeUser)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := startAs(t, self, twoUsersEnv+"="+binary, oneUserEnv+"=yes", "CODEX_HOME="+home, "RUNTIME_WORKDIR="+work, "RUNTIME_STATE_DIR="+state, "HOME="+filepath.Dir(work))
	p.Home, p.Work, p.State = home, work, state
	return p, runtimeUser
}
