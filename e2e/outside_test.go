package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// trap is a script that makes a repository of the folder that it is run in, where git
// runs a command for whoever asks about a file: it makes a file outside, and shows the way.
const trap = `set -e
git init -q $1 .
git config user.email a@example.com; git config user.name a
printf one >f; git add f; git commit -qm x
echo '* filter=x' >.gitattributes
git config filter.x.clean "touch '$2'; cat"
touch -d '1 hour ago' f`

// TestCodexItselfRunsNothingOfCommands: what codex runs by itself, outside of its sandbox,
// is nothing that commands in the sandbox have written: filters of a repository that a
// message names as its folder, those of the working directory itself, programs of a PATH
// that leads there, also by a link that a command replaces, and the file of BASH_ENV.
func TestCodexItselfRunsNothingOfCommands(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	work, outside := codextest.Dir(t, "work"), codextest.Dir(t, "outside")
	if err := os.Symlink(outside, filepath.Join(work, ".venv")); err != nil {
		t.Fatal(err)
	}
	p := start(t, "RUNTIME_WORKDIR="+work, "CODEX_APPROVAL_POLICY=never", "BASH_ENV="+filepath.Join(work, "env.sh"), "PYTHONPATH="+work,
		"PATH="+filepath.Join(work, "bin")+":"+filepath.Join(work, ".venv", "bin")+":"+os.Getenv("PATH"))
	signs := map[string]string{}
	sign := func(name string) string {
		signs[name] = filepath.Join(outside, name)
		return signs[name]
	}
	for _, dir := range []string{"sub", "bin", "bare"} {
		if err := os.Mkdir(filepath.Join(work, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(work, "plant.sh"), trap)
	writeFile(t, filepath.Join(work, "git"), "#!/bin/sh\ntouch '"+sign("program")+"'\nexec /usr/bin/git \"$@\"\n")
	run := func(id, command string, cwd string) string {
		t.Helper()
		m := message(id, id, "run "+command)
		if cwd != "" {
			m["metadata"] = object{"cwd": cwd}
		}
		return text(p.task(p.call("SendMessage", object{"message": m})))
	}
	if got := run("plant", "cd sub && sh ../plant.sh '' "+sign("folder")+" && echo planted", ""); !strings.Contains(got, "planted") {
		t.Fatalf("nothing was planted: %q", got)
	}
	// A bare repository that has a work tree after all, in the working directory itself.
	if got := run("bare", "(cd bare && sh ../plant.sh '' "+sign("bare")+") && cp -r bare/.git/. . && cp bare/f bare/.gitattributes . && git config -f config core.bare false && git config -f config core.worktree "+work+" && echo planted", ""); !strings.Contains(got, "planted") {
		t.Fatalf("nothing was planted: %q", got)
	}
	if got := run("program", "for name in git bwrap bash sh getconf; do cp git bin/$name && chmod +x bin/$name; done; echo planted", ""); !strings.Contains(got, "planted") {
		t.Fatalf("nothing was planted: %q", got)
	}
	if got := run("linked program", "rm .venv && mkdir -p .venv/bin && cp bin/* .venv/bin && echo planted", ""); !strings.Contains(got, "planted") {
		t.Fatalf("nothing was planted: %q", got)
	}
	if got := run("BASH_ENV", "echo \"touch '"+sign("BASH_ENV")+"' 2>/dev/null\" >env.sh; echo planted", ""); !strings.Contains(got, "planted") {
		t.Fatalf("nothing was planted: %q", got)
	}
	config := "[mcp_servers.x]\ncommand = 'touch'\nargs = ['" + sign("server") + "']\n"
	writeFile(t, filepath.Join(work, "config"), config)
	if got := run("server", "mkdir -p sub/.codex bare/.codex && cp config sub/.codex/config.toml && cp config bare/.codex/config.toml && echo planted", ""); !strings.Contains(got, "planted") {
		t.Fatalf("nothing was planted: %q", got)
	}
	run("in the folder", "true", "sub")
	run("in another folder", "true", "bare")
	run("at the top", "true", "")
	if got := run("status", "cd sub && /usr/bin/git log --oneline | wc -l; echo count $GIT_CONFIG_COUNT, python $PYTHONPATH, bash $BASH_ENV", ""); !strings.Contains(got, "1\n") || !strings.Contains(got, "count 0, python "+work+", bash "+work+"/env.sh") {
		t.Errorf("commands have not their own environment: %q", got)
	}
	for name, file := range signs {
		if _, err := os.Lstat(file); err == nil {
			t.Errorf("codex itself has run what a command has planted: %s", name)
		}
	}
}

// TestShellFilesOfCommands: what the home's shell files read is run by commands, in their
// sandbox, and not by codex itself when a conversation begins.
func TestShellFilesOfCommands(t *testing.T) {
	t.Parallel()
	work, home := codextest.Dir(t, "work"), codextest.Dir(t, "home")
	sign := filepath.Join(codextest.Dir(t, "outside"), "sign")
	for _, name := range []string{".bashrc", ".profile"} {
		writeFile(t, filepath.Join(home, name), ". ~/.aliases\n")
	}
	if err := os.Symlink(filepath.Join(work, "aliases"), filepath.Join(home, ".aliases")); err != nil {
		t.Fatal(err)
	}
	config := codextest.Home(t)
	writeFile(t, filepath.Join(config, "config.toml"), "[features]\nshell_snapshot = true\n")
	p := start(t, "CODEX_HOME="+config, "RUNTIME_WORKDIR="+work, "HOME="+home, "SHELL=/bin/bash", "CODEX_APPROVAL_POLICY=never")
	p.send("plant", "one", "run echo \"touch '"+sign+"' 2>/dev/null; planted() { echo a function; }\" >aliases")
	if got := text(p.send("read", "two", "run planted")); !strings.Contains(got, "a function") {
		t.Errorf("commands do not read the files of their shell: %q", got)
	}
	if _, err := os.Lstat(sign); err == nil {
		t.Error("codex itself has run what a command has planted")
	}
}

// TestSandboxOfAMessageHolds: where the operator has no sandbox and a message asks for one,
// what commands write in that is not run by codex itself either.
func TestSandboxOfAMessageHolds(t *testing.T) {
	t.Parallel()
	work, outside := codextest.Dir(t, "work"), codextest.Dir(t, "outside")
	sign := filepath.Join(outside, "sign")
	p := start(t, "RUNTIME_WORKDIR="+work, "CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never")
	if err := os.Mkdir(filepath.Join(work, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(work, "plant.sh"), trap)
	run := func(id, command, cwd string) string {
		t.Helper()
		m := message(id, id, "run "+command)
		m["metadata"] = object{"cwd": cwd, "sandbox": "workspace-write"}
		return text(p.task(p.call("SendMessage", object{"message": m})))
	}
	if got := run("plant", "touch '"+outside+"/written'; cd sub && sh ../plant.sh '' "+sign+" && echo planted", ""); !strings.Contains(got, "planted") {
		t.Fatalf("nothing was planted: %q", got)
	}
	run("beside", "true", "sub")
	if got := run("status", "git log --oneline; echo done", "sub"); !strings.Contains(got, " x\n") {
		t.Errorf("commands have no git: %q", got)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("the sandbox of a message does not hold: %v, %v", left, err)
	}
}

// TestNoSandboxAroundWhatIsOurs: where the working directory holds what commands must not
// write, no message can have a sandbox in which they write it.
func TestNoSandboxAroundWhatIsOurs(t *testing.T) {
	t.Parallel()
	home := codextest.Home(t)
	p := start(t, "CODEX_HOME="+home, "RUNTIME_WORKDIR="+filepath.Dir(home), "CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never")
	send := func(id, sandbox string) object {
		m := message(id, id, "run touch "+filepath.Join(home, id)+"; echo done")
		m["metadata"] = object{"sandbox": sandbox}
		return p.call("SendMessage", object{"message": m})
	}
	refused := send("wide", "workspace-write")
	if why := fmt.Sprint(at(refused, "error", "message")); at(refused, "error", "code") != -32602.0 || !strings.Contains(why, "sandbox") || !strings.Contains(why, "lies in the working directory") {
		t.Errorf("the answer is %v", refused)
	}
	for id, sandbox := range map[string]string{"narrow": "read-only", "none": ""} {
		if got := text(p.task(send(id, sandbox))); !strings.Contains(got, "done") {
			t.Errorf("%s: %q", id, got)
		}
	}
	for id, written := range map[string]bool{"wide": false, "narrow": false, "none": true} {
		if _, err := os.Lstat(filepath.Join(home, id)); (err == nil) != written {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestNoTurnWritesPrograms: where codex's own configuration lets commands write what codex
// finds programs in, no turn runs, and the message says what to do.
func TestNoTurnWritesPrograms(t *testing.T) {
	t.Parallel()
	home, cargo := codextest.Home(t), codextest.Dir(t, "cargo")
	writeFile(t, filepath.Join(home, "config.toml"), "[sandbox_workspace_write]\nwritable_roots = ['"+cargo+"']\n")
	bin, link := filepath.Join(cargo, "bin"), filepath.Join(codextest.Dir(t, "elsewhere"), "link")
	if err := errors.Join(os.Mkdir(bin, 0o700), os.Symlink(bin, link)); err != nil {
		t.Fatal(err)
	}
	p := start(t, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never", "PATH="+link+":"+os.Getenv("PATH"))
	task := p.task(p.call("SendMessage", object{"message": message("m", "c", "run touch "+bin+"/git")}))
	why := fmt.Sprint(at(task, "status", "message", "parts", 0, "text"))
	if !strings.Contains(why, cargo) || !strings.Contains(why, link+" of PATH lies") || !strings.Contains(why, "config.toml") {
		t.Errorf("the task says %q", why)
	}
	if left, err := os.ReadDir(bin); err != nil || len(left) > 0 {
		t.Errorf("a command has written programs of codex: %v, %v", left, err)
	}
}

// TestNoTurnWritesCodex: nor where it lets them write what codex itself is run from each minute, by
// however many links.
func TestNoTurnWritesCodex(t *testing.T) {
	t.Parallel()
	home, tool := codextest.Home(t), codextest.Dir(t, "tool")
	writeFile(t, filepath.Join(home, "config.toml"), "[sandbox_workspace_write]\nwritable_roots = ['"+tool+"']\n")
	codex, link := filepath.Join(tool, "codex"), filepath.Join(codextest.Dir(t, "bin"), "codex")
	if err := errors.Join(os.WriteFile(codex, []byte("#!/bin/sh\nexec '"+codextest.Bin(t)+"' \"$@\"\n"), 0o700), os.Symlink(codex, link)); err != nil {
		t.Fatal(err)
	}
	p := start(t, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never", "CODEX_BIN="+link)
	task := p.task(p.call("SendMessage", object{"message": message("m", "c", "run touch "+tool+"/evil")}))
	if why := fmt.Sprint(at(task, "status", "message", "parts", 0, "text")); !strings.Contains(why, tool) || !strings.Contains(why, link+" of CODEX_BIN lies") {
		t.Errorf("the task says %q", why)
	}
	if _, err := os.Lstat(filepath.Join(tool, "evil")); err == nil {
		t.Error("a command has written beside codex")
	}
}

// TestNoTurnIsExchanged: nor where a folder above the working directory could be another by the time that
// codex looks what it brings.
func TestNoTurnIsExchanged(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	home, root := codextest.Home(t), codextest.Dir(t, "root")
	writeFile(t, filepath.Join(home, "config.toml"), "[sandbox_workspace_write]\nwritable_roots = ['"+root+"']\n")
	for work, runs := range map[string]bool{"one": true, "two/deep": false} {
		work = filepath.Join(root, work)
		if err := os.MkdirAll(work, 0o700); err != nil {
			t.Fatal(err)
		}
		p := start(t, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never", "RUNTIME_WORKDIR="+work)
		said := fmt.Sprint(p.task(p.call("SendMessage", object{"message": message("m", "c", "run touch written && mv '"+work+"' '"+work+"-else'; echo done")})))
		if _, err := os.Lstat(filepath.Join(work, "written")); (err == nil) != runs || !runs && !strings.Contains(said, "another folder in the place of "+filepath.Dir(work)) {
			t.Errorf("%s: %v: %s", work, err, said)
		}
		if _, err := os.Lstat(work + "-else"); err == nil {
			t.Errorf("%s was moved away: %s", work, said)
		}
	}
}

// TestNoTurnUnderALink: nor where codex would mount a root over what it keeps from commands in the working
// directory, which lies in it, for a link in the name of either.
func TestNoTurnUnderALink(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]bool{"none": true, "work": false, "root": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, root, links := codextest.Home(t), codextest.Dir(t, "root"), codextest.Dir(t, "links")
			work, link := filepath.Join(root, "work"), filepath.Join(links, "a-link-with-a-long-name-of-its-own")
			named := root
			if err := os.Mkdir(work, 0o700); err != nil {
				t.Fatal(err)
			}
			switch name {
			case "work":
				link = filepath.Join(links, "w")
				if err := os.Symlink(work, link); err != nil {
					t.Fatal(err)
				}
				work = link
			case "root":
				if err := os.Symlink(root, link); err != nil {
					t.Fatal(err)
				}
				named = link
			}
			writeFile(t, filepath.Join(home, "config.toml"), "[sandbox_workspace_write]\nwritable_roots = ['"+named+"']\n")
			p := start(t, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never", "RUNTIME_WORKDIR="+work)
			said := fmt.Sprint(p.task(p.call("SendMessage", object{"message": message("m", "c", "run touch written; touch .codex/written")})))
			if _, err := os.Lstat(filepath.Join(work, "written")); (err == nil) != runs || !runs && !strings.Contains(said, "by way of a link") {
				t.Errorf("%v: %s", err, said)
			}
			if _, err := os.Lstat(filepath.Join(work, ".codex/written")); err == nil {
				t.Error("a command has written into .codex")
			}
		})
	}
}

// TestLibrariesOfCommands: what builds the sandbox has the variables of commands, so none of these leads it
// to libraries that commands write, also where the operator gives it to them while codex runs.
func TestLibrariesOfCommands(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	home, work := codextest.Home(t), codextest.Dir(t, "work")
	config := filepath.Join(home, "config.toml")
	given := func(first string) string {
		return "[shell_environment_policy.set]\nLD_LIBRARY_PATH = '" + first + ":" + work + "/lib'\nA = 'b'\n"
	}
	writeFile(t, config, given("/one"))
	p := start(t, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never", "RUNTIME_WORKDIR="+work)
	for _, want := range []string{"/one", "/two", "/three"} {
		writeFile(t, config, given(want))
		if said := text(p.send("m"+want, want, "run echo $LD_LIBRARY_PATH, $A, $GIT_CONFIG_COUNT.")); !strings.Contains(said, want+", b, 0.") {
			t.Errorf("with %s a command has %q", want, said)
		}
	}
	if log := p.Log(); !strings.Contains(log, "the LD_LIBRARY_PATH that shell_environment_policy gives") {
		t.Error("no warning")
	}
}

// TestAllowedCommandsFindNoKey: a command that a caller has let out of the sandbox looks into
// the runtime's environment in vain.
func TestAllowedCommandsFindNoKey(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := startAs(t, exe, fencedEnv+"="+binary)
	file := filepath.Join("/proc", strconv.Itoa(p.Pid()), "environ")
	task := p.send("m1", "c", "escalate cat "+file+" | tr '\\0' '\\n'; echo looked")
	asked(t, task, 0, "environ")
	said := text(p.task(p.call("SendMessage", answer(task, "a1", "yes"))))
	if !strings.Contains(said, "looked") || strings.Contains(said, "key-of-the-e2e-suite") || strings.Contains(said, "OPENAI_API_KEY") {
		t.Errorf("the command says %q", said)
	}
}
