package channel_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A deafDesk is a platform that takes what is said to peers and never answers.
type deafDesk struct {
	*desk
	trying chan string
}

func (d deafDesk) Send(ctx context.Context, target string, m platform.Message) (platform.Reply, error) {
	d.trying <- target
	ctx, cancel := context.WithTimeout(ctx, m.Limit)
	defer cancel()
	<-ctx.Done()
	return platform.Reply{}, unavailable()
}

// TestDeafPlatform: replies to peers that hang at the platform of one workspace hold none
// of another's back, however many they are, and however many workspaces there are.
func TestDeafPlatform(t *testing.T) {
	for _, others := range []int{1, 200} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			deaf := deafDesk{&desk{}, make(chan string, 1000)}
			desks := []*desk{}
			spaces := []channel.Workspace{{ID: "deaf", Platform: deaf, Files: shelf{}}}
			for n := range others {
				desks = append(desks, &desk{})
				spaces = append(spaces, channel.Workspace{ID: fmt.Sprintf("ws-%d", n), Platform: desks[n], Files: shelf{}})
			}
			r := open(t, dir, deaf.desk, &clerk{}, func(c *channel.Config) { c.Workspaces = spaces })
			defer r.stop()
			of := func(workspace string) func(*platform.Row) { return func(r *platform.Row) { r.Workspace = workspace } }
			for n := range 150 {
				deaf.put(fmt.Sprintf("p%d", n), "hello", of("deaf"))
			}
			time.Sleep(20 * time.Second)
			if n := len(deaf.trying); n < 1 || n > 32 {
				t.Errorf("%d replies hang", n)
			}
			last := desks[others-1]
			last.put("p", "hello to you", of(fmt.Sprintf("ws-%d", others-1)))
			time.Sleep(10 * time.Second)
			if letters := last.letters(); len(letters) != 1 {
				t.Errorf("beside %d workspaces: the peer of another one was told %v", others, letters)
			}
		})
	}
}
