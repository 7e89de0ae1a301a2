package presence_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// BenchmarkMinute is what a minute of presence costs: two heartbeats and a look at the
// workspace's state, through the real client over a real connection. Both ends run
// here, so less than this falls to us. %core is the share of a core, by the CPU that the
// process has used; 0.5 is the limit.
func BenchmarkMinute(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"status":"ok"}`)
	}))
	defer s.Close()
	client := platform.New(platform.Config{URL: s.URL, Workspace: "w", Token: platform.Token{Value: "t"}})
	defer client.Close()
	before := cpu(b)
	for b.Loop() {
		for range 2 {
			if err := client.Heartbeat(b.Context(), platform.Beat{Metadata: &platform.RuntimeMetadata{}}); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := client.State(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100*float64(cpu(b)-before)/float64(b.N)/float64(time.Minute), "%core")
}

// BenchmarkTurn is what a turn waits for presence.
func BenchmarkTurn(b *testing.B) {
	p := presence.New(presence.Config{Platform: &double{start: time.Now()}, Card: func() any { return nil }})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	for i := 0; b.Loop(); i++ {
		id := strconv.Itoa(i)
		p.Began(id, "what the turn is about")
		p.Turn("")
		p.Ended(id)
	}
	cancel()
	<-done
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
