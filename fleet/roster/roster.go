package roster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// An Entry is a machine, as the setting has it. What it calls itself it says later.
type Entry struct {
	Address     string // host:port to dial
	ServerName  string // that the certificate is for; see [Entry.TLS]
	Fingerprint string // of its certificate, 64 lower-case hex digits; empty: a CA is asked
	Name        string // for people
}

// A Source has the list of machines.
type Source interface {
	// Run tells the list until ctx ends: the first at once, then each that is another. With trouble the list is what goes on
	// to hold: what the source had before, or what of it can be read. Trouble that is over is told as nil. tell is called
	// from Run alone, and keeps entries as long as it likes.
	Run(ctx context.Context, tell func(entries []Entry, trouble error))
	// String is the source in words for people, without secrets.
	String() string
}

// Parse reads the setting. A list has to be right as a whole; a file and a name are looked at by [Source.Run] only.
func Parse(spec string) (Source, error) {
	spec = strings.TrimSpace(spec)
	if path, ok := strings.CutPrefix(spec, "file:"); ok {
		return parseFile(path)
	}
	if rest, ok := strings.CutPrefix(spec, "dns:"); ok {
		return parseDNS(rest, net.DefaultResolver)
	}
	if strings.HasPrefix(spec, "dns+") {
		return nil, errors.New("SRV records are not followed: write dns:name:port")
	}
	return parseList(spec)
}

// list is a list that stands in the setting.
type list []Entry

func parseList(spec string) (list, error) {
	var all list
	for i, text := range strings.FieldsFunc(spec, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' }) {
		e, err := parseEntry(text)
		if err == nil {
			err = twice(all, e)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d, %s: %w", i+1, shown(text), err)
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		return nil, errors.New("names no machine: write https://host:port, file:/path or dns:name:port")
	}
	return all, nil
}

func (l list) Run(ctx context.Context, tell func([]Entry, error)) {
	tell(slices.Clone(l), nil)
	<-ctx.Done()
}

func (l list) String() string {
	if len(l) == 1 {
		return "a list of 1 machine"
	}
	return fmt.Sprintf("a list of %d machines", len(l))
}

// twice says whether an entry is there already.
func twice(all []Entry, e Entry) error {
	if slices.ContainsFunc(all, func(other Entry) bool { return other.Address == e.Address }) {
		return errors.New("stands there twice")
	}
	return nil
}

// A voice tells what differs from what it has told before.
type voice struct {
	tell    func([]Entry, error)
	begun   bool
	entries []Entry
	trouble string
}

func (v *voice) say(entries []Entry, trouble error) {
	text := ""
	if trouble != nil {
		text = cmp.Or(trouble.Error(), "trouble")
	}
	if v.begun && v.trouble == text && slices.Equal(v.entries, entries) {
		return
	}
	v.begun, v.entries, v.trouble = true, entries, text
	v.tell(slices.Clone(entries), trouble)
}

// pause waits for d, and reports whether ctx did not end meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
