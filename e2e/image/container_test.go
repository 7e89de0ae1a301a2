package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// What make image-test hands over.
var (
	rootFlag    = flag.String("root", "", "folder with the image's root")
	argsFlag    = flag.String("arguments", "", "the build arguments that it was built with")
	inspectFlag = flag.String("inspect", "", "file with what buildah inspect says of the image")
)

// An image is what a registry would hold: a root, and how it is run.
type image struct {
	Root   string
	Config struct {
		Env        []string
		Entrypoint []string
		Cmd        []string
		User       string
	}
	History []struct {
		CreatedBy string `json:"created_by"`
		Empty     bool   `json:"empty_layer"`
	}
	Layers []struct{ Size int64 }
}

func open(t *testing.T) *image {
	t.Helper()
	if *rootFlag == "" {
		t.Skip("there is no image here: make image-test builds one")
	}
	raw, err := os.ReadFile(*inspectFlag)
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Manifest string
		OCIv1    json.RawMessage
	}
	im := &image{Root: *rootFlag}
	err = errors.Join(json.Unmarshal(raw, &said), json.Unmarshal(said.OCIv1, im), json.Unmarshal([]byte(said.Manifest), im))
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// A spec is how a platform runs a container.
type spec struct {
	tier      int    // of the platform; 0 is Kubernetes' read-only root, without a /tmp
	user      string // root, or a number
	configs   string // host folders of the volumes; "-" for none
	workspace string // "-" for none, "!" for not even a folder; with :ro behind it read-only
	env       []string
	args      []string // in the place of the image's command
	bare      bool     // without the image's entrypoint
	stdin     io.Reader
	socket    string // of the host's docker
	mounts    string // further volumes: a line of /folder-of-the-host:/path each
	may       string // capabilities of root, as setpriv has them; empty for Docker's
}

// A container is one that runs, or has run.
type container struct {
	t      *testing.T
	spec   spec
	cmd    *exec.Cmd
	exited chan struct{}

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

// Write takes what the container says.
func (c *container) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(p)
}

func (c *container) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.String()
}

// run starts a container. It is killed at the end of the test at the latest.
func (im *image) run(t *testing.T, s spec) *container {
	t.Helper()
	home, known := map[string]string{"root": "/root", "1000": "/home/agent"}[s.user]
	if !known {
		home = "/"
	}
	script, err := filepath.Abs("testdata/container.sh")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--",
		script, im.Root, t.TempDir(), fmt.Sprint(s.tier), s.user, s.configs, s.workspace,
		"HOME=" + home, "HOSTNAME=ws-container",
	}
	args = append(append(args, im.Config.Env...), s.env...)
	if !s.bare {
		args = append(args, im.Config.Entrypoint...)
	}
	if s.args == nil {
		s.args = im.Config.Cmd
	}
	c := &container{t: t, spec: s, exited: make(chan struct{})}
	c.cmd = exec.Command("unshare", append(args, s.args...)...)
	c.cmd.Env = append(os.Environ(), "CAPABILITIES="+s.may, "DOCKER_SOCKET="+s.socket, "MOUNTS="+s.mounts)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = s.stdin, c, c
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.exited)
		_ = c.cmd.Wait()
	}()
	t.Cleanup(func() {
		c.kill()
		if t.Failed() {
			t.Logf("the container said:\n%s", c.said())
		}
	})
	return c
}

// kill is what platforms do to stop a container: its first process gets SIGKILL, and
// with it goes all that runs there.
func (c *container) kill() {
	select {
	case <-c.exited:
		return
	default:
	}
	// Its death alone would do, but for a first process that is not root's.
	for _, pid := range progtest.Descendants(c.cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = c.cmd.Process.Kill()
	<-c.exited
}

// first is the process that is the container's number 1, as seen from here.
func (c *container) first() int {
	c.t.Helper()
	var pid int
	progtest.WaitFor(c.t, "the container's first process", func() bool {
		if all := progtest.Descendants(c.cmd.Process.Pid); len(all) > 0 {
			pid = all[0]
		}
		return pid != 0
	})
	return pid
}

// ended waits for the end and returns the exit code.
func (c *container) ended() int {
	c.t.Helper()
	select {
	case <-c.exited:
	case <-time.After(progtest.Patience):
		c.t.Fatal("the container does not end")
	}
	return c.cmd.ProcessState.ExitCode()
}

// stop is docker stop.
func (c *container) stop() int {
	c.t.Helper()
	if err := syscall.Kill(c.first(), syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	return c.ended()
}

// exec is docker exec, which is root's if nothing else is said.
func (c *container) exec(command string, args ...string) (string, error) {
	c.t.Helper()
	out, err := c.enter(c.spec.user, command, args...).CombinedOutput()
	return string(out), err
}

// enter is a command in the container, by one of its users.
func (c *container) enter(user, command string, args ...string) *exec.Cmd {
	c.t.Helper()
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", c.first()))
	if err != nil {
		c.t.Fatal(err)
	}
	all := []string{
		"--target", fmt.Sprint(c.first()), "--mount", "--pid", "--uts", "--ipc", "--root", "--",
	}
	if user != "root" {
		all = append(all, "setpriv", "--reuid="+user, "--regid="+user, "--clear-groups")
	}
	dir := "/workspace"
	if c.spec.workspace == "!" {
		dir = "/"
	}
	all = append(all, "env", "-C", dir, "-i")
	for kv := range strings.SplitSeq(strings.TrimRight(string(environ), "\x00"), "\x00") {
		if !strings.HasPrefix(kv, "GIT_CONFIG_SYSTEM=") { // start.sh has set it, and docker exec does not know of that
			all = append(all, kv)
		}
	}
	return exec.Command("nsenter", append(append(all, command), args...)...)
}

// resident is the memory of all processes of the container, in MiB; what they share
// counts once.
func (c *container) resident() int {
	total := 0
	for _, pid := range progtest.Descendants(c.cmd.Process.Pid) {
		rollup, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		for line := range strings.Lines(string(rollup)) {
			var kib int
			if _, err := fmt.Sscanf(line, "Pss: %d kB", &kib); err == nil {
				total += kib
			}
		}
	}
	return total >> 10
}

// volume is a new one, which belongs to user.
func volume(t *testing.T, name string, owner int) string {
	t.Helper()
	dir := codextest.Dir(t, name)
	if err := errors.Join(os.Chown(dir, owner, owner), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}
