package wirelog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const secret = "hunter2-hunter2"

func redact(text string) string { return strings.ReplaceAll(text, secret, "***") }

// recorded returns what a recorder writes.
func recorded(t *testing.T, do func(*Recorder)) (text string, lines []Entry) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "wire")
	r := Open(Config{Path: path, Redact: redact, Run: Run{Runtime: "1", Codex: "2"}})
	do(r)
	_ = r.Close() // which waits for no slow disk
	<-r.done
	return content(t, path)
}

func content(t *testing.T, path string) (text string, lines []Entry) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
		var one Entry
		if err := json.Unmarshal(text, &one); err != nil {
			t.Fatalf("line %d: %v in:\n%.4000s", i+1, err, raw)
		}
		lines = append(lines, one)
	}
	return string(raw), lines
}

func TestRecord(t *testing.T) {
	before := time.Now().Add(-time.Millisecond)
	_, lines := recorded(t, func(r *Recorder) {
		r.Started(7)
		r.Sent([]byte(`{"method":"initialize","id":1}`))
		r.Received([]byte(`{"id":1,"result":{"é":"<&>"}}`))
		r.Received([]byte("npm notice \x1b[0m \xff"))
		r.Received([]byte(`{"half":`))
		r.Ended(map[string]any{"code": -1, "ours": true})
	})
	var got []string
	for i, l := range lines {
		if l.Time.Before(before) || l.Time.After(time.Now()) {
			t.Errorf("line %d is of %v", i+1, l.Time)
		}
		noise := ""
		if l.Noise != nil {
			noise = *l.Noise
		}
		got = append(got, fmt.Sprintf("%s%s|%s%s|%s", l.Event, l.Data, l.Send, l.Receive, noise))
	}
	want := []string{
		`run{"format":"molecule-codex-runtime/wire","version":1,"runtime":"1","codex":"2"}||`,
		`child{"pid":7}||`, `|{"method":"initialize","id":1}|`, `|{"id":1,"result":{"é":"<&>"}}|`,
		"||npm notice \x1b[0m \uFFFD", `||{"half":`, `end{"code":-1,"ours":true}||`, `done||`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	text, _ := recorded(t, func(r *Recorder) {
		r.Received([]byte(`{"id":1,"result":{"text":"a ` + secret + ` b","` + secret + `":1,"esc":"\u0068unter2-hunter2"}}`))
		r.Received([]byte(`{"id":2,"result":{"type":"chatgptDeviceCode","loginId":"stays","userCode":"ABCD-` + `EFGH1","verificationUrl":"https://auth.example/device"}}`))
		r.Sent([]byte(`{"id":3,"result":{"accessToken":"opaqueOne","refresh_token":"opaqueTwo","chatgptAccountId":"stays"}}`))
		r.Sent([]byte(`{"method":"account/login/start","id":4,"params":{"type":"apiKey","apiKey":"opaqueThree"}}`))
		r.Received([]byte(`{"method":"x","params":{"authorization":["opaqueFour",{"a":"opaqueFive"}],"behind":"stays","GH_TOKEN":"opaqueSix"}}`))
		r.Received([]byte(`{"method":"x","params":{"tokenUsage":{"totalTokens":15},"nextToken":null,"text":"` + long + secret + `"}}`))
		r.Received([]byte("noise with " + secret))
		r.Record("launch", map[string]any{"args": []string{"-c", "x=" + secret}})
		r.Ended(map[string]any{"stderr": "died of " + secret})
	})
	for _, gone := range []string{secret, "hunter2", "EFGH1", "auth.example", "opaque"} {
		if i := strings.Index(text, gone); i >= 0 {
			t.Errorf("%s is there: …%.200s", gone, text[max(0, i-100):])
		}
	}
	for _, stays := range []string{`"loginId":"stays"`, `"chatgptAccountId":"stays"`, `"behind":"stays"`, `"totalTokens":15`, `"type":"apiKey"`} {
		if !strings.Contains(text, stays) {
			t.Errorf("%s is gone", stays)
		}
	}
	if len(text) < len(long) {
		t.Errorf("the long line is gone: %d bytes", len(text))
	}
}

// TestSecretAnswer has codex ask for what it calls secret.
func TestSecretAnswer(t *testing.T) {
	text, _ := recorded(t, func(r *Recorder) {
		r.Received([]byte(`{"method":"item/tool/requestUserInput","id":9,"params":{"questions":[{"id":"q","question":"Which?","isSecret":true}]}}`))
		r.Record("answer", map[string]any{"job": "j1", "answer": map[string]any{"ID": "m1", "Question": "t.1", "Text": "opaqueOne", "Input": []any{map[string]any{"type": "text", "text": "opaqueOne"}}}})
		r.Sent([]byte(`{"method":"turn/start","id":9,"params":{"text":"stays"}}`))
		r.Sent([]byte(`{"id":9,"result":{"answers":{"q":{"answers":["opaqueOne"]}}}}`))
		r.Record("answer", map[string]any{"answer": map[string]any{"Text": "stays, too"}})
	})
	if strings.Contains(text, "opaque") || !strings.Contains(text, `"text":"stays"`) || !strings.Contains(text, "stays, too") || !strings.Contains(text, `"job":"j1"`) {
		t.Errorf("%s", text)
	}
}

func deltaOf(item, text string) []byte {
	return []byte(`{"method":"item/agentMessage/delta","params":{"threadId":"t","itemId":"` + item + `","delta":` + string(encode(text)) + `},"emittedAtMs":1}`)
}

// deltas returns the text of an item as it stands in a record.
func deltas(lines []Entry, item string) (all string, pieces int) {
	for _, l := range lines {
		var d delta
		if json.Unmarshal(l.Receive, &d) == nil && d.Params.ItemID == item {
			all += d.Params.Delta
			pieces++
		}
	}
	return all, pieces
}

// TestSecretInPieces streams a secret as a model does.
func TestSecretInPieces(t *testing.T) {
	for size := 1; size <= 20; size++ {
		for _, rest := range []string{"", " and more words", "\nmore"} {
			said := "the password is " + secret + rest
			text, lines := recorded(t, func(r *Recorder) {
				r.Received(deltaOf("other", "part"))
				for i := 0; i < len(said); i += size {
					r.Received(deltaOf("m", said[i:min(len(said), i+size)]))
				}
				r.Received([]byte(`{"method":"item/completed","params":{"item":{"id":"m","text":` + string(encode(said)) + `}}}`))
				r.Received([]byte(`{"method":"turn/completed","params":{}}`))
			})
			got, pieces := deltas(lines, "m")
			if want := redact(said); got != want || pieces != (len(said)+size-1)/size {
				t.Fatalf("in pieces of %d: %q in %d, want %q in:\n%s", size, got, pieces, want, text)
			}
			if strings.Contains(text, "unter2") {
				t.Fatalf("in pieces of %d: the secret is there:\n%s", size, text)
			}
			if last := lines[len(lines)-2]; !bytes.Contains(last.Receive, []byte("turn/completed")) {
				t.Fatalf("the order is lost: %s", text)
			}
		}
	}
}

// TestStreamWithoutBlanks holds no more back than it may.
func TestStreamWithoutBlanks(t *testing.T) {
	p := pieces{redact: redact, open: map[string]*stream{}}
	most := 0
	var out []*line
	for range 5000 {
		raw := deltaOf("m", strings.Repeat("x", 100))
		out = append(out, p.add(&line{entry: entry{kind: kindReceive, text: raw}, piece: pieceOf(raw)})...)
		most = max(most, len(p.wait))
	}
	if most > mostWord/100+2 {
		t.Errorf("%d lines were held back", most)
	}
	if out = append(out, p.all()...); len(out) != 5000 || len(p.wait) != 0 || len(p.open) != 0 {
		t.Errorf("%d lines came out, %d wait", len(out), len(p.wait))
	}
}

func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wire")
	r := Open(Config{Path: path, Limit: 4 << 10})
	for i := range 200 {
		r.Sent([]byte(`{"n":` + fmt.Sprint(i) + `,"text":"` + strings.Repeat("x", 60) + `"}`))
		time.Sleep(100 * time.Microsecond) // so that they are not written as one
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + OldSuffix} {
		info, err := os.Stat(name)
		if err != nil || info.Size() > 8<<10 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		_, lines := content(t, name)
		var run Run
		if err := json.Unmarshal(lines[0].Data, &run); err != nil || !run.Continues {
			t.Errorf("%s begins with %+v, %v", name, run, err)
		}
	}
	if files, _ := filepath.Glob(path + "*"); len(files) != 2 {
		t.Errorf("files: %q", files)
	}
}

