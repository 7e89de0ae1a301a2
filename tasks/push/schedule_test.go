package push

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestJudge(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status     int
		retryAfter string
		want       verdict
		wait       time.Duration
	}{
		{200, "", arrived, 0}, {202, "", arrived, 0}, {204, "5", arrived, 0}, {299, "", arrived, 0},
		{408, "", again, 0}, {425, "", again, 0}, {429, "7", again, 7 * time.Second}, {500, "", again, 0}, {502, "", again, 0},
		{503, "100000", again, 10 * time.Minute}, {503, "-5", again, 0}, {503, "soon", again, 0}, {504, "", again, 0}, {599, "", again, 0},
		{503, now.Add(90 * time.Second).Format(http.TimeFormat), again, 90 * time.Second},
		{503, now.Add(-time.Hour).Format(http.TimeFormat), again, 0}, {503, now.Add(48 * time.Hour).Format(http.TimeFormat), again, 10 * time.Minute},
		{301, "", refused, 0}, {304, "", refused, 0}, {307, "", refused, 0}, {308, "", refused, 0},
		{400, "", refused, 0}, {401, "", refused, 0}, {403, "", refused, 0}, {404, "9", refused, 0}, {405, "", refused, 0}, {410, "", refused, 0}, {413, "", refused, 0},
	} {
		a := judge(c.status, c.retryAfter, now)
		if a.verdict != c.want || a.wait != c.wait || a.status != c.status {
			t.Errorf("%d, Retry-After %q: %+v", c.status, c.retryAfter, a)
		}
	}
	if a := failure(fmt.Errorf("post: %w", netguard.ErrForbidden)); a.verdict != refused {
		t.Errorf("%+v", a)
	}
	if a := failure(errors.New("reset")); a.verdict != again {
		t.Errorf("%+v", a)
	}
}

func TestWait(t *testing.T) {
	for failures, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 9: 256 * time.Second, 10: 5 * time.Minute, 1000: 5 * time.Minute} {
		low, high := wait(failures, 0, 0), wait(failures, 0, 0.999)
		if low != want*8/10 || high <= want || high > want*12/10 {
			t.Errorf("after %d: %s to %s, want about %s", failures, low, high, want)
		}
	}
	if w := wait(1, time.Minute, 0); w != time.Minute {
		t.Errorf("%s, want what was asked for", w)
	}
}

func TestSchedule(t *testing.T) {
	now := time.Now()
	s := newSchedule()
	id := int64(0)
	add := func(task, host string, tries int, due time.Duration) {
		id++
		s.add(store.Delivery{ID: id, Task: task, Target: "c", Tries: tries, Due: now.Add(due)}, func() string { return host })
	}
	launched := func() (hosts map[string]int) {
		hosts = map[string]int{}
		for {
			l, _ := s.next(now)
			if l == nil {
				return hosts
			}
			s.launch(l)
			hosts[l.host]++
		}
	}
	for i := range 20 {
		add(fmt.Sprint("again-", i), fmt.Sprint("bad-", i), 1, -time.Hour)
		add(fmt.Sprint("same-", i), "hangs", 0, -time.Minute)
	}
	add("fresh", "well", 0, 0)
	add("later", "well", 0, time.Minute)
	got := launched()
	if got["hangs"] != mostOfHost || got["well"] != 1 || s.repeating != mostRepeated || s.flying != mostRepeated+mostOfHost+1 {
		t.Errorf("launched %v", got)
	}
	if _, later := s.next(now); !later.Equal(now.Add(time.Minute)) {
		t.Errorf("look again at %s", later.Sub(now))
	}
}
