package sandbox

import (
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Terms are what holds for the sandboxes of all threads.
type Terms struct {
	User  *asuser.User          // that codex runs as
	Cwd   string                // the working directory
	Mode  appserver.SandboxMode // of threads whose messages ask for no other
	Apart []within.Place        // that commands must not write
	Open  bool                  // callers need no credential, or one that commands can read
}

// Places are what a codex was started with.
type Places struct {
	Loaded  []within.Place // what it loads programs from outside of the sandbox
	Written []string       // what the user's configuration lets commands write
	Temp    []string       // temp directories of commands; none if they have that of Env
	Env     []string
}

// A Guard knows what the commands of one codex can do in their sandboxes, until it ends. Its methods may be
// called concurrently.
type Guard struct {
	terms     Terms
	writable  writable
	networked atomic.Bool // commands of some thread have the network in their sandbox
}

// New returns the guard of a codex of which no thread is loaded.
func New(terms Terms) *Guard { return &Guard{terms: terms} }

// Learn notes what the commands of a thread can do, which codex has loaded.
func (g *Guard) Learn(in Places, session appserver.ThreadSession) {
	g.learnWritable(in, session)
	g.learnNetwork(session)
}

// Forget is for the end of codex, with which its commands and what they were allowed end.
func (g *Guard) Forget() {
	g.writable.forget()
	g.networked.Store(false)
}
