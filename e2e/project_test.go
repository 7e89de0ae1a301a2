package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestFolderOpensNothing: a repository that brings a configuration of codex's settles nothing
// about the sandbox, in the working directory, below or above it, unless the user trusts it,
// also where the user has said something of another folder above it, and where it is
// the message that asks for a sandbox.
func TestFolderOpensNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at, cwd         string // where the configuration is, and the turn
		repository      string // if not the working directory
		linked          bool   // the working directory is given by way of a symlink
		projects        string // that the user has said something of, as name=level
		sandbox, asked  string // the operator's, and the message's
		chosen, settled bool
	}{
		"top":               {at: "repo/work", settled: true},
		"chosen":            {at: "repo/work", projects: "repo/work=trusted", chosen: true, settled: true},
		"below":             {at: "repo/work/sub", cwd: "sub"},
		"above":             {at: "repo", repository: "repo"},
		"linked":            {at: "repo/work", linked: true, settled: true},
		"root":              {at: "repo/work", repository: "repo", projects: "repo=trusted", chosen: true, settled: true},
		"parent":            {at: "repo/work", projects: "repo=trusted", settled: true},
		"parent-untrusted":  {at: "repo/work", projects: "repo=untrusted", settled: true},
		"all":               {at: "repo/work", projects: "/=trusted", settled: true},
		"no-level":          {at: "repo/work", projects: "repo/work=", settled: true},
		"asked":             {at: "repo/work", sandbox: "danger-full-access", asked: "read-only", settled: true},
		"asked-to-write":    {at: "repo/work", sandbox: "danger-full-access", asked: "workspace-write", settled: true},
		"asked-and-trusted": {at: "repo/work", projects: "repo/work=trusted", sandbox: "danger-full-access", asked: "read-only", chosen: true, settled: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, outside, beyond, home := codextest.Dir(t, "folder"), codextest.Dir(t, "outside"), codextest.Dir(t, "beyond"), codextest.Home(t)
			work, brought, own := filepath.Join(dir, "repo/work"), filepath.Join(dir, c.at, ".codex"), ""
			if err := errors.Join(os.MkdirAll(filepath.Join(work, "sub"), 0o700), os.MkdirAll(filepath.Join(brought, "rules"), 0o700)); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", filepath.Join(dir, cmp.Or(c.repository, "repo/work"))).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if c.linked {
				link := filepath.Join(dir, "link")
				if err := os.Symlink(work, link); err != nil {
					t.Fatal(err)
				}
				work = link
			}
			writeFile(t, filepath.Join(work, "AGENTS.md"), "words of AGENTS.md\n")
			writeFile(t, filepath.Join(brought, "config.toml"), "[sandbox_workspace_write]\nwritable_roots = ['"+outside+"']\n[shell_environment_policy]\nset = {PLANTED='yes'}\n"+
				"[mcp_servers.x]\ncommand = 'touch'\nargs = ['"+outside+"/server']\n")
			writeFile(t, filepath.Join(brought, "rules", "x.rules"), "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n")
			if said, level, ok := strings.Cut(c.projects, "="); ok {
				if said != "/" {
					said = filepath.Join(dir, said)
				}
				own = "[projects.'" + said + "']\n"
				if level != "" {
					own += "trust_level = '" + level + "'\n"
				}
			}
			writeFile(t, filepath.Join(home, "config.toml"), own)
			p := start(t, "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never", "CODEX_SANDBOX="+c.sandbox)
			m := message("m", "c", "run touch "+outside+"/file; echo planted: $PLANTED.")
			ruled := message("m2", "c", "run touch "+beyond+"/ruled")
			asked := object{}
			if c.cwd != "" {
				asked["cwd"] = c.cwd
			}
			if c.asked != "" {
				asked["sandbox"] = c.asked
			}
			m["metadata"], ruled["metadata"] = asked, asked
			said := text(p.task(p.call("SendMessage", object{"message": m})))
			p.call("SendMessage", object{"message": ruled})
			if strings.Contains(said, "planted: yes") != c.chosen {
				t.Errorf("the command says %q", said)
			}
			for file, want := range map[string]bool{outside + "/file": c.chosen && c.asked == "", outside + "/server": c.chosen, beyond + "/ruled": c.chosen} {
				if _, err := os.Lstat(file); (err == nil) != want {
					t.Errorf("%s is written outside: %v", filepath.Base(file), err == nil)
				}
			}
			if read := strings.Contains(string(p.Model.Requests()[0].Body), "words of AGENTS.md"); read != (c.chosen || !c.settled) {
				t.Errorf("AGENTS.md is read: %v", read)
			}
			if warned := strings.Contains(p.Log(), "what a folder brings does not settle"); warned != (c.settled && !c.chosen) {
				t.Errorf("the log warns: %v", warned)
			}
			unchanged(t, home, own)
		})
	}
}

