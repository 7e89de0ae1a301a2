package bench

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// shells reports what shells take that do nothing: started for it without codex, in codex's sandbox as codex starts them,
// and one that has been there before and is given a line, which is all that a warm shell could take.
func shells(b *testing.B) {
	b.Helper()
	environ := append(progtest.Environ(b), "CODEX_HOME="+codextest.Home(b))
	took := series{}
	run := func(name string, argv ...string) func() {
		return func() {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env, cmd.Dir = environ, b.TempDir()
			began := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatalf("%s: %v", name, err)
			}
			took.add(name, time.Since(began))
		}
	}
	sandboxed := []string{codextest.Bin(b), "sandbox", "-c", `sandbox_mode="workspace-write"`, "--", "/bin/bash"}
	warm := warmShell(b, environ)
	for range 100 {
		shuffled(
			run("bash-lc", "/bin/bash", "-lc", "true"), run("bash-c", "/bin/bash", "-c", "true"),
			run("sandboxed-bash-lc", append(sandboxed, "-lc", "true")...), run("sandboxed-bash-c", append(sandboxed, "-c", "true")...),
			func() { took.add("warm", warm()) },
		)
	}
	took.report(b, "bash-lc", "bash-c", "sandboxed-bash-lc", "sandboxed-bash-c", "warm")
}

// warmShell starts a login shell, and returns what has it do a line that does nothing.
func warmShell(b *testing.B, environ []string) func() time.Duration {
	b.Helper()
	cmd := exec.Command("/bin/bash", "-l")
	cmd.Env, cmd.Dir = environ, b.TempDir()
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	answers := bufio.NewReader(out)
	line := func() time.Duration {
		began := time.Now()
		_, err := io.WriteString(in, "true; echo $?\n")
		answer := ""
		if err == nil {
			answer, err = answers.ReadString('\n')
		}
		took := time.Since(began)
		if err != nil || answer != "0\n" {
			b.Fatal(fmt.Errorf("a warm shell: %w, and it says %q", err, answer))
		}
		return took
	}
	line()
	return line
}
