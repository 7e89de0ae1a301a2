package selfstart_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/selfstart"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A double is the engine and the platform.
type double struct {
	mu     sync.Mutex
	sent   []selfstart.Message
	at     []time.Duration
	start  time.Time
	active int
	rows   []platform.Delegation
	told   []string
	refuse int   // sends that fail before one works
	down   error // of the platform
	after  func(m selfstart.Message)
}

func (d *double) send(_ context.Context, m selfstart.Message) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse > 0 {
		d.refuse--
		return errors.New("not now")
	}
	d.sent, d.at = append(d.sent, m), append(d.at, time.Since(d.start))
	if d.after != nil {
		d.after(m)
	}
	return nil
}

func (d *double) Active() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.active
}

func (d *double) Delegations(context.Context) ([]platform.Delegation, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]platform.Delegation(nil), d.rows...), d.down
}

func (d *double) Notify(_ context.Context, message string, _ ...platform.Attachment) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, message)
	return nil
}

func (d *double) messages() []selfstart.Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]selfstart.Message(nil), d.sent...)
}

func (d *double) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// run has the workspace run for a while, as one process.
func (d *double) run(t *testing.T, cfg selfstart.Config, f func()) {
	t.Helper()
	cfg.Send, cfg.Work = d.send, d
	cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	d.start = time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		selfstart.Run(ctx, cfg)
	}()
	synctest.Wait()
	f()
	cancel()
	<-done
}

func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestInitialPromptOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, dir := &double{refuse: 2}, t.TempDir()
		d.after = func(selfstart.Message) {
			if _, err := os.Stat(filepath.Join(dir, selfstart.Marker)); err != nil {
				t.Error("the prompt is sent before the marker stands: a prompt that kills us is sent for ever")
			}
		}
		cfg := selfstart.Config{InitialPrompt: "greet", MarkerDirs: []string{dir}}
		for range 3 {
			d.run(t, cfg, func() { after(time.Minute) })
		}
		got := d.messages()
		if len(got) != 1 || got[0].Text != "greet" || got[0].Kind != "initial_prompt" || !strings.HasPrefix(got[0].ID, "initial-") || len(got[0].ID) != 24 {
			t.Errorf("sent %+v", got)
		}
	})
}

// TestInitialPromptCrash is killed between the marker and the message, in effect.
func TestInitialPromptCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, dir := &double{refuse: 1 << 20}, t.TempDir()
		cfg := selfstart.Config{InitialPrompt: "greet", MarkerDirs: []string{dir}}
		d.run(t, cfg, func() { after(time.Second / 2) })
		d.refuse = 0
		d.run(t, cfg, func() { after(time.Minute) })
		if got := d.messages(); len(got) != 0 {
			t.Errorf("sent %+v", got)
		}
	})
}

func TestMarkerElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := t.TempDir()
		missing, work := filepath.Join(base, "configs"), filepath.Join(base, "work")
		if err := os.Mkdir(work, 0o700); err != nil {
			t.Fatal(err)
		}
		d := &double{}
		cfg := selfstart.Config{InitialPrompt: "greet", MarkerDirs: []string{missing, work}}
		d.run(t, cfg, func() { after(time.Minute) })
		if _, err := os.Stat(filepath.Join(work, ".initial_prompt_done")); err != nil || len(d.messages()) != 1 {
			t.Errorf("%v, sent %d", err, len(d.messages()))
		}
		if err := os.Mkdir(missing, 0o700); err != nil {
			t.Fatal(err)
		}
		d.run(t, cfg, func() { after(time.Minute) })
		cfg.MarkerDirs = []string{filepath.Join(base, "nowhere")}
		d.run(t, cfg, func() { after(time.Minute) })
		if n := len(d.messages()); n != 1 {
			t.Errorf("sent %d times", n)
		}
	})
}

func TestIdlePrompt(t *testing.T) {
	for name, c := range map[string]struct {
		interval time.Duration
		first    time.Duration
		n        int // in an hour
	}{"default": {0, time.Minute, 6}, "short": {20 * time.Second, 20 * time.Second, 180}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &double{}
				d.run(t, selfstart.Config{IdlePrompt: "look around", IdleInterval: c.interval}, func() { after(time.Hour + time.Second) })
				if len(d.at) != c.n || d.at[0] != c.first || d.sent[0].ID == d.sent[1].ID {
					t.Errorf("sent at %v", d.at)
				}
			})
		})
	}
}

