package image

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// fromFile is what a file of the clone says between two words.
func fromFile(t *testing.T, name, pattern string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has nothing like %s", name, pattern)
	}
	return string(found[1])
}

// asCompose is a container as deploy/compose.yaml describes it.
func asCompose(t *testing.T, configs string) spec {
	t.Helper()
	var may []string
	for name := range strings.SplitSeq(fromFile(t, "deploy/compose.yaml", `cap_add: \[(.*)\]`), ", ") {
		may = append(may, "+"+strings.ToLower(name))
	}
	return spec{
		tier: 1, user: "root", configs: configs, workspace: volume(t, "workspace", 0), may: strings.Join(may, ","),
		env: append([]string{"CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never"}, standalone...),
	}
}

// get returns the status of an answer.
func get(t *testing.T, url, token string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// TestCompose has no more rights than deploy/compose.yaml leaves it: it starts, is well,
// and ends when it is told to, and nothing in it is root's.
func TestCompose(t *testing.T) {
	im := open(t)
	c := im.run(t, asCompose(t, volume(t, "configs", 0)))
	c.listens()
	if out, err := c.enter("root", "runtime", "doctor").CombinedOutput(); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	progtest.WaitFor(t, "the container to be ready", func() bool { return get(t, "http://10.9.9.9:8000/readyz", "") == 200 })
	// From another machine: the kubelet's probes, and Prometheus with and without the token.
	for _, look := range []struct {
		path, token string
		want        int
	}{{"/healthz", "", 200}, {"/metrics", "", 401}, {"/metrics", "token-of-the-image-test", 200}} {
		if got := get(t, "http://10.9.9.9:8000"+look.path, look.token); got != look.want {
			t.Errorf("%s with the token %q: %d, want %d", look.path, look.token, got, look.want)
		}
	}
	for _, pid := range progtest.Descendants(c.cmd.Process.Pid) {
		info, err := os.Lstat(fmt.Sprintf("/proc/%d", pid))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has ended by now
		}
		if err != nil {
			t.Fatal(err)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != 1000 && int(stat.Uid) != c.keeper() {
			t.Errorf("process %d belongs to %d", pid, stat.Uid)
		}
	}
	if code := c.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// TestBackup saves a container that runs, and restores it into an empty volume, by the
// commands of docs/operations.md.
func TestBackup(t *testing.T) {
	im := open(t)
	s := asCompose(t, volume(t, "configs", 0))
	c := im.run(t, s)
	c.listens()
	c.ask("kept", "remember the word is quince")
	script, err := os.Open(filepath.Join(codextest.Root(t), "deploy", "backup.sh"))
	if err != nil {
		t.Fatal(err)
	}
	defer script.Close()
	inside := strings.Fields(fromFile(t, "docs/operations.md", `exec -T workspace (sh -s .*?) <deploy/backup.sh`))
	var archive, complaints bytes.Buffer
	backup := c.enter("root", inside[0], inside[1:]...)
	backup.Stdin, backup.Stdout, backup.Stderr = script, &archive, &complaints
	if err := backup.Run(); err != nil {
		t.Fatalf("the backup: %v\n%s", err, complaints.String())
	}
	if out, err := c.exec("runtime", "task", "list"); err != nil {
		t.Errorf("after the backup: %v\n%s", err, out)
	}
	c.kill()

	compose := s
	compose.args = append([]string{"tar"}, strings.Fields(fromFile(t, "docs/operations.md", `--entrypoint tar workspace (-xzf .*?) <backup`))...)
	kubernetes := s
	kubernetes.user, kubernetes.may = "1000", ""
	kubernetes.args = []string{"sh", "-c", fromFile(t, "docs/operations.md", `restore -- sh -c '(.*?)' <backup`)}
	for name, restore := range map[string]spec{"compose": compose, "kubernetes": kubernetes} {
		t.Run(name, func(t *testing.T) {
			restore.bare, restore.stdin = true, bytes.NewReader(archive.Bytes())
			restore.configs = volume(t, "restored", 0)
			if err := errors.Join(os.Chown(restore.configs, 0, 1000), os.Chmod(restore.configs, 0o775|os.ModeSetgid)); err != nil { // as fsGroup has it
				t.Fatal(err)
			}
			restored := im.run(t, restore)
			if code := restored.ended(); code != 0 {
				t.Fatalf("the restore: exit code %d", code)
			}
			restore.bare, restore.stdin, restore.args = false, nil, nil
			again := im.run(t, restore)
			again.listens()
			if said := again.ask("kept", "recall"); !strings.Contains(said, "quince") {
				t.Errorf("after the restore: %s", said)
			}
		})
	}
}
