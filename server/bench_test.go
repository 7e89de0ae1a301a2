package server

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// BenchmarkStream measures one delta of eight bytes through one stream over
// loopback, reader included.
func BenchmarkStream(b *testing.B) {
	for name, body := range map[string]string{"v1": v1Stream, "v0": v0Stream} {
		b.Run(name, func(b *testing.B) {
			part := a2a.NewTextPart("12345678")
			h := &fakeHandler{stream: func(context.Context, *a2a.SendMessageRequest) Events {
				return func(yield func(a2a.Event, error) bool) {
					for range b.N {
						if !yield(&a2a.TaskArtifactUpdateEvent{TaskID: "T", ContextID: "C", Append: true,
							Artifact: &a2a.Artifact{ID: "A", Parts: a2a.ContentParts{part}}}, nil) {
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
