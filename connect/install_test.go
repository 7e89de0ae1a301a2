package connect_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const (
	here      = ".local/bin/molecule-runtime"
	installed = ".config/molecule-codex/installed"
	goSum     = "h1:3pKjkQJwQ/Vl8aEFx7YbX3JqD/q19jRo4Je0y8SqcdM="
	otherSum  = "h1:0000kQJwQ/Vl8aEFx7YbX3JqD/q19jRo4Je0y8SqcdM="
	// fakeGo has the module, and builds what its neighbour is.
	fakeGo = `#!/bin/sh
echo "$*" >>"$HOME/go.calls"
case $1 in
mod) printf '{\n\t"Path": "x",\n\t"Sum": "` + goSum + `",\n\t"GoModSum": "` + otherSum + `"\n}\n' ;;
install) cp "$HOME/built" "$GOBIN/runtime" ;;
esac
`
	wrong = "0000000000000000000000000000000000000000000000000000000000000000"
)

// An installing is a block that is pasted where the runtime is not yet.
type installing struct {
	files  map[string]string // of the server; nil has none
	cut    string            // of them, what does not come whole
	sums   []string          // in the block
	lack   string            // program of the machine's that is not there
	home   map[string]string // programs that are in the home, beside codex
	status int
	says   []string
}

// TestSnippetInstalls pastes the block of a release. What does not have its checksum is
// not unpacked, and nothing is left of it.
func TestSnippetInstalls(t *testing.T) {
	good, damaged := packed(t, fakeRuntime), packed(t, fakeRuntime)[:100]
	pinned := []string{"linux_sparc64=" + wrong, system + "=" + sumOf(good), "source=" + goSum}
	withGo := map[string]string{"bin/go": fakeGo, "built": fakeRuntime}
	for name, at := range map[string]installing{
		"pinned":       {files: map[string]string{archive: good}, sums: pinned, says: []string{"fetching molecule-runtime v1.2.3", "the one in this block"}},
		"fetched":      {files: map[string]string{archive: good, "SHA256SUMS": sums(sumOf(good), archive)}, says: []string{"the one in SHA256SUMS there"}},
		"only source":  {files: map[string]string{archive: good, "SHA256SUMS": sums(sumOf(good), archive)}, sums: pinned[2:], says: []string{"the one in SHA256SUMS there"}},
		"binary mark":  {files: map[string]string{archive: good, "SHA256SUMS": sumOf(good) + " *" + archive + "\n"}},
		"with shasum":  {files: map[string]string{archive: good}, sums: pinned, lack: "sha256sum"},
		"wrong":        {files: map[string]string{archive: good}, sums: []string{system + "=" + wrong, "source=" + goSum}, home: withGo, status: 1, says: []string{archive + " HAS A WRONG CHECKSUM"}},
		"wrong there":  {files: map[string]string{archive: good, "SHA256SUMS": sums(wrong, archive)}, status: 1, says: []string{archive + " HAS A WRONG CHECKSUM"}},
		"damaged":      {files: map[string]string{archive: damaged}, sums: pinned, home: withGo, status: 1, says: []string{archive + " HAS A WRONG CHECKSUM"}},
		"cut":          {files: map[string]string{archive: good}, cut: archive, sums: pinned, status: 1, says: []string{"was not installed. Its archive did not come from http://127.0.0.1", "there is no go"}},
		"not in sums":  {files: map[string]string{archive: good, "SHA256SUMS": sums(sumOf(good), "another.tar.gz")}, home: withGo, status: 1, says: []string{"SHA256SUMS there has no checksum of " + archive}},
		"no sums":      {files: map[string]string{archive: good}, status: 1, says: []string{"did not come from", "there is no go"}},
		"gone":         {sums: pinned, status: 1, says: []string{"did not come from", "there is no go to build it with", "in another way"}},
		"gone, Go":     {sums: pinned, home: withGo, says: []string{"did not come from", "Building it instead: go install github.com/Molecule-AI/molecule-codex-runtime/cmd/runtime@v1.2.3"}},
		"cut, Go":      {files: map[string]string{archive: good}, cut: archive, sums: pinned, home: withGo, says: []string{"Building it instead"}},
		"no curl":      {files: map[string]string{archive: good}, sums: pinned, lack: "curl", status: 1, says: []string{"There is no curl", "apt-get install curl"}},
		"no curl, Go":  {sums: pinned, lack: "curl", home: withGo, says: []string{"There is no curl", "Building it instead"}},
		"source wrong": {sums: []string{"source=" + otherSum}, home: withGo, status: 1, says: []string{"THE SOURCE HAS A WRONG CHECKSUM"}},
		"no source":    {sums: pinned[:2], home: withGo, status: 1, says: []string{"no checksum of its source"}},
		"Go fails":     {sums: pinned, home: map[string]string{"bin/go": "#!/bin/sh\necho '{\"Error\": \"not found\"}'\nexit 1\n"}, status: 1, says: []string{`"not found"`, "and Go did not build it"}},
		"no digests":   {files: map[string]string{archive: good}, sums: pinned, lack: "sha256sum shasum", status: 1, says: []string{"no sha256sum and no shasum"}},
		"other system": {files: map[string]string{archive: good}, sums: pinned, home: map[string]string{"bin/uname": "#!/bin/sh\necho Plan9\n"}, status: 1, says: []string{"no archive of it for this system, Plan9 on Plan9"}},
		"their system": {sums: pinned, home: map[string]string{"bin/uname": "#!/bin/sh\necho Plan9\n", "bin/go": fakeGo, "built": fakeRuntime}, says: []string{"no archive of it for this system", "Building it instead"}},
		"no start":     {files: map[string]string{archive: packed(t, "#!/bin/sh\nexit 1\n")}, sums: []string{system + "=" + sumOf(packed(t, "#!/bin/sh\nexit 1\n"))}, status: 1, says: []string{"does not start on this machine"}},
	} {
		for shell, argv := range shells {
			inShell(t, name+"/"+shell, argv, at.check)
		}
	}
}

