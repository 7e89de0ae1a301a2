package platform

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestNestedReplies are deep ones of a peer, which each level of reading would read again.
func TestNestedReplies(t *testing.T) {
	for _, wrapper := range []string{`{"message":`, `{"task":`, `{"status":{"message":`} {
		const depth = 4000
		deep := strings.Repeat(wrapper, depth) + `{"parts":[{"text":"` + strings.Repeat("x", 2<<20) + `"}]}` +
			strings.Repeat(strings.Repeat("}", strings.Count(wrapper, "{")), depth)
		done := make(chan Reply, 1)
		go func() {
			reply, _ := readReply(json.RawMessage(`{"result":` + deep + `}`))
			done <- reply
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatalf("%s: still reading", wrapper)
		}
	}
	reply, err := readReply(json.RawMessage(`{"result":{"task":{"message":{"parts":[{"root":{"kind":"text","text":"hi"}}]}}}}`))
	if err != nil || reply.Text != "hi" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// TestLongHeader of an answer is not taken: small fields take many times their size in memory.
func TestLongHeader(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 1 << 13 {
			w.Header().Set("X-"+strconv.Itoa(i), "")
		}
	}))
	defer s.Close()
	res, err := (&http.Client{Transport: newTransport()}).Get(s.URL)
	if err == nil {
		_ = res.Body.Close()
		t.Errorf("an answer with %d fields is taken", len(res.Header))
	}
}
