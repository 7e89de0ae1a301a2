package crowd

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// Pipes are a listener in memory, whose connections come from where a test says.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error { close(p); return nil }

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

type pipe struct {
	net.Conn
	from net.Addr
}

func (p pipe) RemoteAddr() net.Addr { return p.from }

// A stage is a server of a small crowd. Requests of /wait wait, those of /much have a long
// answer, and who does not call the host a stranger is let in.
type stage struct {
	pipes
	done chan struct{}
	log  bytes.Buffer
	*crowd
}

func newStage(t *testing.T, most int) *stage {
	s := &stage{pipes: pipes(make(chan net.Conn)), done: make(chan struct{})}
	srv := &http.Server{IdleTimeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "stranger" {
			LetIn(r.Context())
		}
		if r.Host == "yields" {
			Waits(r.Context())
		}
		switch r.URL.Path {
		case "/wait":
			<-s.done
		case "/much":
			_, _ = w.Write(make([]byte, 64<<10))
		}
	})}
	ln := Bound(srv, s.pipes, most, slog.New(slog.NewTextHandler(&s.log, nil)))
	s.crowd = ln.(*crowd)
	served := make(chan error)
	go func() { served <- srv.Serve(ln) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-served
		synctest.Wait()
		if len(s.conns) != 0 || len(s.count) != 0 || s.waiting.Len() != 0 {
			t.Errorf("%d connections, %v, %d that wait are left", len(s.conns), s.count, s.waiting.Len())
		}
	})
	return s
}

// A visit is a connection, and whether it was closed on us.
type visit struct {
	net.Conn
	closed chan struct{}
	read   chan string
}

// visit opens a connection from an address, sends text, and reads what comes.
func (s *stage) visit(from, text string) *visit {
	v := s.deaf(from, text)
	v.listen()
	return v
}

// deaf opens a connection from an address and sends text. What comes is not read, and a pipe
// takes nothing that is not.
func (s *stage) deaf(from, text string) *visit {
	ours, theirs := net.Pipe()
	s.pipes <- pipe{theirs, &net.TCPAddr{IP: net.ParseIP(from), Port: 9}}
	_, _ = io.WriteString(ours, text)
	synctest.Wait()
	return &visit{ours, make(chan struct{}), make(chan string, 100)}
}

// listen begins to read.
func (v *visit) listen() {
	go func() {
		defer close(v.closed)
		buf := make([]byte, 4096)
		for {
			n, err := v.Read(buf)
			if err != nil {
				return
			}
			v.read <- string(buf[:n])
		}
	}()
	synctest.Wait()
}

func (v *visit) isClosed() bool {
	select {
	case <-v.closed:
		return true
	default:
		return false
	}
}

const (
	whole  = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	waits  = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"
	begun  = "GET / HTTP/1.1\r\nX: "
	near   = "127.0.0.1"
	others = "192.0.2.1"
)

// TestTheLongestIdleGoes: for one more, of those that wait for the header of a request, and
// not of those whose request is being answered.
func TestTheLongestIdleGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 8) // seven of them for this machine
		busy := s.visit(near, waits)
		idle, slow, silent := s.visit(near, whole), s.visit("127.9.9.9", begun), s.visit("::1", "")
		again := s.visit(near, whole)
		_, _ = io.WriteString(idle, whole) // which makes it the one that waits shortest
		synctest.Wait()
		for range 2 {
			s.visit(near, whole)
		}
		for i, gone := range []*visit{slow, silent, again} {
			if gone.isClosed() {
				t.Errorf("%d is closed while there is room", i)
			}
			one := s.visit(near, whole)
			if !gone.isClosed() || one.isClosed() || len(one.read) == 0 {
				t.Errorf("%d is open, or the new one is not served", i)
			}
		}
		if busy.isClosed() || idle.isClosed() {
			t.Error("one is closed that is served, or has waited shorter")
		}
		if n := strings.Count(s.log.String(), "too many connections"); n != 1 {
			t.Errorf("the log has %d lines: %s", n, &s.log)
		}
		close(s.done)
		synctest.Wait()
		if len(busy.read) == 0 {
			t.Error("the request that was running has no answer")
		}
	})
}

// TestAnsweredByNetHTTP: a request that does not come to the handler keeps nobody out, and is
// over in a while, whatever is still to come of it.
func TestAnsweredByNetHTTP(t *testing.T) {
	for name, request := range map[string]string{
		"any":      "OPTIONS * HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
		"expects":  "POST / HTTP/1.1\r\nHost: x\r\nExpect: x\r\nContent-Length: 10\r\n\r\n",
		"no host":  "GET / HTTP/1.1\r\nContent-Length: 10\r\n\r\n",
		"no words": "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 8)
				served := s.visit(near, waits)
				var held []*visit
				for range 8 {
					held = append(held, s.visit(near, request))
				}
				if one := s.visit(near, whole); one.isClosed() || len(one.read) == 0 {
					t.Error("others are kept out")
				}
				time.Sleep(answerTime + time.Second)
				synctest.Wait()
				for _, v := range held {
					if !v.isClosed() {
						t.Error("it is open without an end")
					}
				}
				close(s.done)
				synctest.Wait()
				if served.isClosed() || len(served.read) == 0 {
					t.Error("one that takes longer than that is cut off")
				}
			})
		})
	}
}