func (x installing) check(t *testing.T, at *terminal) {
	t.Parallel()
	at.lacks("bin/molecule-runtime")
	machine := []string{"curl", "gzip", "sha256sum", "tar"}
	if x.lack == "sha256sum" {
		machine = append(machine, "shasum", "perl")
	}
	at.only(slices.DeleteFunc(machine, func(name string) bool { return slices.Contains(strings.Fields(x.lack), name) })...)
	for name, text := range x.home {
		at.has(name, text)
	}
	server := serve(t, x.files, x.cut)
	if x.files == nil {
		server.Close()
	}
	shown, status := at.paste(ofRelease("v1.2.3", x.sums...), "MOLECULE_RELEASE_URL="+server.URL)
	if status != x.status {
		t.Errorf("exit %d", status)
	}
	for _, words := range x.says {
		if !strings.Contains(shown, words) {
			t.Errorf("it does not say %q: %s", words, shown)
		}
	}
	left := append(at.holds(".local/bin"), at.holds(".config/molecule-codex")...)
	if x.status != 0 {
		if called := at.read("runtime.calls") + at.read("codex.calls"); len(left) > 0 || called != "" || strings.Contains(at.read("go.calls"), "install") {
			t.Errorf("it leaves %v, and has called %s", left, called)
		}
		return
	}
	if want := []string{"molecule-runtime", goodID + ".env", goodID + ".token", "installed"}; !slices.Equal(left, want) {
		t.Errorf("it leaves %v, want %v", left, want)
	}
	if got, want := at.read(installed), "v1.2.3 "+sumOf(fakeRuntime)+"\n"; got != want || at.read(here) != fakeRuntime || at.read("runtime.calls") != "channel\n" {
		t.Errorf("it has installed %q, want %q: %s", got, want, shown)
	}
	if strings.Contains(strings.Join(x.sums, " "), system) && strings.Contains(server.was(), "SHA256SUMS") {
		t.Error("it asks for checksums that it has")
	}
	if !strings.Contains(shown, "molecule-runtime v1.2.3 is installed: ") || !strings.Contains(at.read("codex.calls"), "<--><"+filepath.Join(at.home, here)+"><mcp>") {
		t.Errorf("it does not say what it has installed, or codex is not told: %s", shown)
	}
}

