package push

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Poster posts JSON to URLs that callers have given. It may be used concurrently.
type Poster struct {
	guard  *netguard.Guard
	client *http.Client
	now    func() time.Time
}

// NewPoster returns a poster. The guard says where may be posted to, nil the public
// internet; a post takes as long as timeout, 0 means 10 s; now is the clock.
func NewPoster(guard *netguard.Guard, timeout time.Duration, now func() time.Time) *Poster {
	if guard == nil {
		guard = netguard.New()
	}
	if timeout == 0 {
		timeout = defaultTimeout
	}
	return &Poster{guard: guard, client: guard.Client(timeout), now: now}
}

// Check refuses a URL that must not be posted to. What a name leads to is judged
// when it is posted to.
func (p *Poster) Check(url string) error {
	_, err := p.guard.URL(url)
	return err
}

// Close lets go of connections that are not in use.
func (p *Poster) Close() { p.client.CloseIdleConnections() }

// An Outcome is what came of a post.
type Outcome struct {
	Arrived bool
	Status  int       // of the HTTP answer; 0 without one
	Reason  string    // why it has not arrived, in words that name nothing of the URL
	Next    time.Time // when to try again; the zero time means that it is of no use
}

// Post posts once: what was made at a time, and has been tried so often before.
func (p *Poster) Post(ctx context.Context, url string, header http.Header, payload []byte, tries int, made time.Time) Outcome {
	a := p.post(ctx, url, header, payload)
	out := Outcome{Arrived: a.verdict == arrived, Status: a.status, Reason: a.reason}
	if a.status != 0 && !out.Arrived {
		out.Reason = fmt.Sprintf("the receiver answered %d %s", a.status, http.StatusText(a.status))
	}
	if next := p.now().Add(wait(tries+1, a.wait, jitter())); a.verdict == again && !store.IsOver(tries+1, next.Sub(made)) {
		out.Next = next
	}
	return out
}

func (p *Poster) post(ctx context.Context, url string, header http.Header, payload []byte) answer {
	u, err := p.guard.URL(url)
	if err != nil {
		return failure(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(payload))
	if err != nil {
		return answer{verdict: refused, reason: "the request cannot be made"}
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "molecule-codex-runtime")
	res, err := p.client.Do(req)
	if err != nil {
		return failure(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
	_ = res.Body.Close()
	return judge(res.StatusCode, res.Header.Get("Retry-After"), p.now())
}
