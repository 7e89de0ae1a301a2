package replay_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/replay"
)

var update = flag.Bool("update", false, "write what the records in testdata come to")

// TestKeptRecords plays the records in testdata, which are of TestSession and
// TestCrash: with -keep testdata they are made anew.
func TestKeptRecords(t *testing.T) {
	records, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(records) < 2 {
		t.Fatalf("records: %q, %v", records, err)
	}
	for _, path := range records {
		t.Run(filepath.Base(path), func(t *testing.T) {
			report, err := replay.File(t.Context(), path, config(t))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(report, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(path, ".jsonl") + ".report.json"
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(got)+"\n" != string(want) || !report.OK {
				t.Errorf("it comes to\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestKeptRecordsTellNothing looks for what must not be published.
func TestKeptRecordsTellNothing(t *testing.T) {
	for _, text := range []string{kept(t, "session"), kept(t, "crash")} {
		for _, private := range []string{`/(work|root|tmp|Users)/`, `hunter2`, `sk-[A-Za-z0-9]{8}`, `@`, `eyJ[A-Za-z0-9]{8}`} {
			if found := regexp.MustCompile(`.{0,60}` + private + `.{0,60}`).FindString(text); found != "" {
				t.Errorf("there is …%s…", found)
			}
		}
	}
}

func kept(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// played plays a text, and waits little for what does not come.
func played(t *testing.T, text string, change ...func(*replay.Config)) (*replay.Report, error) {
	t.Helper()
	cfg := config(t)
	cfg.Wait = 10 * time.Second
	for _, f := range change {
		f(&cfg)
	}
	return replay.Play(t.Context(), strings.NewReader(text), cfg)
}

// TestDivergences changes the record of a session in one place, and wants that place
// to be named.
func TestDivergences(t *testing.T) {
	text := kept(t, "session")
	lineOf := func(part string) int {
		before, _, ok := strings.Cut(text, part)
		if !ok {
			t.Fatalf("no line has %s", part)
		}
		return strings.Count(before, "\n") + 1
	}
	lines := strings.SplitAfter(text, "\n")
	from, last := strings.Join(lines[:lineOf(`"Context":"c"`)], ""), lines[len(lines)-2]
	interrupt := `"send":{"method":"turn/interrupt"`
	for name, c := range map[string]struct {
		text string
		line int // that is named; 0 for any
		kind string
		what string
	}{
		"other-parameters": {
			strings.Replace(text, `"send":{"method":"thread/start","id":2,"params":{`, `"send":{"method":"thread/start","id":2,"params":{"cwd":"/elsewhere","x":`+"1,", 1),
			lineOf(`"send":{"method":"thread/start","id":2`), "differs", "x: recorded 1, now nothing",
		},
		"other-answer": {
			strings.Replace(text, `"result":{"decision":"accept"`, `"result":{"decision":"decline"`, 1),
			lineOf(`"result":{"decision":"accept"`), "differs", `decision: recorded "decline", now "accept"`,
		},
		"a-call-more":    {from + last, 0, "extra", "calls thread/start, which the record does not have"},
		"another-method": {strings.Replace(text, interrupt, `"send":{"method":"thread/fork"`, 1), lineOf(interrupt), "missing", "it calls turn/interrupt of thread"},
		"another-end": {
			strings.Replace(text, `"outcome":"canceled"`, `"outcome":"completed"`, 1),
			lineOf(`"outcome":"canceled"`), "end", "recorded completed, now canceled",
		},
		"another-text": {
			strings.Replace(text, `"Text":"the password is ***`, `"Text":"the passport is ***`, 1),
			lineOf(`"Text":"the password is ***`), "end", "recorded the text",
		},
		"lost-entries": {
			strings.Replace(text, "\n", "\n"+`{"time":"2026-01-01T00:00:00Z","event":"lost","data":{"entries":3,"bytes":9}}`+"\n", 1),
			2, "lost", "entries are missing here",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := played(t, c.text, func(cfg *replay.Config) {
				if c.kind == "extra" {
					cfg.Settle = 8 * time.Second
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if report.OK {
				t.Error("it is said to end as recorded")
			}
			for _, d := range report.Runs[0].Divergences {
				if d.Kind == c.kind && strings.Contains(d.What, c.what) && (c.line == 0 || c.line == d.Line) {
					return
				}
			}
			t.Errorf("no divergence is %s %q in line %d:\n%s", c.kind, c.what, c.line, report)
		})
	}
}

// TestNoRecord has files that are none.
func TestNoRecord(t *testing.T) {
	text := kept(t, "session")
	first, _, _ := strings.Cut(text, "\n")
	headless := strings.Replace(text, `"version":1,`, `"version":1,"continues":true,`, 1)
	for name, c := range map[string]struct{ text, problem string }{
		"empty":    {"", "it is empty"},
		"foreign":  {"#!/bin/sh\nexit 0\n", "no record of RUNTIME_DEBUG_WIRE"},
		"damaged":  {strings.Replace(text, `"send"`, `"send`, 1), "is damaged"},
		"headless": {headless, "the beginning of this record is gone"},
		"an-event": {first + "\n" + `{"time":"2026-01-01T00:00:00Z","event":"submit","data":[]}` + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := played(t, c.text)
			if c.problem == "" {
				if err != nil || report.OK {
					t.Errorf("%+v, %v", report, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%v, want %s", err, c.problem)
			}
		})
	}
	if _, err := replay.File(t.Context(), filepath.Join(t.TempDir(), "none"), config(t)); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := replay.File(t.Context(), t.TempDir(), config(t)); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder: %v", err)
	}
}

// TestCutRecord ends a record at many places, as the end of the machine does.
func TestCutRecord(t *testing.T) {
	text := kept(t, "session")
	for i := 1; i < 12; i++ {
		at := len(text) * i / 12
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			report, err := played(t, text[:at])
			if err != nil {
				t.Fatal(err)
			}
			whole := strings.HasSuffix(text[:at], "\n")
			if line := strings.Count(text[:at], "\n") + 1; !whole && report.Cut != line || !whole && report.OK {
				t.Errorf("cut in line %d, reported %d, ok %v", line, report.Cut, report.OK)
			}
			for _, d := range report.Runs[0].Divergences {
				t.Errorf("line %d: %s", d.Line, d.What)
			}
			// With whole lines only, what was there has gone as recorded.
			lines := text[:strings.LastIndex(text[:at], "\n")+1]
			if report, err = played(t, lines); err != nil || !report.OK {
				t.Errorf("%v:\n%s", err, report)
			}
		})
	}
}

// TestRotated plays a record that stands in two files.
func TestRotated(t *testing.T) {
	text := kept(t, "session")
	head, _, _ := strings.Cut(text, "\n")
	middle := strings.Index(text[len(text)/2:], "\n") + len(text)/2 + 1
	path := filepath.Join(t.TempDir(), "wire")
	next := strings.Replace(head, `"version":1,`, `"version":1,"continues":true,`, 1) + "\n" + text[middle:]
	for name, content := range map[string]string{path: next, path + ".1": text[:middle]} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := replay.File(t.Context(), path, config(t))
	if err != nil || !report.OK || len(report.Runs) != 1 || len(report.Runs[0].Tasks) != 5 {
		t.Errorf("%v\n%s", err, report)
	}
}