// TestSnippetAgain pastes blocks of two releases over each other: what a block has
// installed, the next one replaces; what its owner has put there, it leaves alone.
func TestSnippetAgain(t *testing.T) {
	first, second := packed(t, fakeRuntime), packed(t, fakeRuntime+"# the second\n")
	inShells(t, func(t *testing.T, at *terminal) {
		at.lacks("bin/molecule-runtime")
		at.only("curl", "gzip", "sha256sum", "tar")
		at.path += ":" + filepath.Join(at.home, ".local/bin")
		server := serve(t, map[string]string{archive: first})
		paste := func(block, from string, says string, status int) {
			t.Helper()
			if shown, got := at.paste(block, "MOLECULE_RELEASE_URL="+from); got != status || !strings.Contains(shown, says) {
				t.Fatalf("exit %d, want %d, and %q: %s", got, status, says, shown)
			}
		}
		old := ofRelease("v1.2.3", system+"="+sumOf(first))
		paste(old, server.URL, "v1.2.3 is installed: ", 0)
		if server.was() == "" {
			t.Fatal("it did not ask")
		}
		paste(old, server.URL, "molecule-runtime v1.2.3 is installed already", 0)
		paste(old, server.URL, "env; molecule-runtime channel)", 0)
		paste(ofRelease(""), server.URL, "v1.2.3 stays, which an earlier block has installed: this block is of a development build", 0)
		if asked := server.was(); asked != "" {
			t.Errorf("it fetches %s again", asked)
		}
		next := ofRelease("v1.3.0", system+"="+sumOf(second))
		paste(next, server.URL, "HAS A WRONG CHECKSUM", 1)
		gone := serve(t, nil)
		gone.Close()
		paste(next, gone.URL, "going on with molecule-runtime v1.2.3", 0)
		if at.read(here) != fakeRuntime {
			t.Error("what was installed is gone")
		}
		paste(next, serve(t, map[string]string{archive: second}).URL, "v1.2.3, which an earlier block has installed, is to be replaced by v1.3.0", 0)
		if at.read(here) != fakeRuntime+"# the second\n" {
			t.Error("it was not replaced")
		}
		paste(old, server.URL, "is to be replaced by v1.2.3", 0)
		at.has(here, fakeRuntime+"# its owner's\n")
		paste(next, gone.URL, filepath.Join(at.home, here)+", which this block has not installed: it stays as it is; remove it, and paste the block again, to have v1.3.0 in its place. It says: runtime of a test", 0)
		if at.read(here) != fakeRuntime+"# its owner's\n" {
			t.Error("the owner's was replaced")
		}
	})
}

// TestSnippetLeavesOthersAlone has a runtime of the owner's, and a program of the same name
// that is none.
func TestSnippetLeavesOthersAlone(t *testing.T) {
	const python = "#!/usr/bin/python3\nopen('pwned', 'w')\n"
	good := packed(t, fakeRuntime)
	block := ofRelease("v1.2.3", system+"="+sumOf(good))
	inShells(t, func(t *testing.T, at *terminal) {
		from := "MOLECULE_RELEASE_URL=" + serve(t, map[string]string{archive: good}).URL
		shown, status := at.paste(block, from)
		if status != 0 || !strings.Contains(shown, filepath.Join(at.home, "bin/molecule-runtime")+", which this block has not installed") || at.read(here) != "" {
			t.Errorf("the owner's: exit %d, %s", status, shown)
		}
		at.path += ":" + filepath.Join(at.home, ".local/bin")
		at.has("bin/molecule-runtime", python)
		for range 2 {
			shown, status = at.paste(block, from)
			if status != 0 || !strings.Contains(shown, "a program of Python's") || !strings.Contains(shown, "~/.local/bin/molecule-runtime channel)") || at.read(here) != fakeRuntime || at.read("bin/molecule-runtime") != python || at.read("pwned") != "" {
				t.Errorf("one of Python's: exit %d, %s", status, shown)
			}
		}
		if !strings.Contains(shown, "v1.2.3 is installed already") {
			t.Errorf("it is installed again: %s", shown)
		}
		at.lacks("bin/molecule-runtime")
		at.has(here, python)
		if shown, status = at.paste(block, from); status != 1 || !strings.Contains(shown, "pip uninstall molecule-ai-workspace-runtime") || at.read(here) != python {
			t.Errorf("one of Python's in its place: exit %d, %s", status, shown)
		}
	})
}