// TestWorktreeOpensNothing: below a worktree codex trusts the folders above by the main repository.
// What they bring then is started where commands do not write, and is seen by the checks; what only
// looks like such a worktree brings nothing, and neither does the working directory itself.
func TestWorktreeOpensNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work    string // below the directory that holds the repository and its worktree
		gitFile string // of the folder tree, if not git's own
		spoilt  string // what a shell does with that and the rest there
		trusted bool
	}{
		"worktree":         {work: "tree/app", trusted: true},
		"below-a-folder":   {work: "tree/app/sub", trusted: true},
		"worktree-itself":  {work: "tree"},
		"copied":           {work: "copy/app"},
		"submodule":        {work: "tree/app", gitFile: "gitdir: ../repo/.git/modules/tree\n"},
		"without-a-gitdir": {work: "tree/app", gitFile: "\n"},
		"shares-nothing":   {work: "tree/app", spoilt: "rm repo/.git/worktrees/tree/commondir"},
		"shares-other":     {work: "tree/app", spoilt: "echo .. >repo/.git/worktrees/tree/commondir"},
		"link-to-the-file": {work: "tree/app", spoilt: "mv tree/.git file && ln -s ../file tree/.git"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, outside, home := codextest.Dir(t, "folder"), codextest.Dir(t, "outside"), codextest.Home(t)
			repository, work := filepath.Join(dir, "repo"), filepath.Join(dir, c.work)
			for _, args := range [][]string{
				{"init", "-q", repository},
				{"-C", repository, "-c", "user.name=one", "-c", "user.email=one@example.com", "commit", "-q", "--allow-empty", "-m", "first"},
				{"-C", repository, "worktree", "add", "-q", filepath.Join(dir, "tree")},
			} {
				if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v: %s", args, err, out)
				}
			}
			if c.gitFile != "" {
				writeFile(t, filepath.Join(dir, "tree", ".git"), c.gitFile)
			}
			root := filepath.Join(dir, strings.Split(c.work, "/")[0])
			if err := errors.Join(os.MkdirAll(work, 0o700), os.MkdirAll(filepath.Join(root, ".codex"), 0o700)); err != nil {
				t.Fatal(err)
			}
			if pointer, err := os.ReadFile(filepath.Join(dir, "tree", ".git")); err != nil {
				t.Fatal(err)
			} else if root != filepath.Join(dir, "tree") {
				writeFile(t, filepath.Join(root, ".git"), string(pointer))
			}
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", "cd '"+dir+"' && "+cmp.Or(c.spoilt, ":")).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", c.spoilt, err, out)
			}
			writeFile(t, filepath.Join(root, ".codex", "config.toml"), "[sandbox_workspace_write]\nnetwork_access = true\n"+
				"[mcp_servers.x]\ncommand = 'sh'\nargs = ['-c', 'pwd >"+outside+"/server']\n")
			own := "[projects.'" + repository + "']\ntrust_level = 'trusted'\n"
			writeFile(t, filepath.Join(home, "config.toml"), own)
			p := start(t, "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never")
			p.send("m", "c", "run true")
			in, err := os.ReadFile(filepath.Join(outside, "server"))
			if started := err == nil; started != c.trusted || started && strings.TrimSpace(string(in)) != home {
				t.Errorf("the server is started in %q, %v", in, err)
			}
			if _, page := p.fetch("/readyz"); strings.Contains(page, "gives commands none in their sandbox") == c.trusted {
				t.Errorf("/readyz: %s", page)
			}
			unchanged(t, home, own)
		})
	}
}

// unchanged fails where codex has said something of folders by itself in the user's own
// configuration, which would count as the user's word from the next start on.
func unchanged(t *testing.T, home, own string) {
	t.Helper()
	if now, err := os.ReadFile(filepath.Join(home, "config.toml")); err != nil || string(now) != own {
		t.Errorf("config.toml was %q and is %q, %v", own, now, err)
	}
}

