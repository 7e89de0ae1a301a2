package rollout

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
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
	longtest.Mark(t)
	long := func() io.Reader {
		return io.MultiReader(strings.NewReader(`{"timestamp":"t","type":"response_item","payload":{"type":"message","x":[`),
			bytes.NewReader(bytes.Repeat([]byte("1,"), mostLine/2+1<<17)), strings.NewReader("1]}}\n"))
	}
	const ours = `{"type":"event_msg","payload":{"type":"item_completed","turn_id":"t1","item":{"type":"UserMessage","client_id":"c1"}}}` + "\n"
	if got, err := readTrace(io.MultiReader(long(), strings.NewReader(ours)), "c1"); err != nil || got != (Trace{Found: true}) {
		t.Errorf("behind a long line: %+v, %v", got, err)
	}
	if got, err := readTrace(long(), "c1"); err == nil {
		t.Errorf("only a long line: %+v", got)
	}
}

// TestReadTraceOfManyTurns: what is remembered of a file has a bound, beyond which each turn
// may have called a tool.
func TestReadTraceOfManyTurns(t *testing.T) {
	longtest.Mark(t)
	const ours = `{"type":"event_msg","payload":{"type":"item_completed","turn_id":"ours","item":{"type":"UserMessage","client_id":"c1"}}}` + "\n"
	for n, many := range map[int]bool{mostTurns: false, mostTurns + 1: true} {
		text := bytes.NewBufferString(ours)
		for i := range n {
			fmt.Fprintf(text, `{"type":"x","payload":{"turn_id":"%d"}}`+"\n", i)
		}
		if got, err := readTrace(text, "c1"); err != nil || got != (Trace{Found: true, Tool: many, Called: many}) {
			t.Errorf("behind %d turns: %+v, %v", n, got, err)
		}
	}
}

// TestReadLine cuts what no memory is to be taken for, and nothing else.
func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", mostString-1)
	for text, want := range map[string]string{
		`{"a":"b","c":[1,"\""]}`:             `{"a":"b","c":[1,"\""]}`,
		`"` + long + `x"`:                    `"` + long + `x"`,
		`["` + long + `xx","b"]`:             `["` + long + `x","b"]`,
		`["` + long + `\"\"","b"]`:           `["` + long + `\"","b"]`,
		`["` + long + `x\"\u005c","b"]`:      `["` + long + `x","b"]`,
		`["` + long + `\u00e4\u0022","b"]`:   `["` + long + `\u00e4","b"]`,
		`["` + long + `x\\","` + long + `"]`: `["` + long + `x","` + long + `"]`,
		`"` + long + `xxx {"c":"c1"}`:        `"` + long + `x"c":"c1"}`, // torn
	} {
		line, whole, err := readLine(bufio.NewReaderSize(strings.NewReader(text+"\n"), 16))
		if got := strings.TrimSuffix(string(line), "\n"); got != want || !whole || err != nil {
			t.Errorf("%s is read as %s, %v, %v; want %s", text, got, whole, err, want)
		}
		if json.Valid([]byte(text)) && !json.Valid(line) {
			t.Errorf("of %s comes %s, which is none", text, line)
		}
	}
}
