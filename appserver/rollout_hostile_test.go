package appserver

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadTraceOfWhatIsPutInItsPlace: the file is in codex's home, which commands may own.
// Nothing there is waited for, and none of it comes into memory as a whole.
func TestReadTraceOfWhatIsPutInItsPlace(t *testing.T) {
	pipe, sparse := filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "sparse")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sparse, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 3<<30); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, sparse, "/dev/zero"} {
		if trace, err := ReadTrace(path, "c1"); err == nil {
			t.Errorf("ReadTrace(%s) = %+v, want an error", path, trace)
		}
	}
}

// TestReadTracePastLongLines: a line that is too long is passed over where the message
// stands elsewhere, and nothing is said of one that is not found.
func TestReadTracePastLongLines(t *testing.T) {
	long := func() io.Reader {
		return io.MultiReader(strings.NewReader(`{"timestamp":"t","type":"response_item","payload":{"type":"message","x":"`),
			bytes.NewReader(bytes.Repeat([]byte("x"), mostLine+1<<17)), strings.NewReader("\"}}\n"))
	}
	const ours = `{"type":"event_msg","payload":{"type":"item_completed","turn_id":"t1","item":{"type":"UserMessage","client_id":"c1"}}}` + "\n"
	if got, err := readTrace(io.MultiReader(long(), strings.NewReader(ours)), "c1"); err != nil || got != (Trace{Found: true}) {
		t.Errorf("behind a long line: %+v, %v", got, err)
	}
	if got, err := readTrace(long(), "c1"); err == nil {
		t.Errorf("only a long line: %+v", got)
	}
}
