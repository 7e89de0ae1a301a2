// Package screentest runs a program on a pseudo-terminal, for tests: they see what a person would
// see, and press keys.
package screentest

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A Screen is a program on a terminal.
type Screen struct {
	*Display

	cmd    *exec.Cmd
	master *os.File
	exited chan struct{} // closed when it has, and all that it has written is drawn
}

// Start runs a program on a terminal of so many columns and rows until the test ends.
func Start(tb testing.TB, cmd *exec.Cmd, columns, rows int) *Screen {
	tb.Helper()
	s := &Screen{Display: NewDisplay(tb, columns, rows), cmd: cmd, exited: make(chan struct{})}
	master, err := pty.StartWithSize(cmd, sizeOf(columns, rows))
	if err != nil {
		tb.Fatal(err)
	}
	s.master = master
	answered := make(chan struct{})
	go func() { // what the program asks the terminal, and its answers
		defer close(answered)
		_, _ = io.Copy(master, s.term)
	}()
	go func() {
		_, _ = io.Copy(s.Display, master)
		_ = cmd.Wait()
		close(s.exited)
	}()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.exited
		_ = master.Close()
		if answers, ok := s.term.InputPipe().(io.Closer); ok {
			_ = answers.Close()
		}
		<-answered
	})
	return s
}

func sizeOf(columns, rows int) *pty.Winsize {
	return &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}
}

// Type presses keys, as the bytes that a terminal sends for them.
func (s *Screen) Type(keys string) {
	s.tb.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.tb.Fatal(err)
	}
}

// The bytes of some keys.
const (
	Enter  = "\r"
	Escape = "\x1b"
	CtrlC  = "\x03"
	CtrlD  = "\x04"
	CtrlZ  = "\x1a"
)

// Resize makes the terminal another size.
func (s *Screen) Resize(columns, rows int) {
	s.tb.Helper()
	s.Display.Resize(columns, rows)
	if err := pty.Setsize(s.master, sizeOf(columns, rows)); err != nil {
		s.tb.Fatal(err)
	}
}

// Signal sends the program a signal.
func (s *Screen) Signal(sig syscall.Signal) {
	s.tb.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.tb.Fatal(err)
	}
}

// Echoes reports whether the terminal shows what is typed by itself, as it does when no program has
// its keys.
func (s *Screen) Echoes() bool {
	s.tb.Helper()
	mode, err := unix.IoctlGetTermios(int(s.master.Fd()), getTermios)
	if err != nil {
		s.tb.Fatal(err)
	}
	return mode.Lflag&unix.ECHO != 0
}

// Exit waits for the program's end, and returns its exit code.
func (s *Screen) Exit() int {
	s.tb.Helper()
	select {
	case <-s.exited:
	case <-time.After(Patience):
		s.tb.Fatalf("the program has not ended:\n%s", s.Text())
	}
	return s.cmd.ProcessState.ExitCode()
}
