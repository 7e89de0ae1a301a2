package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLentFolder has the agent of a platform work in a directory of the host's that is
// somebody else's, as workspace_dir has it, and the folder of uploads be its own, though
// the platform makes that as root.
func TestLentFolder(t *testing.T) {
	p := newPlace(t, 2, "root")
	p.spec.workspace = volume(t, "lent", 4242)
	theirs := filepath.Join(p.spec.workspace, "theirs")
	write(t, theirs, "theirs", 4242)
	c := p.provision()
	if out, err := c.exec("mkdir", "-p", "/workspace/.molecule/chat-uploads"); err != nil {
		t.Errorf("the platform's mkdir: %v\n%s", err, out)
	}
	p.say("run pwd; touch mine .molecule/chat-uploads/mine && echo made $((1+1)); cat theirs 2>/dev/null", "/workspace\\nmade 2")
	for path, want := range map[string]int{p.spec.workspace: 4242, theirs: 4242, filepath.Join(p.spec.workspace, ".molecule", "chat-uploads"): 1000} {
		if got := ownerOf(t, path); got != want {
			t.Errorf("%s belongs to %d, want %d", path, got, want)
		}
	}
	if info, err := os.Stat(theirs); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of what is theirs: %v, %v", info.Mode(), err)
	}
}

// TestWhatServes prepares the volumes for the commands that stay, and for no other.
func TestWhatServes(t *testing.T) {
	im := open(t)
	for command, want := range map[string]int{"channel": runtimeUser, "--help": 0, "version": 0} {
		t.Run(command, func(t *testing.T) {
			configs := volume(t, "configs", 0)
			c := im.run(t, spec{tier: 2, user: "root", configs: configs, workspace: "-", args: []string{command}})
			c.ended() // channel has nothing to read
			if got := ownerOf(t, configs); got != want {
				t.Errorf("the volume belongs to %d, want %d", got, want)
			}
			if started := strings.Contains(c.said(), `"msg":"starting"`); started != (want != 0) {
				t.Errorf("it says that it starts: %v", started)
			}
		})
	}
}
