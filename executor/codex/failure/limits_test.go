package failure

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

func TestResetInWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 47, 30, 0, time.FixedZone("here", 3600))
	for words, want := range map[string]time.Time{
		"nothing": {},
		"rate limit exceeded: Please try again in 11.054s.":           now.Add(11054 * time.Millisecond),
		"Please try again in 250ms.":                                  now.Add(250 * time.Millisecond),
		"purchase more credits or try again at 1:48 PM.":              time.Date(2026, 11, 21, 13, 49, 0, 0, now.Location()),
		"try again at Nov 25th, 2026 9:05 AM.":                        time.Date(2026, 11, 25, 9, 6, 0, 0, now.Location()),
		"try again at Foo 99th, 2026 9:05 AM.":                        {},
		"try again at 99:99 PM":                                       {},
		"try again in 99999999999999999999999999999999999999999999s.": {},
	} {
		if got := resetInWords(words, now); !got.Equal(want) {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

func TestReachedIsTheWindowThatIsFull(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	l := &Limits{}
	for _, params := range []string{
		`{"rateLimits":{"primary":{"usedPercent":100,"windowDurationMins":300,"resetsAt":1700000100},"secondary":{"usedPercent":40,"windowDurationMins":10080,"resetsAt":1700009999}}}`,
		`{"rateLimits":{"limitName":null,"primary":null,"secondary":null}}`, // leaves what was said
	} {
		if err := l.Take(appserver.Notification{Params: []byte(params)}, uncounted{}); err != nil {
			t.Fatal(err)
		}
	}
	got, ok := l.reached(now)
	if !ok || got.Name != "5h" || got.ResetsAt.Unix() != 1_700_000_100 {
		t.Errorf("reached = %+v, %v", got, ok)
	}
	if _, ok := l.reached(now.Add(time.Hour)); ok {
		t.Error("a window that has been given anew counts as used up")
	}
	if all := l.List(); len(all) != 2 || all[1].Name != "7d" {
		t.Errorf("list = %+v", all)
	}
}

// uncounted counts nothing.
type uncounted struct{}

func (uncounted) LimitUsed(string, int) {}

// FuzzLimits: all that is said of limits can be told on, in JSON, and in few words.
func FuzzLimits(f *testing.F) {
	f.Add("5h", 100, int64(300), int64(1_700_000_100))
	f.Add(strings.Repeat("x", 1<<10), -1, int64(math.MaxInt64), int64(999_999_999_999))
	f.Add("", 1<<40, int64(-1), int64(math.MaxInt64))
	f.Add("\xff", 0, int64(0), int64(253_402_300_799))
	f.Fuzz(func(t *testing.T, name string, used int, minutes, resets int64) {
		l := &Limits{}
		var n appserver.LimitsNote
		n.RateLimits.LimitName = name
		n.RateLimits.Primary = &appserver.LimitWindow{UsedPercent: used, WindowDurationMins: minutes, ResetsAt: resets}
		l.Keep(n, uncounted{})
		all := l.List()
		if text, err := json.Marshal(all); err != nil || len(text) > 1<<10 {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		if at := all[0].ResetsAt; at.After(time.Now().Add(mostOfReset)) {
			t.Errorf("it ends at %s", at)
		}
	})
}

// TestRefusalWithAFarEnd does not say when it ends, nor does one that is over.
func TestRefusalWithAFarEnd(t *testing.T) {
	t.Parallel()
	e := NewReader(func(s string) string { return s })
	for words, known := range map[string]bool{"Please try again in 60s.": true, "Please try again in 9000000000s.": false, "try again at Dec 31st, 9999 11:59 PM.": false, "try again at Jan 1st, 2020 9:05 AM.": false} {
		r := e.Refusal(&appserver.TurnError{Message: words, CodexErrorInfo: json.RawMessage(`"usageLimitExceeded"`)})
		if r == nil || r.Until.IsZero() == known {
			t.Errorf("%s: %+v", words, r)
		}
	}
}
