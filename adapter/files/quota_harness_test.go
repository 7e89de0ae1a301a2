package files

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
)

// A ledger is what the test knows of files.
type ledger struct {
	mu  sync.Mutex
	all map[string]Record
}

func (l *ledger) change(name string, f func(*Record)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string]Record{}
	}
	r, known := l.all[name]
	if r.Name = name; !known {
		r.Peer = true
	}
	f(&r)
	l.all[name] = r
}

func (l *ledger) Note(name string, of Owner) error {
	l.change(name, func(r *Record) { r.Peer, r.Own = r.Peer && of.Peer, r.Own || of.Own })
	return nil
}

func (l *ledger) One(name string) (Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[name], nil
}

func (l *ledger) All() (all []Record, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.all {
		all = append(all, r)
	}
	return all, nil
}

func (l *ledger) Forget(names ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		delete(l.all, name)
	}
	return nil
}

// A depot is a folder with a quota of so many pieces of 64 KiB.
type depot struct {
	*Folder
	*ledger
	t     *testing.T
	quota *Quota
	cfg   Config
	clock time.Time
}

func newDepot(t *testing.T, pieces int64) *depot {
	d := &depot{ledger: &ledger{}, t: t, clock: time.Now(), cfg: Config{Work: t.TempDir(), Guard: netguard.New(netip.MustParsePrefix("127.0.0.0/8"))}}
	d.start(pieces)
	return d
}

// start is that of a further process.
func (d *depot) start(pieces int64) {
	d.cfg.Quota = NewQuota(d.cfg, d.ledger, func() int64 { return pieces * least })
	d.quota, d.Folder = d.cfg.Quota, New(d.cfg)
	d.quota.fresh = 0
	d.t.Cleanup(func() { _ = d.Close() })
}

// stage brings a file of so many pieces that is held for a message.
func (d *depot) stage(name string, pieces int, peer bool) (File, error) {
	return d.Stage(d.t.Context(), Incoming{Key: name, Name: name, Content: make([]byte, pieces*least), Peer: peer, Hold: true})
}

// open brings a file of a task that has not ended.
func (d *depot) open(name string, pieces int, peer bool) File {
	d.t.Helper()
	file, err := d.stage(name, pieces, peer)
	if err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	d.change(file.Stored, func(r *Record) { r.Named, r.Open = true, true })
	d.Release(file.Stored)
	return file
}

// end ends the tasks of files, one after the other.
func (d *depot) end(files ...File) {
	for _, file := range files {
		d.clock = d.clock.Add(time.Second)
		d.change(file.Stored, func(r *Record) { r.Open, r.Ended = false, d.clock })
	}
}

// has fails unless those files are there, and count as they do when they are counted anew.
func (d *depot) has(want ...string) {
	d.t.Helper()
	found, _, err := d.quota.list()
	if err != nil {
		d.t.Fatal(err)
	}
	var names []string
	for _, info := range found {
		names = append(names, info.Name()[33:])
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		d.t.Errorf("there are %q, want %q", names, want)
	}
	d.quota.mu.Lock()
	defer d.quota.mu.Unlock()
	was, writing := d.quota.used, d.quota.writing
	if _, _, err := d.quota.countLocked(); err != nil || was != d.quota.used || writing != (tally{}) {
		d.t.Errorf("counted %+v and %+v, now %+v, %v", was, writing, d.quota.used, err)
	}
}

// refused fails unless a file has no room, and leaves nothing.
func (d *depot) refused(name string, pieces int, peer bool) {
	d.t.Helper()
	if file, err := d.stage(name, pieces, peer); !errors.Is(err, ErrNoRoom) || !strings.Contains(err.Error(), "RUNTIME_UPLOADS_MIB") {
		d.t.Errorf("%s: %+v, %v", name, file, err)
	}
	for known := range d.all {
		if strings.HasSuffix(known, "-"+name) {
			d.t.Errorf("%s is noted", known)
		}
	}
}

// stored is the name of a file in the folder.
func (d *depot) stored(name string) string {
	for stored := range d.all {
		if strings.HasSuffix(stored, "-"+name) {
			return stored
		}
	}
	return ""
}
