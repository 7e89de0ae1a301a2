package image

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// Names that a shell may stumble over.
var odd = []string{"two\nLINES=1", "-rf", "a \"quoted\" $(name)", "back\\slash", "*", "\x1b[31mred", "ünïcode"}

// write makes a file of somebody's.
func write(t *testing.T, path, text string, owner int) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chown(path, owner, owner)); err != nil {
		t.Fatal(err)
	}
}

func ownerOf(t *testing.T, path string) int {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Lstat(path, &stat); err != nil {
		t.Fatal(err)
	}
	return int(stat.Uid)
}

func (c *container) listens() {
	c.t.Helper()
	progtest.WaitFor(c.t, "the runtime to listen", func() bool {
		select {
		case <-c.exited:
			c.t.Fatal("the container has ended")
		default:
		}
		return strings.Contains(c.said(), `"msg":"listening"`)
	})
}

// snapshot is the line of the log that names what there was at the start; each line
// before the program's is JSON.
func (c *container) snapshot() string {
	c.t.Helper()
	for line := range strings.Lines(c.said()) {
		if !strings.HasPrefix(line, "{") || !strings.HasSuffix(line, "}\n") {
			c.t.Errorf("no line of a log: %q", line)
		}
		if strings.Contains(line, `"msg":"starting"`) {
			return line
		}
	}
	c.t.Fatalf("nothing was said of the start: %s", c.said())
	return ""
}

// standalone are the settings of a container without a platform.
var standalone = []string{"RUNTIME_TOKEN=token-of-the-image-test", "RUNTIME_MODEL=scripted"}

// ask sends a message to a container that stands alone, and returns all of the answer.
func (c *container) ask(contextID, text string) string {
	c.t.Helper()
	return c.rpc("SendMessage", object{
		"message": object{"messageId": fmt.Sprintf("%x", sha256.Sum256([]byte(text))), "contextId": contextID, "role": "ROLE_USER", "parts": []object{{"text": text}}},
	})
}

// TestOddVolumes starts as root on volumes full of other people's files with odd names.
func TestOddVolumes(t *testing.T) {
	im := open(t)
	configs, work := volume(t, "configs", 0), volume(t, "workspace", 0)
	secrets := filepath.Join(configs, "secrets.d")
	if err := errors.Join(os.Mkdir(secrets, 0o700), os.Mkdir(filepath.Join(secrets, "FOLDER"), 0o700),
		os.Mkdir(filepath.Join(configs, "shut"), 0),
		syscall.Mkfifo(filepath.Join(secrets, "PIPE"), 0o600),
		os.Symlink("/etc/passwd", filepath.Join(secrets, "LINK")),
		os.Symlink("/etc/shadow", filepath.Join(work, "link"))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(secrets, "GOOD_NAME"), "value-of-good", 0)
	write(t, filepath.Join(configs, "shut", "in"), "", 0)
	for i, name := range odd {
		write(t, filepath.Join(secrets, name), fmt.Sprint("value-of-odd-", i), 4242)
		write(t, filepath.Join(configs, name), "", 4242)
		write(t, filepath.Join(work, name), "", 0)
		write(t, filepath.Join(work, "theirs"+name), "", 4242)
	}
	c := im.run(t, spec{tier: 2, user: "root", configs: configs, workspace: work, env: append([]string{
		"MULTI=" + secret, "ODD-NAME=value-of-an-odd-variable", "EMPTY=",
	}, standalone...)})
	c.listens()

	line := c.snapshot()
	if !strings.Contains(line, " EMPTY ") || !strings.Contains(line, " MULTI ") || !strings.Contains(line, `"secrets":"GOOD_NAME LINK "`) {
		t.Errorf("the snapshot is %s", line)
	}
	for _, shown := range []string{"value-of", "line-of-a-secret", "token-of-the-image-test"} {
		if strings.Contains(c.said(), shown) {
			t.Errorf("the log has %q in it", shown)
		}
	}
	paths := map[string]int{
		filepath.Join(configs, "shut", "in"): 1000, filepath.Join(secrets, "LINK"): runtimeUser, filepath.Join(work, "link"): 0, work: 1000,
		filepath.Join(im.Root, "etc/passwd"): 0, filepath.Join(im.Root, "etc/shadow"): 0,
	}
	for _, name := range odd {
		paths[filepath.Join(configs, name)] = 4242
		paths[filepath.Join(secrets, name)] = runtimeUser
		paths[filepath.Join(work, name)] = 0
		paths[filepath.Join(work, "theirs"+name)] = 4242
	}
	for path, want := range paths {
		if got := ownerOf(t, path); got != want {
			t.Errorf("%q belongs to %d, want %d", path, got, want)
		}
	}
	if said := c.ask("odd", "run ls -- -rf && touch mine && id -u"); !strings.Contains(said, "1000") {
		t.Errorf("a task: %s", said)
	}
}

