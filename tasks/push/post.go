package push

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
)

// The headers of a notification.
const (
	headerID      = "A2A-Notification-Id"
	headerToken   = "X-A2A-Notification-Token" //nolint:gosec // a name, and no secret
	headerVersion = "A2A-Version"
)

// An Answer is what came of a post, in words that are fit for the log: none of
// them is of the URL's path or query, or of what the receiver wrote.
type Answer struct {
	Verdict deliver.Verdict
	Status  int           // 0 without an HTTP answer
	Err     error         // why it has not arrived
	Wait    time.Duration // that the receiver asks for
}

// judge reads the answer of a receiver. Redirects are refusals: the place that
// they name is not the one that the caller has set.
func judge(status int, retryAfter string, now time.Time) Answer {
	if status >= 200 && status <= 299 {
		return Answer{Verdict: deliver.Arrived, Status: status}
	}
	a := Answer{Verdict: deliver.Refused, Status: status, Err: fmt.Errorf("the receiver answered %d %s", status, http.StatusText(status))}
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		a.Verdict, a.Wait = deliver.Again, asked(retryAfter, now)
	}
	return a
}

// asked reads a Retry-After header, which is a number of seconds or a date.
func asked(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(n, 0), int(deliver.LongestAsked/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), deliver.LongestAsked)
	}
	return 0
}

// failure says why there was no answer, without the words of the error: they
// have the URL in them.
func failure(err error) Answer {
	var timeout net.Error
	var dns *net.DNSError
	switch {
	case errors.Is(err, netguard.ErrForbidden):
		return Answer{Verdict: deliver.Refused, Err: errors.New("the address is not allowed; RUNTIME_ALLOW_NETWORKS can allow it")}
	case errors.As(err, &dns):
		return Answer{Verdict: deliver.Again, Err: errors.New("the host's name cannot be resolved")}
	case errors.As(err, &timeout) && timeout.Timeout():
		return Answer{Verdict: deliver.Again, Err: errors.New("no answer in time")}
	default:
		return Answer{Verdict: deliver.Again, Err: errors.New("the connection failed")}
	}
}
