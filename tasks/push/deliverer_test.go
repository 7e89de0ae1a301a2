package push

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestPost(t *testing.T) {
	b, r := newBench(t), newReceiver(t, nil)
	s := setting("c", r.URL+"/hook?key=1")
	s.Config.Token, s.Config.Auth = "token-1", &a2a.PushAuthInfo{Scheme: "Basic", Credentials: "abc="}
	b.task("t", s)
	b.tell("t", "c", `{"statusUpdate":{}}`)
	b.run(loopback)
	b.empty()
	got := r.all()
	if len(got) != 1 || got[0].path != "/hook" || got[0].body != `{"statusUpdate":{}}` {
		t.Fatalf("posted %+v", got)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "X-A2A-Notification-Token": "token-1", "Authorization": "Basic abc=",
		"A2A-Notification-Id": "t/1.1", "A2A-Version": "1.0",
	} {
		if h := got[0].header.Get(name); h != want {
			t.Errorf("%s: %q, want %q", name, h, want)
		}
	}
}

func TestNoHeadersWithoutSecrets(t *testing.T) {
	b, r := newBench(t), newReceiver(t, nil)
	s := setting("c", r.URL)
	s.Config.Auth = &a2a.PushAuthInfo{Scheme: "Bearer"}
	b.task("t", s)
	b.tell("t", "c", "1")
	b.run(loopback)
	b.empty()
	if h := r.all()[0].header; h.Get("Authorization") != "" || len(h.Values("X-A2A-Notification-Token")) > 0 {
		t.Errorf("header %v", h)
	}
}

// One that fails is posted again as it was, and those behind it wait; those of
// another setting do not. The clock stands still until that is seen, so the one
// that failed is not due before.
func TestOrderOfASetting(t *testing.T) {
	b := newBench(t)
	start := time.Now().Add(time.Hour) // after all that is told
	var passed atomic.Int64
	b.now = func() time.Time { return start.Add(time.Duration(passed.Load())) }
	first := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	other := newReceiver(t, nil)
	b.task("t", setting("a", first.URL), setting("b", other.URL))
	d := b.run(loopback)
	b.tell("t", "a", "1", "2")
	d.Wake()
	b.failed()
	b.tell("t", "b", "x", "y")
	d.Wake()
	eventually(t, "the other setting", func() bool { return len(other.all()) == 2 })
	if got := first.bodies(); !slices.Equal(got, []string{"1"}) {
		t.Errorf("posted %v before its time", got)
	}
	passed.Store(int64(2 * time.Second))
	b.tell("t", "a", "3")
	d.Wake()
	b.empty()
	if got := first.bodies(); !slices.Equal(got, []string{"1", "1", "2", "3"}) {
		t.Errorf("posted %v", got)
	}
	got := first.all()
	if a, z := got[0].header.Get(headerID), got[1].header.Get(headerID); a != z || a == got[2].header.Get(headerID) {
		t.Errorf("ids %q and %q for one notification", a, z)
	}
	if got := other.bodies(); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("posted %v", got)
	}
}

// Receivers that hang take their time, and nobody else's: what waited for them would
// wait for a minute.
func TestHangingReceivers(t *testing.T) {
	b, release := newBench(t), make(chan struct{})
	var hang []*receiver
	for range mostPosts {
		hang = append(hang, newReceiver(t, func(int, http.ResponseWriter, *http.Request) { <-release }))
	}
	var once sync.Once
	free := func() { once.Do(func() { close(release) }) }
	defer free()
	hanging := func() (n int) {
		for _, r := range hang {
			n += len(r.all())
		}
		return n
	}
	well := newReceiver(t, nil)
	for i, r := range hang {
		for j := range 3 {
			id := fmt.Sprint("hangs-", i, "-", j)
			b.taskOf("peer-1", id, setting("c", r.URL))
			b.tell(id, "c", "x")
		}
	}
	d := b.run(loopback)
	eventually(t, "the first posts", func() bool { return hanging() == mostPosts/2 })
	b.task("well", setting("c", well.URL))
	b.tell("well", "c", "1", "2", "3")
	d.Wake()
	eventually(t, "the other receiver", func() bool { return len(well.all()) == 3 })
	if n := hanging(); n != mostPosts/2 {
		t.Errorf("%d posts at the same time", n)
	}
	free()
	b.empty()
}

