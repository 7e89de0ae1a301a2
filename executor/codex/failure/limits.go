package failure

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// Limits is what codex has said of the account's allowance.
type Limits struct {
	mu      sync.Mutex // guards the fields below
	name    string
	windows map[string]appserver.LimitWindow // primary and secondary
}

// Bounds of what is believed of a limit: codex hands on what the model's endpoint says.
const (
	mostOfLimit = 64                   // bytes of its name
	mostOfReset = 400 * 24 * time.Hour // until it ends. The longest windows that there are last a month
)

// Metrics counts what is used of an allowance.
type Metrics interface {
	LimitUsed(window string, percent int) // window is primary or secondary
}

// full is the percentage at which an allowance is used up.
const full = 100

// Take keeps what an account/rateLimits/updated says. What it leaves out stands.
func (l *Limits) Take(note appserver.Notification, metrics Metrics) error {
	var n appserver.LimitsNote
	if err := json.Unmarshal(note.Params, &n); err != nil {
		return err
	}
	l.Keep(n, metrics)
	return nil
}

// Keep keeps what there is of n.
func (l *Limits) Keep(n appserver.LimitsNote, metrics Metrics) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.RateLimits.LimitName != "" {
		l.name = brief.Clip(n.RateLimits.LimitName, mostOfLimit)
	}
	for slot, window := range map[string]*appserver.LimitWindow{"primary": n.RateLimits.Primary, "secondary": n.RateLimits.Secondary} {
		if window == nil {
			continue
		}
		if l.windows == nil {
			l.windows = map[string]appserver.LimitWindow{}
		}
		l.windows[slot] = *window
		metrics.LimitUsed(slot, window.UsedPercent)
	}
}

// List returns the windows, the primary one first.
func (l *Limits) List() []agent.Limit {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	var all []agent.Limit
	for _, slot := range []string{"primary", "secondary"} {
		if window, ok := l.windows[slot]; ok {
			all = append(all, agent.Limit{Name: l.labelLocked(slot, window), UsedPercent: window.UsedPercent, ResetsAt: reset(unix(window.ResetsAt), now)})
		}
	}
	return all
}

// reached returns the window that is used up, of several the one that lasts the
// longest; ok is false if none is known to be.
func (l *Limits) reached(now time.Time) (found agent.Limit, ok bool) {
	for _, window := range l.List() {
		if window.UsedPercent >= full && window.ResetsAt.After(now) && window.ResetsAt.After(found.ResetsAt) {
			found, ok = window, true
		}
	}
	return found, ok
}

// labelLocked is what people call a window.
func (l *Limits) labelLocked(slot string, window appserver.LimitWindow) string {
	length := slot
	switch minutes := window.WindowDurationMins; {
	case minutes <= 0:
	case minutes%(24*60) == 0:
		length = fmt.Sprintf("%dd", minutes/(24*60))
	case minutes%60 == 0:
		length = fmt.Sprintf("%dh", minutes/60)
	default:
		length = fmt.Sprintf("%dm", minutes)
	}
	if l.name == "" {
		return length
	}
	return l.name + " " + length
}

// unix is a time of the wall clock: it stays right when the clock is set. One that no clock shows
// and JSON has no words for is zero.
func unix(seconds int64) time.Time {
	const end = 253402300800 // the year 10000
	if seconds <= 0 || seconds >= end {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// reset is when a limit ends; zero, which is not known, where that is too far ahead to be true.
func reset(at, now time.Time) time.Time {
	if at.After(now.Add(mostOfReset)) {
		return time.Time{}
	}
	return at
}

var (
	// inSeconds is how a provider's rate limit says when to come back.
	inSeconds = regexp.MustCompile(`(?i)try again in (\d+(?:\.\d+)?)(ms|s)\b`)
	// atTime is how codex 0.169.0 says when a usage limit ends, in local time: "try
	// again at 1:48 PM", or "at Nov 22nd, 2026 1:48 PM" if that is another day.
	atTime = regexp.MustCompile(`try again at (?:(\w{3} \d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}:\d{2} [AP]M)`)
)

// resetInWords finds in the words of an error when the limit ends; zero if they
// do not say.
func resetInWords(words string, now time.Time) time.Time {
	if m := inSeconds.FindStringSubmatch(words); m != nil {
		d, err := time.ParseDuration(m[1] + m[2])
		if err != nil {
			return time.Time{}
		}
		return now.Add(d).Round(0)
	}
	m := atTime.FindStringSubmatch(words)
	if m == nil {
		return time.Time{}
	}
	if m[1] == "" {
		m[1], m[2] = now.Format("Jan 2"), now.Format("2006")
	}
	at, err := time.ParseInLocation("Jan 2 2006 3:04 PM", m[1]+" "+m[2]+" "+m[3], now.Location())
	if err != nil {
		return time.Time{}
	}
	return at.Add(time.Minute) // the seconds were left out
}
