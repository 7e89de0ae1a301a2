package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// elsewhere keeps the files of messages where they take no memory.
type elsewhere struct{ attach.Files }

func (elsewhere) Stage(context.Context, string, *a2a.Part, int64, bool) (attach.File, error) {
	return attach.File{URI: "workspace:/f", Name: "f"}, nil
}
func (elsewhere) Path(string) (string, error)                        { return "/f", nil }
func (elsewhere) Offer(attach.Maker, attach.ReplyText) []attach.File { return nil }
func (elsewhere) Release([]attach.File)                              {}
func (elsewhere) Drop([]string)                                      {}
func (elsewhere) Most(bool) int64                                    { return 1 << 40 }

// heap is what lives in memory.
func heap() int64 {
	var m runtime.MemStats
	for range 3 { // what a pool holds goes with the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestBoundsOfWaitingCallers has callers of each door wait for the answers to messages with
// large files. The files are on the disk: nothing of them stays in memory.
func TestBoundsOfWaitingCallers(t *testing.T) {
	longtest.Mark(t)
	journal, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s := &station{t: t, turns: make(chan *turn, 64)}
	engine, err := tasks.New(tasks.Config{Runner: s, Journal: journal, Files: elsewhere{}})
	if err != nil {
		t.Fatal(err)
	}
	srv := newServer(t, Config{Handler: engine, ReplyAsMessage: true, Reply: reply.Of, AnyHost: true, MaxReading: 8 << 20})
	ts := httptest.NewServer(srv.Handler())
	var waiting sync.WaitGroup
	t.Cleanup(func() {
		ts.CloseClientConnections()
		ts.Close()
		waiting.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = engine.Close(ctx)
		if err := journal.Close(); err != nil {
			t.Error(err)
		}
	})
	const each = 2 << 20
	file := strings.Repeat("QUJD", each/3)
	v1 := `{"message":{"messageId":"<id>","role":"ROLE_USER","parts":[{"text":"hi"},{"raw":"<file>"}]}}`
	rpc := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":"1","method":"` + method + `","params":` + params + `}`
	}
	doors := map[string][2]string{
		"0.3":        {"/", rpc("message/send", `{"message":{"kind":"message","messageId":"<id>","role":"user","parts":[{"kind":"text","text":"hi"},{"kind":"file","file":{"bytes":"<file>"}}]}}`)},
		"1.0":        {"/", rpc("SendMessage", v1)},
		"1.0 stream": {"/", rpc("SendStreamingMessage", v1)},
		"REST":       {"/message:send", v1},
		"0.3 REST":   {"/v1/message:send", `{"message":{"messageId":"<id>","role":"ROLE_USER","content":[{"text":"hi"},{"file":{"fileWithBytes":"<file>"}}]},"configuration":{"blocking":true}}`},
	}
	before := heap()
	for name, door := range doors {
		const callers = 3
		for i := range callers {
			head, tail, _ := strings.Cut(strings.Replace(door[1], "<id>", fmt.Sprintf("%s %d", name, i), 1), "<file>")
			body := io.MultiReader(strings.NewReader(head), strings.NewReader(file), strings.NewReader(tail))
			waiting.Go(func() {
				req, err := http.NewRequest(http.MethodPost, ts.URL+door[0], body)
				if err != nil {
					return
				}
				req.Header.Set("Content-Type", "application/json")
				if res, err := http.DefaultClient.Do(req); err == nil {
					said, _ := io.ReadAll(res.Body)
					_ = res.Body.Close()
					if len(said) > 0 && strings.Contains(string(said), `"error"`) {
						t.Errorf("%s: %s", name, said)
					}
				}
			})
			select {
			case <-s.turns:
			case <-time.After(time.Minute):
				t.Fatalf("%s: no message arrived", name)
			}
		}
		if grown := heap() - before; grown > each {
			t.Errorf("%s: %d callers hold %d bytes, with files of %d bytes each", name, callers, grown, each)
		}
		before = heap()
	}
}