// TestSnippetOfNoRelease is that of a development build: it says how to build one.
func TestSnippetOfNoRelease(t *testing.T) {
	good := packed(t, fakeRuntime)
	inShells(t, func(t *testing.T, at *terminal) {
		at.lacks("bin/molecule-runtime")
		if shown, status := at.paste(ofRelease("")); status != 1 || !strings.Contains(shown, "this block is of a development build") || !strings.Contains(shown, "make build") {
			t.Errorf("exit %d: %s", status, shown)
		}
		at.untouched()
		from := serve(t, map[string]string{"SHA256SUMS": sums(sumOf(good), archive), archive: good}).URL
		if shown, status := at.paste(strings.Replace(ofRelease("v1.2.3"), "\nfrom=", "\nfrom="+from+"\nx=", 1)); status != 0 || at.read(here) != fakeRuntime {
			t.Errorf("a release and a mirror that were written into the block: exit %d: %s", status, shown)
		}
	})
}

// TestSnippetWithoutCodex has neither codex nor a way to get it, and then one that fails.
func TestSnippetWithoutCodex(t *testing.T) {
	inShells(t, func(t *testing.T, at *terminal) {
		at.lacks("bin/codex")
		at.only()
		if shown, status := at.paste(filled(goodURL, goodID, goodToken, goodMCP)); status != 1 || !strings.Contains(shown, "codex is not installed, and there is no npm") {
			t.Errorf("without npm: exit %d, %s", status, shown)
		}
		at.has("bin/npm", "#!/bin/sh\necho \"$*\" >\"$HOME/npm.calls\"\nexit 1\n")
		if shown, status := at.paste(filled(goodURL, goodID, goodToken, goodMCP)); status != 1 || !strings.Contains(shown, "installing codex 0.") || !strings.Contains(shown, "--prefix ~/.local @openai/codex@0.") || !strings.HasPrefix(at.read("npm.calls"), "install -g @openai/codex@0.") {
			t.Errorf("with an npm that fails: exit %d, %s", status, shown)
		}
		at.has("bin/npm", "#!/bin/sh\ncat >\"$HOME/bin/codex\" <<'end'\n"+fakeCodex+"end\nchmod +x \"$HOME/bin/codex\"\n")
		at.path += ":" + filepath.Dir(lookPath(t, "chmod"))
		if shown, status := at.paste(filled(goodURL, goodID, goodToken, goodMCP)); status != 0 || at.read("codex.calls") == "" {
			t.Errorf("with npm: exit %d, %s", status, shown)
		}
	})
}

// TestSnippetWhereNpmMayNotWrite has codex come into the home where npm installs into a folder of
// another's, with npm's settings for all.
func TestSnippetWhereNpmMayNotWrite(t *testing.T) {
	inShells(t, func(t *testing.T, at *terminal) {
		at.lacks("bin/codex")
		at.only()
		at.has("bin/npm", "#!/bin/sh\ncase $1 in\nprefix) echo \"$HOME/bin/npm\" ;;\nconfig) echo '/etc/of all' ;;\n*) printf '<%s>' \"$@\" >\"$HOME/npm.calls\" && exit 1 ;;\nesac\n")
		shown, _ := at.paste(filled(goodURL, goodID, goodToken, goodMCP))
		if !strings.Contains(shown, "npm may not write to ") || !strings.Contains(shown, "npm install -g --prefix ~/.local @openai/codex@0.") {
			t.Errorf("it says %s", shown)
		}
		if got, want := at.read("npm.calls"), "<install><-g><--prefix="+at.home+"/.local><--globalconfig=/etc/of all><@openai/codex@0."; !strings.HasPrefix(got, want) {
			t.Errorf("npm is called with %s, want %s", got, want)
		}
	})
}

func lookPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSnippetInterrupted presses Ctrl-C while the archive is fetched.
func TestSnippetInterrupted(t *testing.T) {
	inShells(t, func(t *testing.T, at *terminal) {
		at.lacks("bin/molecule-runtime")
		fetching := silent(t)
		cmd := exec.CommandContext(t.Context(), at.shell[0], at.shell[1:]...)
		cmd.Dir, cmd.Stdin = at.home, strings.NewReader(ofRelease("v1.2.3", system+"="+wrong)+"\nexit $?\n")
		cmd.Env = []string{"HOME=" + at.home, "PATH=" + at.path, "TERM=dumb", "HISTFILE=/dev/null", "MOLECULE_RELEASE_URL=" + fetching.url}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-fetching.asked
		if left := at.holds(".local/bin"); len(left) != 1 {
			t.Errorf("it fetches to %v", left)
		}
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if left := at.holds(".local/bin"); len(left) > 0 || at.read("codex.calls") != "" {
			t.Errorf("it leaves %v", left)
		}
		_ = os.Remove(filepath.Join(at.home, "bin/codex"))
		at.untouched()
	})
}
