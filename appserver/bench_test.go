package appserver

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const benchThread = "01a1fd16-821f-7003-a99a-9f04a99bc144"

// benchDelta is a delta of about 200 bytes as codex writes it.
var benchDelta = fmt.Sprintf(`{"method":"item/agentMessage/delta","params":{"threadId":%q,"turnId":"01a1fd16-8220-7003-a99a-9f04a99bc145","itemId":"msg_0123456789","delta":"some words "},"emittedAtMs":1795247473176}`, benchThread) + "\n"

func benchClient() *Client {
	c := &Client{log: slog.New(slog.DiscardHandler)}
	c.router = newRouter(1<<30, func(Notification) {}, &c.stats)
	return c
}

// BenchmarkRoute is a line through the scan into its queue and out of it.
func BenchmarkRoute(b *testing.B) {
	c := benchClient()
	names := newMethods()
	s := c.Subscribe(benchThread)
	line := rawLine{text: []byte(strings.TrimSpace(benchDelta))}
	b.SetBytes(int64(len(benchDelta)))
	b.ReportAllocs()
	for b.Loop() {
		c.route(line, names)
		if _, err := s.Next(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScan is the scan alone.
func BenchmarkScan(b *testing.B) {
	for _, size := range []int{10, 100_000} {
		line := []byte(strings.TrimSpace(strings.Replace(benchDelta, "some words ", strings.Repeat("x", size), 1)))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := scanEnvelope(line); !ok {
					b.Fatal("refused")
				}
			}
		})
	}
}

// BenchmarkPipe is lines through a pipe, as they come from the child.
func BenchmarkPipe(b *testing.B) {
	o, w, err := outputPipe()
	if err != nil {
		b.Fatal(err)
	}
	c := benchClient()
	c.cfg.MaxLine = 64 << 20
	c.proc = &process{stdout: o}
	s := c.Subscribe(benchThread)
	const batch = 100
	lines := bytes.Repeat([]byte(benchDelta), batch)
	b.ReportAllocs()
	b.SetBytes(int64(len(benchDelta)))
	read := make(chan struct{})
	go func() { defer close(read); c.read() }()
	go func() {
		defer w.Close() // the reader's end is what counts
		for left := b.N; left > 0; left -= batch {
			if _, err := w.Write(lines[:min(left, batch)*len(benchDelta)]); err != nil {
				return
			}
		}
	}()
	for range b.N {
		if _, err := s.Next(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	<-read
	_ = o.f.Close()
}
