package push

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
)

// The headers of a notification.
const (
	headerID      = "A2A-Notification-Id"
	headerToken   = "X-A2A-Notification-Token" //nolint:gosec // a name, and no secret
	headerVersion = "A2A-Version"
)

// A verdict says what becomes of a delivery.
type verdict int

const (
	arrived verdict = iota
	again           // it may arrive later
	refused         // it never will
)

// An answer is what came of a post, in words that are fit for the log: none of
// them is of the URL's path or query, or of what the receiver wrote.
type answer struct {
	verdict verdict
	status  int           // 0 without an HTTP answer
	reason  string        // without an HTTP answer
	wait    time.Duration // that the receiver asks for
}

// post posts a notification once.
func (d *Deliverer) post(ctx context.Context, s Setting, n Notification) answer {
	header := http.Header{}
	header.Set(headerVersion, n.Version)
	header.Set(headerID, n.ID)
	if s.Config.Token != "" {
		header.Set(headerToken, s.Config.Token)
	}
	if auth := s.Config.Auth; auth != nil && auth.Credentials != "" {
		header.Set("Authorization", auth.Scheme+" "+auth.Credentials)
	}
	return d.poster.post(ctx, s.Config.URL, header, n.Payload)
}

// judge reads the answer of a receiver. Redirects are refusals: the place that
// they name is not the one that the caller has set.
func judge(status int, retryAfter string, now time.Time) answer {
	a := answer{verdict: refused, status: status}
	switch {
	case status >= 200 && status <= 299:
		a.verdict = arrived
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		a.verdict, a.wait = again, asked(retryAfter, now)
	}
	return a
}

// asked reads a Retry-After header, which is a number of seconds or a date.
func asked(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(n, 0), int(longestAsked/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), longestAsked)
	}
	return 0
}

// failure says why there was no answer, without the words of the error: they
// have the URL in them.
func failure(err error) answer {
	var timeout net.Error
	var dns *net.DNSError
	switch {
	case errors.Is(err, netguard.ErrForbidden):
		return answer{verdict: refused, reason: "the address is not allowed; RUNTIME_ALLOW_NETWORKS can allow it"}
	case errors.As(err, &dns):
		return answer{verdict: again, reason: "the host's name cannot be resolved"}
	case errors.As(err, &timeout) && timeout.Timeout():
		return answer{verdict: again, reason: "no answer in time"}
	default:
		return answer{verdict: again, reason: "the connection failed"}
	}
}
