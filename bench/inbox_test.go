package bench

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// polling starts a channel for a workspace of a platform in this process.
func polling(b *testing.B, settings ...string) (*progtest.Program, *fakeplatform.Platform, *fakeplatform.Handle) {
	b.Helper()
	platform := fakeplatform.Start(b, fakeplatform.AUG)
	handle := platform.Add(fakeplatform.Workspace{Name: "Ada", Poll: true})
	settings = append(settings, "WORKSPACE_ID="+handle.ID(), "PLATFORM_URL="+platform.URL, "MOLECULE_WORKSPACE_TOKEN="+handle.Token(), "RUNTIME_MID_TURN=queue", "RUNTIME_ADDR=")
	p := progtest.Launch(b, program, []string{"channel"}, settings...)
	progtest.WaitFor(b, "the workspace to be online", func() bool { return handle.Status() == "online" && len(handle.Beats()) > 0 })
	return p, platform, handle
}

func say(b *testing.B, handle *fakeplatform.Handle, text string) {
	b.Helper()
	if reply, err := handle.Say(b.Context(), text); err != nil || reply.Status != 200 {
		b.Fatalf("%d %s, %v", reply.Status, reply.Body, err)
	}
}

func told(b *testing.B, handle *fakeplatform.Handle, n int) {
	b.Helper()
	progtest.WaitFor(b, "an answer", func() bool { return len(handle.Notices()) >= n })
}

// atRest reports what a program takes that has nothing to do.
func atRest(b *testing.B, p *progtest.Program, name string) {
	b.Helper()
	const settle, watch = 25 * time.Second, 40 * time.Second
	time.Sleep(settle)
	before := progtest.CPU(b, p.Pid())
	time.Sleep(watch)
	ran := progtest.CPU(b, p.Pid()) - before
	rss, _ := progtest.Memory(b, p.Pid())
	row(b, name, "cpu-%", 100*ran.Seconds()/watch.Seconds(), "rss-MiB", mib(rss))
}

// BenchmarkInbox is what a channel costs that has nothing to do, at the interval that it
// has by itself: the time that its own process runs and its resident set, codex not
// counted, before its first message ("idle") and half a minute after it ("idle-again").
// And how long a message is in the inbox
// before codex has read turn/start: "turn-start" from the moment at which it is there,
// "over-a-poll" what that is more than one interval, "behind-the-poll" from the moment at
// which the platform is asked that tells of it.
func BenchmarkInbox(b *testing.B) {
	p, _, handle := polling(b, realSettings(b, fakemodel.Keywords)...)
	atRest(b, p, "idle")
	say(b, handle, "say hello")
	told(b, handle, 1)
	atRest(b, p, "idle-again")
	p.Stop()

	const turns, warm, interval = 300, 10, 100 * time.Millisecond
	file := filepath.Join(codextest.Dir(b, "stamps"), "stamps")
	_, platform, handle := polling(b, append(fakeSettings(b, "turn slow-text 2"), stampsEnv+"="+file, "CHANNEL_POLL_INTERVAL="+interval.String())...)
	var put []int64
	var at []time.Time
	for n := range warm + turns {
		time.Sleep(time.Duration(n*37%100) * time.Millisecond) // anywhere in the interval
		put, at = append(put, clock()), append(at, time.Now())
		say(b, handle, "hello")
		told(b, handle, n+1)
	}
	codex := stamps(b, file, warm+turns)
	polls := platform.Requests("GET /workspaces/*/activity")
	took, next := series{}, 0
	for n := warm; n < warm+turns; n++ {
		whole := time.Duration(codex[n].read - put[n])
		for next < len(polls) && polls[next].At.Before(at[n]) {
			next++
		}
		took.add("turn-start", whole)
		took.add("behind-the-poll", whole-polls[next].At.Sub(at[n]))
	}
	took.report(b, "turn-start", "behind-the-poll")
	row(b, "over-a-poll", "p50-ms", ms(took["turn-start"].quantile(.5)-interval))
}