// TestAnyUser runs as a user whom the image does not know, as clusters that number their
// users themselves have it, without a folder to work in, on a root that is read-only.
func TestAnyUser(t *testing.T) {
	im := open(t)
	c := im.run(t, spec{tier: 1, user: "4242", configs: volume(t, "configs", 4242), workspace: "!", env: standalone})
	c.listens()
	if line := c.snapshot(); !strings.Contains(line, `"uid":"4242"`) {
		t.Errorf("the snapshot is %s", line)
	}
	said := c.ask("any", "run pwd; id -u; echo home $HOME")
	for _, want := range []string{"/configs/workspace", "4242", "home /configs/.home"} {
		if !strings.Contains(said, want) {
			t.Errorf("a task: want %s in %s", want, said)
		}
	}
}

// TestLinkInPlaceOfAFolder: root gives away nothing that a link leads to.
func TestLinkInPlaceOfAFolder(t *testing.T) {
	im := open(t)
	configs := volume(t, "configs", 0)
	theirs := filepath.Join(configs, "theirs")
	err := errors.Join(os.Mkdir(theirs, 0o750), os.Chown(theirs, 4242, 4242), os.Symlink("theirs", filepath.Join(configs, "workspace")))
	if err != nil {
		t.Fatal(err)
	}
	c := im.run(t, spec{tier: 1, user: "root", configs: configs, workspace: "!", env: standalone})
	progtest.WaitFor(t, "the start", func() bool { return strings.Contains(c.said(), `"msg":"starting"`) })
	if !strings.Contains(c.said(), `"msg":"a directory is a link, and is not used"`) {
		t.Errorf("it says %s", c.said())
	}
	if owner := ownerOf(t, theirs); owner != 4242 {
		t.Errorf("what the link leads to belongs to %d", owner)
	}
}

// TestNothingToWrite says what is missing where nothing can be kept.
func TestNothingToWrite(t *testing.T) {
	im := open(t)
	c := im.run(t, spec{tier: 1, user: "1000", configs: volume(t, "configs", 0), workspace: "-", env: standalone})
	if code := c.ended(); code == 0 || !strings.Contains(c.said(), `"msg":"nothing can be kept"`) {
		t.Errorf("exit code %d", code)
	}
	c.snapshot()
}

// TestMayNotChangeUsers says what root needs to become the agent.
func TestMayNotChangeUsers(t *testing.T) {
	im := open(t)
	c := im.run(t, spec{tier: 2, user: "root", configs: volume(t, "configs", 0), workspace: "-", env: standalone, may: "+net_raw"})
	if code := c.ended(); code != 1 || !strings.Contains(c.said(), "start it as user 1000, or leave it SETUID and SETGID") {
		t.Errorf("exit code %d: %s", code, c.said())
	}
}

// TestWithoutAVolume works, and says that nothing of it will last.
func TestWithoutAVolume(t *testing.T) {
	const warning = `"msg":"what is kept goes with the container"`
	im := open(t)
	c := im.run(t, spec{tier: 2, user: "root", configs: "-", workspace: "-", env: standalone})
	c.listens()
	if !strings.Contains(c.said(), warning) {
		t.Error("it does not say that there is no volume")
	}
	c.kill()
	c = im.run(t, spec{tier: 2, user: "root", configs: volume(t, "configs", 0), workspace: "-", env: standalone})
	c.listens()
	if strings.Contains(c.said(), warning) {
		t.Error("it says that there is no volume where there is one")
	}
}