// TestFolderThatIsSettledLater: codex leaves no word of a folder behind that brought nothing
// at first, be the thread's sandbox what it may, that counted when the folder brings settings.
func TestFolderThatIsSettledLater(t *testing.T) {
	t.Parallel()
	for _, parent := range []string{"", "trusted", "untrusted"} {
		t.Run("parent-"+parent, func(t *testing.T) {
			t.Parallel()
			dir, outside, home := codextest.Dir(t, "folder"), codextest.Dir(t, "outside"), codextest.Home(t)
			work, own := filepath.Join(dir, "work"), ""
			if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", work).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if parent != "" {
				own = fmt.Sprintf("[projects.'%s']\ntrust_level = '%s'\n", dir, parent)
			}
			writeFile(t, filepath.Join(home, "config.toml"), own)
			plant := "mkdir -p .codex/rules; echo 'prefix_rule(pattern=[\"touch\"], decision=\"allow\")' >.codex/rules/x.rules"
			p := start(t, "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never", "CODEX_SANDBOX=workspace-write")
			p.send("m1", "a", "run "+plant)
			p.Stop()
			unchanged(t, home, own)
			if _, err := os.Lstat(filepath.Join(work, ".codex/rules")); err == nil {
				t.Error("a command in the sandbox writes .codex")
			}
			p = start(t, "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never", "CODEX_SANDBOX=danger-full-access")
			p.send("m2", "b", "run "+plant)
			p.Stop()
			unchanged(t, home, own)
			p = start(t, "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never", "CODEX_SANDBOX=workspace-write")
			p.send("m3", "c", "run touch "+outside+"/file")
			if _, err := os.Lstat(filepath.Join(outside, "file")); err == nil {
				t.Error("a file is written outside")
			}
			unchanged(t, home, own)
		})
	}
}

// TestBranchBringsNothing: a branch that is checked out while codex runs settles no more than one
// that was there when it was started, in new conversations and in those that go on.
func TestBranchBringsNothing(t *testing.T) {
	t.Parallel()
	work, outside := codextest.Dir(t, "work"), codextest.Dir(t, "outside")
	git := func(args ...string) {
		t.Helper()
		who := []string{"-C", work, "-c", "user.name=one", "-c", "user.email=one@example.com"}
		if said, err := exec.Command("git", append(who, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v, %s", args, err, said)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("checkout", "-q", "-b", "theirs")
	if err := os.MkdirAll(filepath.Join(work, ".codex", "rules"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(work, ".codex", "config.toml"), fmt.Sprintf("[mcp_servers.x]\ncommand = \"touch\"\nargs = [%q]\n", filepath.Join(outside, "server")))
	writeFile(t, filepath.Join(work, ".codex", "rules", "x.rules"), `prefix_rule(pattern=["touch"], decision="allow")`+"\n")
	git("add", "-A")
	git("commit", "-q", "-m", "second")
	git("checkout", "-q", "-")
	p := start(t, "RUNTIME_WORKDIR="+work, "CODEX_APPROVAL_POLICY=never", "RUNTIME_MAX_THREADS=1")
	p.send("m1", "old", "say hello")
	git("checkout", "-q", "theirs")
	for _, context := range []string{"new", "old"} { // the old one is let go for the new one
		if got := text(p.send("m2-"+context, context, "run touch "+filepath.Join(outside, context))); !strings.Contains(got, "Read-only file system") {
			t.Errorf("the %s conversation says %q", context, got)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside there are %v, %v", left, err)
	}
	if !strings.Contains(p.Log(), "what a folder brings does not settle what codex may do") {
		t.Error("the log has no word of it")
	}
}

// TestProjectThatCannotBeRead: codex reads the settings of the working directory though it does not
// trust them, and refuses all conversations where it cannot; messages say which file.
func TestProjectThatCannotBeRead(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	p.send("m0", "loaded", "say hello")
	path := filepath.Join(p.Work, ".codex", "config.toml")
	for name, put := range map[string]func() error{
		"a folder": func() error { return os.Mkdir(path, 0o700) },
		"a link":   func() error { return os.Symlink("/", path) },
		"a loop":   func() error { return os.Symlink(path, path) },
		"large": func() error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 500<<20))
		},
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		task := p.send("m-"+name, name, "say hello")
		if said := fmt.Sprint(task["status"]); state(task) != "TASK_STATE_REJECTED" || !strings.Contains(said, path) {
			t.Errorf("%s: the task is %v", name, said)
		}
		if task := p.send("again-"+name, "loaded", "say still here"); text(task) != "still here" {
			t.Errorf("%s: the conversation that is loaded says %v", name, task["status"])
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if got := text(p.send("m-after", "a folder", "say hello")); got != "hello" {
		t.Errorf("without it: %q", got)
	}
}
