package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
)

func manyOf(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }

// TestRoomForWhatIsDecoded: by each door a message that is decoded has the room that it needs
// until it is taken, and as few are decoded at once as there are turns.
func TestRoomForWhatIsDecoded(t *testing.T) {
	const size = 1 << 20
	here, goOn := make(chan bool), make(chan bool)
	s := newServer(t, Config{MaxReading: size, Handler: &fakeHandler{send: func(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
		if req.Message.ID == "large" {
			here <- true
			<-goOn
		}
		return &a2a.Task{ID: "T"}, nil
	}}})
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(ts.Close)
	data := `{"x":[` + manyOf(2_000, `{"":0}`) + `]}` // 14 KB
	doors := map[string][2]string{
		"1.0":      {"/", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"<id>","role":"ROLE_USER","parts":[{"data":<data>}]}}}`},
		"0.3":      {"/", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"<id>","role":"user","parts":[{"kind":"data","data":<data>}]}}}`},
		"REST":     {"/message:send", `{"message":{"messageId":"<id>","role":"ROLE_USER","parts":[{"data":<data>}]}}`},
		"0.3 REST": {"/v1/message:send", `{"message":{"messageId":"<id>","role":"ROLE_USER","content":[{"data":{"data":<data>}}]}}`},
	}
	post := func(door [2]string, id, data string) (status int, after, said string) {
		res, err := http.Post(ts.URL+door[0], "application/json", strings.NewReader(strings.NewReplacer("<id>", id, "<data>", data).Replace(door[1])))
		if err != nil {
			t.Error(err)
			return 0, "", ""
		}
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, res.Header.Get("Retry-After"), string(text)
	}
	for name, door := range doors {
		first := make(chan string)
		go func() { _, _, said := post(door, "large", data); first <- said }()
		<-here
		waitRoom(t, s, func(left int64) bool { return left < size/2 })
		if n := len(s.bodies.Turns); n != 0 {
			t.Errorf("%s: a message that is decoded has one of %d turns", name, n)
		}
		status, after, said := post(door, "another", data)
		if status != http.StatusServiceUnavailable || after != "1" || !strings.Contains(said, "too many large requests come at once") {
			t.Errorf("%s: beside a large one: %d %q %s", name, status, after, said)
		}
		if status, _, said := post(door, "small", `{"x":0}`); status != http.StatusOK || strings.Contains(said, "error") {
			t.Errorf("%s: a small one: %d %s", name, status, said)
		}
		goOn <- true
		if said := <-first; strings.Contains(said, "error") {
			t.Errorf("%s: %s", name, said)
		}
		waitRoom(t, s, func(left int64) bool { return left == size })

		for range bounds.MostDecoded {
			s.bodies.Turns <- struct{}{}
		}
		go func() { _, _, said := post(door, "large", data); first <- said }()
		waitRoom(t, s, func(left int64) bool { return left < size/2 })
		if status, _, said := post(door, "small", `{"x":0}`); status != http.StatusOK || strings.Contains(said, "error") {
			t.Errorf("%s: a small one while a large one waits: %d %s", name, status, said)
		}
		select {
		case <-here:
			t.Errorf("%s: it has not waited for its turn", name)
		default:
			for range bounds.MostDecoded {
				<-s.bodies.Turns
			}
			<-here
		}
		goOn <- true
		<-first
		waitRoom(t, s, func(left int64) bool { return left == size })
	}
}
