package push

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
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

// Post posts once.
func (p *Poster) Post(ctx context.Context, url string, header http.Header, payload []byte) Answer {
	u, err := p.guard.URL(url)
	if err != nil {
		return failure(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(payload))
	if err != nil {
		return Answer{Verdict: deliver.Refused, Err: errors.New("the request cannot be made")}
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