// TestBusyIsNotIdle: a prompt into a running turn would be taken for the user's.
func TestBusyIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{active: 1}
		var rests atomic.Bool
		cfg := selfstart.Config{IdlePrompt: "look around", IdleInterval: 10 * time.Minute, Rest: rests.Load}
		d.run(t, cfg, func() {
			after(time.Hour)
			if n := len(d.messages()); n != 0 {
				t.Errorf("%d idle prompts while a turn runs", n)
			}
			d.set(func() { d.active = 0 })
			rests.Store(true)
			after(time.Hour)
			if n := len(d.messages()); n != 0 {
				t.Errorf("%d idle prompts while nothing is to be started", n)
			}
			rests.Store(false)
			after(10 * time.Minute)
			if n := len(d.messages()); n != 1 {
				t.Errorf("%d idle prompts", n)
			}
		})
	})
}

func row(id, delegation, status string, at time.Time) platform.Delegation {
	return platform.Delegation{ID: "row-" + id, DelegationID: delegation, Source: "w", Target: "peer-1", Status: status, CreatedAt: at,
		Preview: "PEER SAYS obey", Summary: "PEER SAYS", Error: "PEER SAYS"}
}

func TestResultsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		cfg := selfstart.Config{Platform: d, Workspace: "w", Seen: filepath.Join(t.TempDir(), "seen.json")}
		d.rows = []platform.Delegation{row("1", "old", "completed", time.Now().Add(-time.Hour))}
		d.run(t, cfg, func() {
			after(time.Minute)
			if n := len(d.messages()); n != 0 {
				t.Fatalf("%d messages about what was there before the first start", n)
			}
			other := row("9", "theirs", "completed", time.Now())
			other.Source = "somebody"
			d.set(func() {
				d.rows = append([]platform.Delegation{other, row("4", "b", "pending", time.Now()), row("3", "a", "completed", time.Now()), row("2", "a", "completed", time.Now())}, d.rows...)
			})
			after(31 * time.Second)
			got := d.messages()
			if len(got) != 1 || strings.Count(got[0].Text, "delegation a to workspace peer-1: completed") != 1 {
				t.Fatalf("sent %+v", got)
			}
			if strings.Contains(got[0].Text, "PEER SAYS") || strings.Contains(got[0].Text, "theirs") {
				t.Errorf("the peer speaks in it: %s", got[0].Text)
			}
			d.set(func() { d.rows[1].Status = "failed" })
			after(31 * time.Second)
			if n := len(d.messages()); n != 1 {
				t.Errorf("%d messages within the cool-down", n)
			}
			after(time.Minute)
			if got := d.messages(); len(got) != 2 || !strings.Contains(got[1].Text, "delegation b to workspace peer-1: failed") {
				t.Errorf("sent %+v", got)
			}
		})
		d.run(t, cfg, func() { after(10 * time.Minute) })
		if n := len(d.messages()); n != 2 {
			t.Errorf("%d messages: a restart replays old results", n)
		}
		if len(d.told) != 2 || d.told[0] != "“peer-1” has finished the task that was delegated to it." {
			t.Errorf("the user was told %q", d.told)
		}
		// One that ends while nobody runs.
		d.rows = append(d.rows, row("5", "c", "completed", time.Now().Add(-time.Minute)))
		d.run(t, cfg, func() { after(time.Minute) })
		if n := len(d.messages()); n != 3 {
			t.Errorf("%d messages: what ended in between is lost", n)
		}
	})
}

// TestResultsThatACallReturns: the model has them, or is about to. One whose call has
// ended without it is told like any other.
func TestResultsThatACallReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits atomic.Bool
		waits.Store(true)
		d := &double{}
		cfg := selfstart.Config{Platform: d, Workspace: "w", Seen: filepath.Join(t.TempDir(), "seen.json"), Awaited: func(id string) (bool, bool) {
			return id == "awaited" && waits.Load(), id == "told" || id == "row-3"
		}}
		d.run(t, cfg, func() {
			after(time.Minute)
			d.set(func() {
				d.rows = []platform.Delegation{row("1", "told", "completed", time.Now()), row("2", "awaited", "completed", time.Now()), row("3", "", "failed", time.Now())}
			})
			after(5 * time.Minute)
			if got := d.messages(); len(got) != 0 {
				t.Errorf("sent %+v", got)
			}
			waits.Store(false)
			after(time.Minute)
			if got := d.messages(); len(got) != 1 || !strings.Contains(got[0].Text, "delegation awaited to") || strings.Contains(got[0].Text, "told") {
				t.Errorf("sent %+v", got)
			}
		})
	})
}

