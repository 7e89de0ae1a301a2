package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// BenchmarkStream measures one delta of eight bytes through one stream over
// loopback, reader included.
func BenchmarkStream(b *testing.B) {
	for name, body := range map[string]string{"v1": v1Stream, "v0": v0Stream} {
		b.Run(name, func(b *testing.B) {
			part := a2a.NewTextPart("12345678")
			h := &fakeHandler{shared: func(context.Context) guard.Events {
				return func(yield func(*feed.Event, error) bool) {
					for range b.N {
						if !yield(&feed.Event{ID: "1.123", Shared: true, Event: &a2a.TaskArtifactUpdateEvent{TaskID: "T", ContextID: "C", Append: true,
							Artifact: &a2a.Artifact{ID: "A", Parts: a2a.ContentParts{part}}}}, nil) {
							return
						}
					}
				}
			}}
			ts := start(b, Config{Handler: h})
			b.ReportAllocs()
			b.ResetTimer()
			res, err := http.Post(ts.URL, "application/json", strings.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			n, err := io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if err != nil || n < int64(b.N) {
				b.Fatal(n, err)
			}
		})
	}
}

// A link of a chain of events; whoever comes first makes the next one, and what
// all have passed is garbage.
type link struct {
	event *feed.Event
	next  atomic.Pointer[link]
}

func (l *link) follow(fresh func() *feed.Event) *link {
	if next := l.next.Load(); next != nil {
		return next
	}
	l.next.CompareAndSwap(nil, &link{event: fresh()})
	return l.next.Load()
}

// A sink takes what is written to it.
type sink struct {
	header http.Header
	bytes  int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(p []byte) (int, error) { s.bytes += len(p); return len(p), nil }
func (s *sink) Flush()                      {}

const fanReaders = 16

// BenchmarkFanOut measures what one delta of eight bytes costs that sixteen
// readers see, without their connections.
func BenchmarkFanOut(b *testing.B) {
	for _, door := range []struct{ name, path, body string }{
		{"v1", "/", v1Stream}, {"v0", "/", v0Stream}, {"rest", "/message:stream", restHi},
		{"v0REST", "/v1/message:stream", v0RESTHi},
	} {
		b.Run(door.name, func(b *testing.B) {
			first := &link{}
			delta := func() *feed.Event {
				return &feed.Event{ID: "1.123", Shared: true, Event: &a2a.TaskArtifactUpdateEvent{TaskID: "T", ContextID: "C", Append: true,
					Artifact: &a2a.Artifact{ID: "A", Parts: a2a.ContentParts{a2a.NewTextPart("12345678")}}}}
			}
			h := &fakeHandler{shared: func(context.Context) guard.Events {
				at := first
				return func(yield func(*feed.Event, error) bool) {
					for range b.N {
						if at = at.follow(delta); !yield(at.event, nil) {
							return
						}
					}
				}
			}}
			handler := newServer(b, Config{Handler: h}).Handler()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			var wg sync.WaitGroup
			for range fanReaders {
				wg.Go(func() {
					r := httptest.NewRequestWithContext(b.Context(), "POST", "http://localhost"+door.path, strings.NewReader(door.body))
					r.Header.Set("Content-Type", "application/json")
					w := &sink{header: http.Header{}}
					handler.ServeHTTP(w, r)
					if w.bytes < b.N*100 {
						b.Error(w.bytes, "bytes")
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N*fanReaders), "allocs/event/reader")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N*fanReaders), "B/event/reader")
		})
	}
}

// echoing answers every message with the same task, and remembers nothing.
type echoing struct {
	*fakeHandler
	task *a2a.Task
}

func (h echoing) SendMessage(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	return h.task, nil
}

// BenchmarkSend measures a blocking send through the JSON-RPC doors, without a
// connection and without an engine.
func BenchmarkSend(b *testing.B) {
	task := echoTask(&a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))})
	handler := newServer(b, Config{Handler: echoing{&fakeHandler{}, task}}).Handler()
	for name, body := range map[string]string{"v1": v1Hi, "v0": v0Hi} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), "POST", "http://localhost/", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := &sink{header: http.Header{}}
				if handler.ServeHTTP(w, r); w.bytes < 100 {
					b.Fatal(w.bytes, "bytes")
				}
			}
		})
	}
}
