package hostile

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// rooms has senders of large bodies who do not come to an end: as many are borne as
// docs/security.md says, and the next is told to come again.
func (x *world) rooms(t *testing.T) {
	const most = 16 << 20
	large := x.ours(strings.Repeat(" ", most-1<<10) + rpc("none", nil))
	served := func(a answer) bool { return a.status == 200 && strings.Contains(a.body, "-32601") }
	unfinished := fmt.Sprintf("POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
		x.addr(), x.token, most, strings.Repeat(" ", most-1))
	for range 3 {
		x.begin(t, unfinished)
	}
	if a := x.send(large); !served(a) {
		t.Errorf("a fourth large body: %s", a)
	}
	var more []net.Conn
	progtest.WaitFor(t, "a fifth to be refused", func() bool {
		more = append(more, x.begin(t, unfinished)) // each time: those that were begun have a minute
		a := x.send(x.ours(strings.Repeat(" ", 1<<20) + rpc("none", nil)))
		return a.status == 503 && strings.Contains(a.body, "too many large requests come at once")
	})
	for _, conn := range more {
		_ = conn.Close()
	}
	progtest.WaitFor(t, "a fourth to be served again", func() bool { return served(x.send(large)) })
}

// slowly has readers of large answers, of which codex has made one, who take nothing of them.
func (x *world) slowly(t *testing.T) {
	file := filepath.Join(x.outside, "large")
	x.write(file, said(own, "large", `"`+strings.Repeat("x", 15<<20)+`"`))
	id := taskOf(x.send(x.ours(message("large", "!raw "+file+" large"))))
	if id == "" {
		t.Fatal("there is no large task")
	}
	get := x.ours(rpc("GetTask", object{"id": id}))
	for range 3 {
		x.begin(t, get.text(x.addr()))
	}
	if a := x.send(get); a.status != 200 || len(a.body) < 1<<20 {
		t.Errorf("a fourth reader: %d bytes, %s", len(a.body), a)
	}
	progtest.WaitFor(t, "a fifth to be refused", func() bool {
		x.begin(t, get.text(x.addr()))
		a := x.send(get)
		return a.status == 200 && strings.Contains(a.body, "too many large answers are being read at once")
	})
	back := x.ours(rpc("SubscribeToTask", object{"id": id}))
	back.header = append(back.header, "Last-Event-ID: 1.1")
	if a := x.send(back); !strings.Contains(a.body, "too many large answers are being read at once") || strings.Contains(a.body, "xxxx") {
		t.Errorf("a reader who comes back: %d bytes, %s", len(a.body), a)
	}
}