// What an answer means, on the way from the receiver to the outbox.
func TestRefusedForGood(t *testing.T) {
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusBadRequest, http.StatusUnauthorized, http.StatusNotFound, http.StatusGone} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			b := newBench(t)
			r := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 1 {
					w.Header().Set("Location", "http://169.254.169.254/latest/meta-data")
					w.WriteHeader(status)
				}
			})
			b.task("t", setting("c", r.URL))
			b.tell("t", "c", "1", "2")
			b.run(loopback)
			b.empty()
			if got := r.bodies(); !slices.Equal(got, []string{"1", "2"}) {
				t.Errorf("posted %v", got)
			}
			if log := b.log.String(); strings.Count(log, "is given up") != 1 || !strings.Contains(log, `"task_id":"t","config_id":"c","host":"`+r.Listener.Addr().String()+`"`) {
				t.Errorf("log %s", log)
			}
		})
	}
}

func TestGivenUpInTheEnd(t *testing.T) {
	b := newBench(t)
	b.age = store.Patience - 500*time.Millisecond
	r := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	b.task("t", setting("c", r.URL))
	b.tell("t", "c", "1")
	b.tire()
	b.run(loopback)
	b.empty()
	if n := len(r.all()); n != 1 || strings.Count(b.log.String(), "is given up") != 1 {
		t.Errorf("%d posts, log %s", n, &b.log)
	}
}

// TestADayLate: what waited while nobody was there to post it is not given up for one refusal.
func TestADayLate(t *testing.T) {
	b := newBench(t)
	b.age = 2 * store.Patience
	r := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	b.task("t", setting("c", r.URL))
	b.tell("t", "c", "1")
	b.run(loopback)
	b.empty()
	if n := len(r.all()); n != 2 || strings.Contains(b.log.String(), "is given up") {
		t.Errorf("%d posts, log %s", n, &b.log)
	}
}

// A process that is killed leaves its deliveries to the next: those that it had
// not posted, and those of which it did not learn the answer.
func TestRestart(t *testing.T) {
	b, r := newBench(t), newReceiver(t, nil)
	b.task("t", setting("c", r.URL))
	b.tell("t", "c", "1")
	b.restart()
	b.run(loopback)
	b.empty()
	if got := r.bodies(); !slices.Equal(got, []string{"1"}) {
		t.Fatalf("posted %v", got)
	}

	b.restart()
	slow := make(chan struct{})
	late := newReceiver(t, func(n int, w http.ResponseWriter, req *http.Request) {
		if n == 1 {
			select {
			case <-slow:
			case <-req.Context().Done():
			}
		}
	})
	defer close(slow)
	b.set("t", setting("c", late.URL))
	b.tell("t", "c", "2", "3")
	b.run(loopback)
	eventually(t, "the post", func() bool { return len(late.all()) == 1 })
	b.restart()
	b.run(loopback)
	b.empty()
	got := late.all()
	if bodies := late.bodies(); !slices.Equal(bodies, []string{"2", "2", "3"}) || got[0].header.Get(headerID) != got[1].header.Get(headerID) {
		t.Errorf("posted %v", bodies)
	}
}

// A failure counts over a restart, too.
func TestTriesSurvive(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	b.task("t", setting("c", r.URL))
	b.tell("t", "c", "1")
	b.run(loopback)
	if in := time.Until(b.failed()); in < deliver.LongestAsked-time.Minute || in > deliver.LongestAsked {
		t.Errorf("due in %s", in)
	}
	b.restart()
	d := b.run(loopback)
	b.tell("t", "c", "2")
	d.Wake()
	b.task("other", setting("c", r.URL+"/other"))
	b.tell("other", "c", "x")
	d.Wake()
	eventually(t, "the other task", func() bool { return len(r.all()) == 2 })
	if got := r.bodies(); !slices.Equal(got, []string{"1", "x"}) {
		t.Errorf("posted %v", got)
	}
}

// What waits for a setting that is deleted is not posted.
func TestDeletedSetting(t *testing.T) {
	b, r := newBench(t), newReceiver(t, nil)
	b.task("t", setting("gone", r.URL), setting("stays", r.URL))
	b.tell("t", "gone", "1", "2")
	b.tell("t", "stays", "3")
	b.must(b.st.DropPush(t.Context(), "t", "gone"))
	b.run(loopback)
	b.empty()
	if got := r.bodies(); !slices.Equal(got, []string{"3"}) {
		t.Errorf("posted %v", got)
	}
}
