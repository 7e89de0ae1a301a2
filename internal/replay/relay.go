package replay

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// SocketEnv names the variable by which the relay is told where to connect to.
const SocketEnv = "RUNTIME_REPLAY_SOCKET"

// controlMark begins a line that is for the relay itself: no JSON begins with it.
const controlMark = '\x00'

// Relay is the child that stands in for codex: what comes on stdin goes to the
// socket, what comes from there to stdout, until it is told how to end. It returns
// its exit code.
func Relay(socket string, stdin io.Reader, stdout, stderr io.Writer) int {
	conn, err := net.Dial("unix", socket) //nolint:noctx // it lives as long as the process
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "replay:", err)
		return 1
	}
	go func() {
		_, _ = io.Copy(conn, stdin)
		_ = conn.(*net.UnixConn).CloseWrite()
	}()
	lines := bufio.NewReaderSize(conn, 1<<16)
	for {
		first, err := lines.Peek(1)
		if err != nil {
			return 0
		}
		if first[0] == controlMark {
			command, _ := lines.ReadString('\n')
			return endAs(strings.TrimSpace(command[1:]), stderr)
		}
		if err := copyLine(stdout, lines); err != nil {
			return 0
		}
	}
}

func copyLine(to io.Writer, from *bufio.Reader) error {
	for {
		part, err := from.ReadSlice('\n')
		if _, werr := to.Write(part); werr != nil {
			return werr
		}
		if err == nil {
			return nil
		}
		if err != bufio.ErrBufferFull { //nolint:errorlint // as bufio returns it
			return err
		}
	}
}

// endAs ends the process as the recorded one has ended.
func endAs(code string, stderr io.Writer) int {
	n, err := strconv.Atoi(code)
	if err != nil {
		return 1
	}
	if n < 0 {
		_, _ = fmt.Fprintln(stderr, "replay: codex was ended by a signal")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return n
}
