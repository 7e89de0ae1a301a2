package channel_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A page of a log is written by several goroutines.
type page struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.Write(b)
}

func (p *page) count(text string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Count(p.all.String(), text)
}

// logged has a channel write its log on a page.
func logged(p *page) func(*channel.Config) {
	return func(c *channel.Config) { c.Logger = slog.New(slog.NewTextHandler(p, nil)) }
}

// TestLookForLess: a note whose answer is lost is found behind rows of which only few can
// be read at once, and is not sent again.
func TestLookForLess(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, log := &desk{lose: 1}, &page{}
		d.looks = func(_ platform.RowQuery, rows []platform.Row) ([]platform.Row, error) {
			if len(rows) > 2 {
				return nil, platform.ErrTooMuch
			}
			return rows, nil
		}
		d.put("", "zero")
		r := open(t, dir, d, &clerk{}, logged(log))
		defer r.stop()
		want := []string{"re: zero"}
		for n := range 8 {
			time.Sleep(time.Millisecond)
			d.put("", fmt.Sprint("large ", n))
			want = append(want, fmt.Sprint("re: large ", n))
		}
		time.Sleep(time.Minute)
		if told := d.told(); !slices.Equal(told, want) {
			t.Errorf("the user was told %q", told)
		}
		if log.count("was asked") != 1 {
			t.Error("the log does not say so")
		}
	})
}

// TestLookThatCannotTell: a platform whose log cannot say whether a reply has arrived gets it
// again, and those behind it. One that does not answer is asked on.
func TestLookThatCannotTell(t *testing.T) {
	for name, c := range map[string]struct {
		failure error
		told    []string
		says    string
	}{
		"too-much":    {platform.ErrTooMuch, []string{"re: one", "re: one", "re: two"}, "it is sent again"},
		"refused":     {&platform.Error{Op: "look", Status: 400}, []string{"re: one", "re: one", "re: two"}, "it is sent again"},
		"unavailable": {unavailable(), []string{"re: one"}, "the platform's log is asked again"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				d, log := &desk{lose: 1}, &page{}
				d.looks = func(platform.RowQuery, []platform.Row) ([]platform.Row, error) { return nil, c.failure }
				r := open(t, dir, d, &clerk{}, logged(log))
				defer r.stop()
				d.put("", "one")
				time.Sleep(6 * time.Second)
				d.put("", "two")
				time.Sleep(time.Minute)
				if told := d.told(); !slices.Equal(told, c.told) {
					t.Errorf("the user was told %q", told)
				}
				if log.count(c.says) == 0 {
					t.Error("the log does not say so")
				}
			})
		})
	}
}

// TestEndlessLook: a platform that always has one more page, or takes minutes for each, does
// not hold a reply back for ever.
func TestEndlessLook(t *testing.T) {
	for name, pause := range map[string]time.Duration{"pages": 0, "slow": time.Minute} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				d, log := &desk{lose: 1, lag: pause}, &page{}
				at := 0
				d.looks = func(q platform.RowQuery, _ []platform.Row) (rows []platform.Row, _ error) {
					for range q.Limit {
						at++
						rows = append(rows, platform.Row{ID: fmt.Sprint("more-", at), CreatedAt: time.Now().Add(-time.Duration(at))})
					}
					return rows, nil
				}
				r := open(t, dir, d, &clerk{}, logged(log))
				defer r.stop()
				d.put("", "one")
				time.Sleep(10 * time.Minute)
				if told := d.told(); !slices.Equal(told, []string{"re: one", "re: one"}) || log.count("it is sent again") != 1 {
					t.Errorf("the user was told %q", told)
				}
			})
		})
	}
}

// TestLookLater: what has come long after a reply was tried is not looked through for it.
func TestLookLater(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{lose: 1}
		var asked []platform.RowQuery
		d.looks = func(q platform.RowQuery, rows []platform.Row) ([]platform.Row, error) {
			asked = append(asked, q)
			return rows, nil
		}
		d.put("", "one")
		began := time.Now()
		r := open(t, dir, d, &clerk{})
		time.Sleep(500 * time.Millisecond)
		r.stop()
		for n := range 600 {
			time.Sleep(6 * time.Second)
			d.put("", fmt.Sprint(n), func(r *platform.Row) { r.Method, r.ResponseBody = "notify", nil })
		}
		r = open(t, dir, d, &clerk{})
		defer r.stop()
		time.Sleep(10 * time.Second)
		if told := d.told(); !slices.Equal(told, []string{"re: one"}) {
			t.Errorf("the user was told %q", told)
		}
		if len(asked) == 0 || asked[0].Before.Sub(began) < 5*time.Minute || asked[0].Before.Sub(began) > 15*time.Minute {
			t.Errorf("asked for %+v, and it was tried at %s", asked, began)
		}
	})
}
