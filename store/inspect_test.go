package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestInspect(t *testing.T) {
	dir := t.TempDir()
	in, err := Inspect(dir)
	must(t, err)
	equal(t, in.Bytes, 0)
	s := open(t, Config{Dir: dir})
	accept(t, s, 1, "task")
	in, err = Inspect(dir)
	must(t, err)
	if in.Holder == nil || in.Holder.PID != os.Getpid() {
		t.Errorf("holder %+v", in.Holder)
	}
	closeStore(t, s)
	before, err := os.ReadFile(filepath.Join(dir, "state.db"))
	must(t, err)
	in, err = Inspect(dir)
	must(t, err)
	after, err := os.ReadFile(filepath.Join(dir, "state.db"))
	must(t, err)
	if in.Holder != nil || in.Schema != in.Ours || in.Bytes < 4096 || string(before) != string(after) {
		t.Errorf("%+v", in)
	}
	for name, c := range map[string]struct {
		at   int64
		byte byte
		want error
	}{"newer": {63, 99, ErrNewer}, "foreign": {68, 1, ErrCorrupt}, "damaged": {0, 0, ErrCorrupt}} {
		bad := append([]byte(nil), before...)
		bad[c.at] = c.byte
		must(t, os.WriteFile(filepath.Join(dir, "state.db"), bad, 0o600))
		if _, err := Inspect(dir); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