// TestUnwritable has the file be what cannot be written: nobody waits, the log says so.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	fifo, link, taken := filepath.Join(dir, "fifo"), filepath.Join(dir, "link"), filepath.Join(dir, "taken")
	if err := errors.Join(syscall.Mkfifo(fifo, 0o600), os.Symlink(filepath.Join(dir, "target"), link)); err != nil {
		t.Fatal(err)
	}
	named, others := filepath.Join(dir, "named"), filepath.Join(dir, "others")
	for _, path := range []string{named, others} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(named, filepath.Join(dir, "name")); err != nil {
		t.Fatal(err)
	}
	refused := []string{dir, fifo, link, taken, named, filepath.Join(dir, "no/such/folder"), "/dev/full", "/dev/null"}
	if os.Chown(others, 4242, 4242) == nil { // which root alone can do
		refused = append(refused, others)
	}
	other := Open(Config{Path: taken})
	defer other.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if info, err := os.Stat(taken); err == nil && info.Size() > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the other does not begin")
		}
	}
	for _, path := range refused {
		var log lockedText
		began := time.Now()
		r := Open(Config{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for range 1000 {
			r.Received([]byte(`{"method":"x"}`))
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: it took %v", path, took)
		}
		if got := log.String(); strings.Count(got, "cannot be recorded") != 1 {
			t.Errorf("%s: the log says %s", path, got)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "target")); err == nil {
		t.Error("a link was followed")
	}
}

type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestFullDisk loses what does not fit, whole lines only, says so in the record, and
// goes on.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wire")
	w := &writer{
		r:    &Recorder{cfg: Config{Path: path, Limit: 1 << 20, Run: Run{Format: Format, Version: Version}}, log: slog.New(slog.DiscardHandler)},
		file: file{path: path, limit: 1 << 20},
	}
	w.begin()
	one := []*line{{entry: entry{at: time.Now(), kind: kindSend, text: []byte(`{"n":1}`)}}}
	w.write(one)
	// A descriptor that cannot be written is as good as a full disk.
	whole := w.file.f
	broken, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	w.file.f = broken
	w.write(one)
	w.write(one)
	if w.lost.Entries != 2 || w.failed.IsZero() {
		t.Errorf("lost %+v, failed %v", w.lost, w.failed)
	}
	w.file.f = whole
	w.failed = time.Now().Add(-2 * retryTime)
	w.write(one)
	if err := errors.Join(broken.Close(), w.file.close()); err != nil {
		t.Fatal(err)
	}
	text, lines := content(t, path)
	if len(lines) != 4 || lines[2].Event != EventLost || !strings.Contains(string(lines[2].Data), `"entries":2`) {
		t.Errorf("the record:\n%s", text)
	}
}

// TestSlowDisk has the queue run full.
func TestSlowDisk(t *testing.T) {
	r := &Recorder{wake: make(chan struct{}, 1)}
	big := bytes.Repeat([]byte{'x'}, 10<<20)
	for range 5 {
		r.Sent(big)
	}
	entries, _ := r.take()
	if len(entries) != 3 || r.lost.Entries != 2 {
		t.Errorf("%d entries, lost %+v", len(entries), r.lost)
	}
	r.Sent([]byte(`{}`))
	if entries, _ = r.take(); len(entries) != 2 || entries[0].event != EventLost {
		t.Errorf("entries: %+v", entries)
	}
}
