package platform_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A wire is a network in a bubble: each attempt is answered by the next of its steps,
// and the last one again and again.
type wire struct {
	steps []step
	tries int
}

type step struct {
	status int // 0 for an error
	header string
	body   string
	sent   bool          // the error came after the platform was reached
	after  time.Duration // how long it takes
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	s := w.steps[min(w.tries, len(w.steps)-1)]
	w.tries++
	if s.after > 0 {
		select {
		case <-time.After(s.after):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && (s.sent || s.status != 0) {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	if s.status == 0 {
		return nil, errors.New("connection broke")
	}
	h := http.Header{}
	if s.header != "" {
		h.Set("Retry-After", s.header)
	}
	return &http.Response{StatusCode: s.status, Header: h, Body: io.NopCloser(strings.NewReader(s.body)), ContentLength: int64(len(s.body)), Request: r}, nil
}

func TestWhatIsRepeated(t *testing.T) {
	get := func(c *platform.Client) error { _, err := c.Peers(context.Background()); return err }
	say := func(c *platform.Client) error { return c.Notify(context.Background(), "hi") }
	beat := func(c *platform.Client) error { return c.Heartbeat(context.Background(), platform.Beat{}) }
	keyed := func(key string) func(c *platform.Client) error {
		return func(c *platform.Client) error {
			_, err := c.Delegate(context.Background(), platform.Task{Key: key})
			return err
		}
	}
	ok := step{status: 200, body: "{}"}
	rows := step{status: 200, body: "[]"}
	for name, c := range map[string]struct {
		do       func(*platform.Client) error
		steps    []step
		tries    int
		least    time.Duration // that it takes
		most     time.Duration
		wantFail bool
	}{
		"asking, after 503":              {get, []step{{status: 503}, rows}, 2, 100 * time.Millisecond, time.Second, false},
		"asking, after 524":              {get, []step{{status: 524}, rows}, 2, 100 * time.Millisecond, time.Second, false},
		"asking, after a broken answer":  {get, []step{{sent: true}, rows}, 2, 100 * time.Millisecond, time.Second, false},
		"asking, in an outage":           {get, []step{{}}, 5, time.Second, 10 * time.Second, true},
		"asking, refused":                {get, []step{{status: 403}}, 1, 0, 0, true},
		"asking, and told to wait":       {get, []step{{status: 429, header: "7"}, rows}, 2, 7 * time.Second, 7 * time.Second, false},
		"asking, and told to wait long":  {get, []step{{status: 429, header: "60"}}, 1, 0, 0, true},
		"asking, and told a moment":      {get, []step{{status: 503, body: `{"retry_after":0.001}`}, rows}, 2, time.Second, time.Second, false},
		"asking, and told so in JSON":    {get, []step{{status: 503, body: `{"retry_after":3}`}, rows}, 2, 3 * time.Second, 3 * time.Second, false},
		"asking, without an answer":      {get, []step{{after: time.Hour}}, 1, 30 * time.Second, 30 * time.Second, true},
		"saying, after 503":              {say, []step{{status: 503}}, 1, 0, 0, true},
		"saying, the answer is lost":     {say, []step{{sent: true}}, 1, 0, 0, true},
		"saying, nobody was reached":     {say, []step{{}, ok}, 2, 100 * time.Millisecond, time.Second, false},
		"saying, too often":              {say, []step{{status: 429, header: "2"}, ok}, 2, 2 * time.Second, 2 * time.Second, false},
		"saying, the datastore is away":  {say, []step{{status: 503, body: `{"code":"platform_unavailable"}`}, ok}, 2, 100 * time.Millisecond, time.Second, false},
		"a peer wakes up":                {say, []step{{status: 503, header: "15", body: `{"waking":true}`}, ok}, 2, 15 * time.Second, 15 * time.Second, false},
		"a beat has its own rhythm":      {beat, []step{{status: 503}}, 1, 0, 0, true},
		"a delegation with a key":        {keyed("k"), []step{{sent: true}, ok}, 2, 100 * time.Millisecond, time.Second, false},
		"a delegation that is two twice": {keyed(""), []step{{sent: true}}, 1, 0, 0, true},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{steps: c.steps}
				client := platform.New(platform.Config{
					URL: "http://platform", Workspace: "w", Token: platform.Token{Value: "t"}, HTTP: &http.Client{Transport: w},
				})
				start := time.Now()
				err := c.do(client)
				took := time.Since(start)
				if (err != nil) != c.wantFail || w.tries != c.tries || took < c.least || took > c.most {
					t.Errorf("%d tries in %v: %v", w.tries, took, err)
				}
				if strings.Contains(name, "long") && platform.ReasonOf(err) == "" {
					refused, _ := errors.AsType[*platform.Error](err)
					if refused == nil || refused.RetryAfter != time.Minute {
						t.Errorf("%v does not say how long", err)
					}
				}
			})
		})
	}
}

// TestCallersLeave ends the wait of a call with its caller.
func TestCallersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := platform.New(platform.Config{
			URL: "http://platform", Workspace: "w", Token: platform.Token{Value: "t"}, HTTP: &http.Client{Transport: &wire{steps: []step{{status: 429, header: "10"}}}},
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := client.Peers(ctx); err == nil || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// TestForgets has a platform replaced by a newer one.
func TestForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{steps: []step{{status: 404, body: "404 page not found"}, {status: 200, body: "{}"}}}
		client := platform.New(platform.Config{URL: "http://platform", Workspace: "w", Token: platform.Token{Value: "t"}, HTTP: &http.Client{Transport: w}})
		for range 3 {
			if err := client.AckActivity(t.Context(), 1); !errors.Is(err, platform.ErrUnsupported) {
				t.Error(err)
			}
		}
		time.Sleep(11 * time.Minute)
		if err := client.AckActivity(t.Context(), 1); err != nil || w.tries != 2 {
			t.Errorf("%v; %d requests", err, w.tries)
		}
	})
}
