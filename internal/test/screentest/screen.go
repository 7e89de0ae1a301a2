// Package screentest runs a program on a pseudo-terminal, for tests: they see what a person would
// see, and press keys.
package screentest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Patience is how long a screen may take to show something.
const Patience = 30 * time.Second

// A Screen is a program on a terminal.
type Screen struct {
	tb     testing.TB
	cmd    *exec.Cmd
	master *os.File
	exited chan struct{} // closed when it has, and all that it has written is drawn

	mu    sync.Mutex // guards what follows
	term  *vt.Emulator
	drawn chan struct{} // closed when something was drawn, and made anew
}

// Start runs a program on a terminal of so many columns and rows until the test ends.
func Start(tb testing.TB, cmd *exec.Cmd, columns, rows int) *Screen {
	tb.Helper()
	s := &Screen{tb: tb, cmd: cmd, exited: make(chan struct{}), term: vt.NewEmulator(columns, rows), drawn: make(chan struct{})}
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
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
		s.draw()
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

func (s *Screen) draw() {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		_, _ = s.term.Write(buf[:n])
		close(s.drawn)
		s.drawn = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return // the program has ended
		}
	}
}

// Text is what can be seen, and what has scrolled away above it.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.textLocked()
}

func (s *Screen) textLocked() string {
	var b strings.Builder
	for y := range s.term.ScrollbackLen() {
		var row strings.Builder
		for x := range s.term.Width() {
			if cell := s.term.ScrollbackCellAt(x, y); cell != nil {
				row.WriteString(cell.Content)
			}
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	for row := range strings.Lines(s.term.String()) {
		b.WriteString(strings.TrimRight(row, " \n") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Raw is what can be seen, with the sequences of its colours.
func (s *Screen) Raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term.Render()
}

// Await waits until all of the texts can be seen.
func (s *Screen) Await(texts ...string) {
	s.tb.Helper()
	s.Until(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// Until waits until the screen is as it is to be.
func (s *Screen) Until(what string, so func(screen string) bool) {
	s.tb.Helper()
	late := time.After(Patience)
	for {
		s.mu.Lock()
		screen, drawn := s.textLocked(), s.drawn
		s.mu.Unlock()
		if so(screen) {
			return
		}
		select {
		case <-drawn:
		case <-late:
			s.tb.Fatalf("the screen does not show %s:\n%s", what, screen)
		}
	}
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
)

// Resize makes the terminal another size.
func (s *Screen) Resize(columns, rows int) {
	s.tb.Helper()
	s.mu.Lock()
	s.term.Resize(columns, rows)
	s.mu.Unlock()
	if err := pty.Setsize(s.master, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		s.tb.Fatal(err)
	}
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
