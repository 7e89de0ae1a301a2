package rollout

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFindTrace looks for a message in the files in which its thread has gone on, and in those of no other
// thread.
func TestFindTrace(t *testing.T) {
	const thread, other = "01a223f6-d11c-76c2-9716-12a42688ab86", "01a223f6-d11c-76c2-9716-12a42688ab87"
	home := t.TempDir()
	put := func(day, name, text string) string {
		path := filepath.Join(home, "sessions", "2026", "11", day, "rollout-2026-11-"+day+"T21-01-47-"+name+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("27", thread, of("t1", "c1", lineUser, linePlan))
	put("27", other, of("t2", "c2", lineUser, lineCall))
	newest := put("28", thread+"_01a223f6-d2a5-7bd1-b237-021f211c968b", of("t3", "c3", lineUser, lineCall))
	const fork = "01a223f6-d11c-76c2-9716-12a42688ab88"
	forked := put("28", fork, `{"timestamp":"2026-11-28T23:53:56.368Z","ordinal":24,"type":"session_meta","payload":{"session_id":"`+fork+`","id":"`+fork+`","forked_from_id":"`+thread+`"}}`+"\n"+of("t4", "c4", lineUser))
	for client, want := range map[string]Trace{
		"c1": {Found: true, Called: true}, "c2": {}, "c3": {Found: true, Tool: true, Called: true},
	} {
		for _, path := range []string{newest, forked} {
			if got, err := FindTrace(path, client); err != nil || got != want {
				t.Errorf("%s by %s: %+v, %v, want %+v", client, path, got, err, want)
			}
		}
	}
}