// TestResultsOverACrash is killed after the message was taken, before that is written
// down: it is sent again under the id that it had, whatever has come since.
func TestResultsOverACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		file := filepath.Join(t.TempDir(), "seen.json")
		cfg := selfstart.Config{Platform: d, Workspace: "w", Seen: file}
		d.run(t, cfg, func() { after(time.Second) })
		var crashed []byte
		d.after = func(selfstart.Message) { crashed, _ = os.ReadFile(file) }
		d.rows = []platform.Delegation{row("1", "a", "completed", time.Now())}
		d.run(t, cfg, func() { after(time.Second) })
		if err := os.WriteFile(file, crashed, 0o600); err != nil {
			t.Fatal(err)
		}
		d.after = nil
		d.rows = append(d.rows, row("2", "b", "completed", time.Now()))
		d.run(t, cfg, func() { after(3 * time.Minute) })
		got := d.messages()
		if len(got) != 3 || got[0].ID != got[1].ID || got[0].Text != got[1].Text || strings.Contains(got[2].Text, "delegation a ") {
			t.Errorf("sent %+v", got)
		}
	})
}

// TestWhatIsNoResult: the platform says completed of what waits with a peer, and does
// not say which delegation a failure belongs to.
func TestWhatIsNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		cfg := selfstart.Config{Platform: d, Workspace: "w", Seen: filepath.Join(t.TempDir(), "seen.json")}
		d.run(t, cfg, func() {
			after(time.Second)
			waits := row("2", "a", "completed", time.Now())
			waits.Preview = `{"delivery_mode":"poll","method":"message/send","status":"queued"}`
			nameless := row("4", "", "failed", time.Now())
			nameless.Target = "peer-2"
			twin := row("5", "", "failed", time.Now())
			named := row("6", "c", "failed", time.Now())
			twin.Target, named.Target = "peer-3", "peer-3"
			d.set(func() {
				d.rows = []platform.Delegation{twin, named, nameless, waits, row("1", "a", "completed", time.Now())}
			})
			after(80 * time.Second)
			for _, m := range d.messages() {
				if strings.Contains(m.Text, "row-4") {
					t.Error("a failure is told of before the row that names it could come")
				}
			}
			after(10 * time.Minute)
			var all strings.Builder
			for _, m := range d.messages() {
				all.WriteString(m.Text)
			}
			if n := strings.Count(all.String(), "\n- "); n != 2 || !strings.Contains(all.String(), "delegation c to workspace peer-3: failed") ||
				!strings.Contains(all.String(), "peer-2: failed (row row-4)") {
				t.Errorf("%d results: %s", n, &all)
			}
		})
	})
}

func TestResultsWithAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		dir := filepath.Join(t.TempDir(), "gone")
		cfg := selfstart.Config{Platform: d, Workspace: "w", Seen: filepath.Join(dir, "seen.json")}
		d.run(t, cfg, func() {
			after(time.Minute)
			d.set(func() { d.rows = []platform.Delegation{row("1", "a", "completed", time.Now())} })
			after(5 * time.Minute)
			if n := len(d.messages()); n != 0 {
				t.Errorf("%d messages that would come again", n)
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			after(5 * time.Minute)
			if n := len(d.messages()); n != 1 {
				t.Errorf("%d messages after there is room again", n)
			}
		})
	})
}

// TestWaitsForWhatComesFirst: a prompt before the workspace is registered finds no tools.
func TestWaitsForWhatComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		ready := make(chan struct{})
		d.start = time.Now()
		go selfstart.Run(ctx, selfstart.Config{Send: d.send, InitialPrompt: "greet", MarkerDirs: []string{t.TempDir()}}, ready, make(chan struct{}))
		after(10 * time.Second)
		close(ready)
		if n := len(d.messages()); n != 0 {
			t.Error("sent too early")
		}
		after(21 * time.Second)
		if n := len(d.messages()); n != 1 {
			t.Error("never sent")
		}
	})
}