// TestAllAreBusy: then the new one is closed at once, and is let in when one is done.
func TestAllAreBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 8)
		for range 7 {
			s.visit(near, waits)
		}
		if one := s.visit(near, whole); !one.isClosed() {
			t.Error("there is an eighth of this machine")
		}
		if one := s.visit(others, whole); one.isClosed() || len(one.read) == 0 {
			t.Error("what this machine leaves free is not there for others")
		}
		close(s.done)
		synctest.Wait()
		if one := s.visit(near, whole); one.isClosed() {
			t.Error("there is no room again")
		}
	})
}

// TestNetworksHaveAShare: one that opens many connections closes its own, and the others
// keep theirs; many networks together close what has waited longest.
func TestNetworksHaveAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 16)
		mine := s.visit("198.51.100.7", whole)
		for range 50 {
			s.visit(others, begun)
		}
		if n := len(s.conns); n != 5 || mine.isClosed() {
			t.Errorf("%d are open, mine is closed: %v", n, mine.isClosed())
		}
		for i := range 50 {
			s.visit(fmt.Sprintf("2001:db8:1:%x::1", i), begun)
		}
		if n := len(s.conns); n != 16 || !mine.isClosed() {
			t.Errorf("%d are open, mine is closed: %v", n, mine.isClosed())
		}
	})
}

// TestMost: two fifths of the files that this process may have open, and no more than 4096.
func TestMost(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}()
	for files, want := range map[uint64]int{300: 120, 10_235: 4094, 10_240: 4096, before.Max: mostOpen} {
		if files > before.Max {
			continue
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: files, Max: before.Max}); err != nil {
			t.Fatal(err)
		}
		if n := Most(); n != want && files != before.Max || n > want {
			t.Errorf("of %d files: %d connections, not %d", files, n, want)
		}
	}
}

// TestThoseInARequestWhoGo: strangers, and callers who can come again, go before a new one is
// turned away, who has waited longest first. Other callers do not.
func TestThoseInARequestWhoGo(t *testing.T) {
	for _, host := range []string{"stranger", "yields"} {
		t.Run(host, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 8)
				var held []*visit
				for range 7 {
					held = append(held, s.visit(near, "GET /wait HTTP/1.1\r\nHost: "+host+"\r\n\r\n"))
				}
				for i := range held {
					s.visit(near, waits)
					for k, v := range held {
						if v.isClosed() != (k <= i) {
							t.Errorf("for %d more: number %d is closed: %v", i+1, k+1, v.isClosed())
						}
					}
				}
				if last := s.visit(near, whole); !last.isClosed() {
					t.Error("there is room beside callers who were let in")
				}
				close(s.done)
			})
		})
	}
}

// TestLetInAgain: to have gone before others in one request is nothing for the next one.
func TestLetInAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 8)
		kept := s.visit(near, "GET / HTTP/1.1\r\nHost: yields\r\n\r\n")
		_, _ = io.WriteString(kept, waits)
		synctest.Wait()
		for range 20 {
			s.visit(near, whole)
		}
		if kept.isClosed() {
			t.Error("it is closed in the middle of its second request")
		}
		close(s.done)
	})
}

// TestAnswersThatAreNotRead keep nobody out: those of strangers from the first byte on, those
// of callers when the handler has no more to say.
func TestAnswersThatAreNotRead(t *testing.T) {
	for name, request := range map[string]string{
		"a stranger's":               "GET / HTTP/1.1\r\nHost: stranger\r\n\r\n",
		"a stranger's long one":      "GET /much HTTP/1.1\r\nHost: stranger\r\n\r\n",
		"a stranger's, one by one":   strings.Repeat("GET / HTTP/1.1\r\nHost: stranger\r\n\r\n", 20),
		"a caller's, of one handler": whole,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 8)
				for range 8 {
					s.deaf(near, request)
				}
				served := s.visit(near, waits)
				for range 20 {
					s.deaf(near, request)
					if one := s.visit(near, whole); one.isClosed() || len(one.read) == 0 {
						t.Error("others are kept out")
					}
				}
				if served.isClosed() {
					t.Error("a caller who was let in is closed")
				}
				close(s.done)
			})
		})
	}
}

// TestLongAnswersOfCallers are theirs to read at their own pace.
func TestLongAnswersOfCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 8)
		slow := s.deaf(near, "GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
		for range 20 {
			s.visit(near, whole)
		}
		slow.listen()
		if slow.isClosed() || len(slow.read) < 16 {
			t.Errorf("it is closed: %v, after %d pieces", slow.isClosed(), len(slow.read))
		}
	})
}
