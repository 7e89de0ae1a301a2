package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
)

// outliveReaders has a command that runs for long go on where what reads its log stands still
// or is gone. At the end of the command what is left to say is written, if it is read.
func (p *program) outliveReaders() (end func()) {
	release := outlivePipes()
	queue := logging.NewQueue(p.stderr)
	p.stderr = queue
	return func() {
		queue.Close()
		release()
	}
}

// outlivePipes has writing to a standard output or error that nothing reads fail, where it
// would end the program. The signal is not ignored, as that would come down to the children:
// codex and its commands.
func outlivePipes() (release func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGPIPE)
	return func() { signal.Stop(signals) }
}
