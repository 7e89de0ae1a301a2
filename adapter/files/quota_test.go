package files

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestOldestGoFirst, and those of other agents before the rest.
func TestOldestGoFirst(t *testing.T) {
	d := newDepot(t, 16)
	a, b, peer := d.open("a", 4, false), d.open("b", 4, false), d.open("p", 4, true)
	c := d.open("c", 4, false)
	d.end(b, a, peer)
	d.open("d", 3, false)
	d.has("a", "b", "c", "d")
	d.open("e", 3, false)
	d.has("a", "c", "d", "e")
	d.open("f", 4, false)
	d.has("c", "d", "e", "f")
	d.refused("g", 3, false)
	d.end(c)
	d.open("g", 3, false)
	d.has("d", "e", "f", "g")
}

// TestHeldFilesStay, of a message that is not accepted yet: also where it names what stood
// there. Without any use a file counts as ended when it was written.
func TestHeldFilesStay(t *testing.T) {
	d := newDepot(t, 4)
	first, err := d.Add("upload", "", strings.NewReader("x"), 9)
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.stage("second", 3, false)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Stage(t.Context(), Incoming{URI: first.URI, Hold: true})
	if err != nil || again.Stored != first.Stored || again.Peer {
		t.Fatalf("%+v, %v", again, err)
	}
	d.refused("third", 1, false)
	d.has("upload", "second")
	d.Release(again.Stored)
	third, err := d.stage("third", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	d.has("second", "third")
	d.Release(second.Stored, third.Stored)
	d.Drop(second.URI, third.URI)
	d.has()
}

// TestFilesThatAreUsedAgain since it was looked for what can go are not the next to go.
func TestFilesThatAreUsedAgain(t *testing.T) {
	d := newDepot(t, 8)
	d.quota.fresh = time.Hour
	a, b, c := d.open("a", 2, false), d.open("b", 2, true), d.open("c", 2, false)
	e := d.open("e", 1, false)
	d.end(a, b, c, e)
	d.open("f", 2, false) // b goes
	d.change(a.Stored, func(r *Record) { r.Open = true })
	d.end(c)
	d.open("g", 1, false)
	d.open("h", 1, false)
	d.has("a", "c", "f", "g", "h")
}

// TestShareOfOtherAgents: theirs go for theirs. Of the rest goes for them only what stands in
// their share.
func TestShareOfOtherAgents(t *testing.T) {
	d := newDepot(t, 16)
	a := d.open("a", 6, false)
	d.end(a, d.open("p", 3, true))
	q := d.open("q", 2, true)
	d.has("a", "q")
	d.refused("r", 3, true)
	d.refused("r", 5, true)
	d.end(q)
	d.open("r", 4, true)
	d.has("a", "r")
	d.refused("s", 1, true)
	d.has("a", "r")

	d.end(d.open("b", 6, false), File{Stored: d.stored("r")})
	c := d.open("c", 4, false) // in the place of r
	d.has("a", "b", "c")
	d.end(c)
	d.open("s", 2, true)
	d.has("b", "c", "s")
	d.open("t", 2, true)
	d.has("b", "c", "s", "t")
	d.open("e", 2, false)
	d.refused("u", 1, true)
	d.has("b", "c", "e", "s", "t")
}

// TestWhoseFilesAre: one of other agents' that another names is not theirs any more, and one of
// the rest never becomes theirs, nor does it stay because another agent names it.
func TestWhoseFilesAre(t *testing.T) {
	d := newDepot(t, 16)
	theirs, ours := d.open("theirs", 4, true), d.open("ours", 4, false)
	d.refused("more", 1, true)
	for _, c := range []struct {
		file File
		by   bool
	}{{theirs, true}, {ours, true}, {theirs, false}} {
		named, err := d.Stage(t.Context(), Incoming{URI: c.file.URI, Peer: c.by, Hold: true})
		want := c.file.Stored == theirs.Stored && c.by
		if stays := want || !c.by; err != nil || named.Peer != want || (named.Stored != "") != stays {
			t.Errorf("%s named by another agent (%v): %+v, %v", c.file.Name, c.by, named, err)
		}
		d.Release(named.Stored)
	}
	d.open("more", 4, true)
	d.has("theirs", "ours", "more")
}

// TestDroppedFiles go unless something names them, or they are no message's alone.
func TestDroppedFiles(t *testing.T) {
	d := newDepot(t, 16)
	named, ended := d.open("named", 1, true), d.open("ended", 1, true)
	shared, err := d.Add("shared", "", strings.NewReader("x"), 9)
	if err != nil {
		t.Fatal(err)
	}
	d.change(ended.Stored, func(r *Record) { r.Named, r.Open = false, false })
	held, err := d.Stage(t.Context(), Incoming{URI: ended.URI, Hold: true})
	if err != nil {
		t.Fatal(err)
	}
	d.Drop(named.URI, ended.URI, shared.URI, shared.URI+"/none", "workspace:/elsewhere")
	d.has("named", "ended", "shared")
	d.Release(held.Stored)
	d.Drop(named.URI, ended.URI, shared.URI)
	d.has("named", "shared")
}

// TestQuotaAfterARestart: what counts is what stands there, whose it was. What was brought
// for a message that was never accepted goes, and what is gone is forgotten.
func TestQuotaAfterARestart(t *testing.T) {
	d := newDepot(t, 16)
	open, gone := d.open("open", 3, true), d.open("gone", 1, false)
	kept := d.open("kept", 1, false)
	d.end(kept)
	if _, err := d.stage("brought", 4, false); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone.Path); err != nil {
		t.Fatal(err)
	}
	d.start(16)
	d.refused("more", 2, true)
	if err := d.Sweep(time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	d.has("open", "kept")
	if len(d.all) != 2 || d.stored("open") != open.Stored {
		t.Errorf("known are %+v", d.all)
	}
	d.open("large", 13, false)
	d.has("open", "large")
}

// TestEmptiedByHand: room that was made by hand is found.
func TestEmptiedByHand(t *testing.T) {
	d := newDepot(t, 4)
	a := d.open("a", 4, false)
	d.refused("b", 1, false)
	if err := os.Remove(a.Path); err != nil {
		t.Fatal(err)
	}
	d.open("b", 4, false)
	d.has("b")
}

// TestWhatFilesCount: at least what an end to their number takes, and not less for gaps.
func TestWhatFilesCount(t *testing.T) {
	d := newDepot(t, 16)
	for i := range 16 {
		d.open(fmt.Sprint(i), 0, false)
	}
	d.refused("more", 0, false)
	d.end(File{Stored: d.stored("7")}, File{Stored: d.stored("8")})
	d.open("more", 2, false)
	if err := os.Truncate(filepath.Join(d.cfg.Work, place, d.stored("more")), 1<<30); err != nil {
		t.Fatal(err)
	}
	if err := d.quota.Count(); err != nil || d.quota.used.others != 14*least+1<<30 {
		t.Errorf("%+v, %v", d.quota.used, err)
	}
}

// TestTooLargeForTheShare is not the same as that there is no room: to wait would not help.
func TestTooLargeForTheShare(t *testing.T) {
	d := newDepot(t, 16)
	for peer, most := range map[bool]int{true: 4, false: 16} {
		in := Incoming{Key: "a", Name: "a", Content: make([]byte, most*least+1), Most: d.Most(peer), Peer: peer}
		if _, err := d.Stage(t.Context(), in); !errors.Is(err, ErrTooLarge) || errors.Is(err, ErrNoRoom) {
			t.Errorf("another agent (%v): %v", peer, err)
		}
		d.has()
	}
}

// TestWhatCommandsPutThere: what stands in the place of a file is none, and does not keep
// others from coming. Files without number count as far as they could have room, and what is
// known of those that do not count stays known.
func TestWhatCommandsPutThere(t *testing.T) {
	d := newDepot(t, 4)
	a, b := d.open("a", 2, false), d.open("b", 2, false)
	outside := filepath.Join(t.TempDir(), "outside")
	for _, err := range []error{
		os.WriteFile(outside, make([]byte, 9*least), 0o600),
		os.Remove(a.Path), os.Symlink(outside, a.Path), os.Remove(b.Path), os.MkdirAll(filepath.Join(b.Path, "in"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := d.open("c", 4, false)
	d.has("c")
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}

	folder := filepath.Dir(a.Path)
	for range 100 {
		if err := os.WriteFile(filepath.Join(folder, randomHex()+"-junk"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found, whole, err := d.quota.list(); len(found) != 9 || whole || err != nil {
		t.Errorf("%d files count, %v, %v", len(found), whole, err)
	}
	if err := os.Remove(c.Path); err != nil { // so that it is not among those that count
		t.Fatal(err)
	}
	if err := d.quota.Count(); err != nil || d.stored("c") != c.Stored {
		t.Errorf("known are %+v, %v", d.all, err)
	}
	d.open("e", 4, false)
}

// TestNothingIsFetchedWithoutRoom from a server, by its URL.
func TestNothingIsFetchedWithoutRoom(t *testing.T) {
	visits := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		visits++
		_, _ = w.Write(make([]byte, 3*least))
	}))
	t.Cleanup(server.Close)
	d := newDepot(t, 4)
	a := d.open("a", 4, false)
	fetch := func() (File, error) {
		return d.Stage(t.Context(), Incoming{Key: "b", Name: "b", URI: server.URL, Hold: true})
	}
	if _, err := fetch(); !errors.Is(err, ErrNoRoom) || errors.Is(err, ErrNotHere) || visits != 0 {
		t.Errorf("%v after %d visits", err, visits)
	}
	d.end(a)
	if file, err := fetch(); err != nil || file.Size != 3*least {
		t.Errorf("%+v, %v", file, err)
	}
	d.has("b")
}

// TestManyFilesAtOnce never take more than they may, and count as what is there in the end.
func TestManyFilesAtOnce(t *testing.T) {
	d := newDepot(t, 16)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 10 {
				name := fmt.Sprintf("%d-%d", i, n)
				file, err := d.stage(name, n%4, i%2 == 0)
				if errors.Is(err, ErrNoRoom) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				d.change(file.Stored, func(r *Record) { r.Named = n%3 == 0 })
				d.Release(file.Stored)
				d.Drop(file.URI)
			}
		})
	}
	all.Wait()
	d.quota.mu.Lock()
	most := d.quota.allLocked()
	d.quota.mu.Unlock()
	if most > 16*least {
		t.Errorf("%d bytes count", most)
	}
	found, _, err := d.quota.list()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, info := range found {
		names = append(names, info.Name()[33:])
	}
	d.has(names...)
}
