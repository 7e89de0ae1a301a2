package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/forward"
)

// forwardEnv makes this binary a forwarder and nothing else: to the URL, with the key.
const forwardEnv = "BENCH_FORWARD"

// forwardTo is the life of such a process: it says where it is and with what, and ends
// with its standard input.
func forwardTo(target string) {
	runtime.GOMAXPROCS(max(1, runtime.NumCPU()/2)) // as the program has it
	transport, err := forward.Transport("")
	if err != nil {
		panic(err)
	}
	f, err := forward.Listen(transport, func(forward.Call) {}, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	url, key, _ := strings.Cut(target, " ")
	base, token, err := f.Renew(forward.Target{URL: url, Key: key})
	if err != nil {
		panic(err)
	}
	fmt.Println(base, token)
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = f.Close(context.Background())
	os.Exit(0)
}

// forwarded starts a forwarder in a process of its own, and returns launch by way of
// it, and its process.
func forwarded(b *testing.B, launch adapter.Launch, key string) (adapter.Launch, int) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), forwardEnv+"="+launch.Provider.BaseURL+" "+key)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	url, token, _ := strings.Cut(strings.TrimSpace(line), " ")
	launch.Provider.Forward = adapter.Forward{URL: url, Token: token}
	return launch, cmd.Process.Pid
}
