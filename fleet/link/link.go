// Package link is the way of codex to one machine: a listener on loopback, from which each connection goes on to the
// machine by TLS. codex's exec-server and its client speak through it as if it were not there.
//
// A link that refuses is what keeps codex from waiting: a client whose connection breaks tries for 25 s to have it
// back, and a turn is begun no sooner. One whose session is refused by the other side gives up at once, and tries
// again with the next turn (seen on 0.169.0).
package link

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Dialer opens connections to the machine.
type Dialer interface {
	// Dial returns a connection by TLS, to the machine that it is for.
	Dial(ctx context.Context) (net.Conn, error)
	// Sign makes a request one of the runtime's: its credential, and whose it is.
	Sign(r *http.Request)
}

// A Keeper knows what runs on the machine.
type Keeper interface {
	// Admit reports whether a connection that the machine has taken leads to where what runs there goes on. Where it does not,
	// codex is not to know before the turns there are ended: it may tell the model, and the model do without.
	Admit(answer http.Header) bool
}

// A Link is the way to one machine. Its methods may be called concurrently.
type Link struct {
	machine Dialer
	keeper  Keeper
	path    string // of the exec-server at the machine
	token   string // that codex brings
	log     *slog.Logger

	listener net.Listener
	server   *http.Server
	served   chan struct{}

	mu      sync.Mutex // guards the fields below
	refuses string     // why sessions are refused; empty while they are not
	open    map[*tunnel]bool
	carried sync.WaitGroup
}

// dialLimit bounds the opening of a connection to the machine: less than the 5 s that codex has for it.
const dialLimit = 4 * time.Second

// Listen opens a link. Connections go to a path of the machine. Without a keeper each is admitted.
func Listen(machine Dialer, keeper Keeper, path string, log *slog.Logger) (*Link, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for codex: %w", err)
	}
	l := &Link{
		machine: machine, keeper: keeper, path: path, token: rand.Text(), log: log,
		listener: listener, served: make(chan struct{}), open: map[*tunnel]bool{},
	}
	l.server = &http.Server{Handler: l, ReadHeaderTimeout: dialLimit, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	go func() {
		defer close(l.served)
		if err := l.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the way of codex to a machine has ended", "err", err)
		}
	}()
	return l, nil
}

// URL is where codex connects to.
func (l *Link) URL() string { return "ws://" + l.listener.Addr().String() }

// Token is what codex brings with it.
func (l *Link) Token() string { return l.token }

// Refuse ends all connections, and refuses each session from now on, for a reason that the model is shown.
func (l *Link) Refuse(why string) { l.turn(why) }

// Allow takes a refusal back.
func (l *Link) Allow() { l.turn("") }

func (l *Link) turn(refuses string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses = refuses; refuses == "" {
		return
	}
	for t := range l.open {
		t.cut()
	}
}

// Close ends the link and its connections.
func (l *Link) Close() {
	_ = l.server.Close() // what it returns is of the listener, which ends either way
	l.Refuse("the runtime is stopping")
	<-l.served
	l.carried.Wait()
}

// ServeHTTP takes a connection of codex's.
func (l *Link) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(token), []byte(l.token)) != 1 {
		http.Error(w, "this is for codex", http.StatusUnauthorized)
		return
	}
	if why := l.refusal(); why != "" {
		refuse(w, r, why)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), dialLimit)
	defer cancel()
	to, answer, err := l.connect(ctx, r)
	if err != nil {
		l.log.Debug("a connection to a machine failed", "err", err)
		http.Error(w, "the machine does not answer", http.StatusServiceUnavailable)
		return
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		to.Close()
		http.Error(w, "the machine does not take the connection", answer.StatusCode)
		return
	}
	if l.keeper != nil && !l.keeper.Admit(answer.Header) {
		to.Close()
		http.Error(w, "what ran on the machine has ended", http.StatusServiceUnavailable)
		return
	}
	l.carry(w, to, answer)
}

func (l *Link) refusal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refuses
}

// A buffered connection has what was read ahead of it.
type buffered struct {
	net.Conn
	ahead *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.ahead.Read(p) }

// connect asks the machine for its exec-server, in the words of codex's request.
func (l *Link) connect(ctx context.Context, r *http.Request) (net.Conn, *http.Response, error) {
	conn, err := l.machine.Dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	asked := r.Clone(ctx)
	asked.URL.Path, asked.RequestURI = l.path, ""
	asked.Header.Del("Authorization")
	l.machine.Sign(asked)
	if err := asked.Write(conn); err != nil {
		conn.Close()
		return nil, nil, err
	}
	ahead := bufio.NewReader(conn)
	answer, err := http.ReadResponse(ahead, asked)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return buffered{conn, ahead}, answer, nil
}
