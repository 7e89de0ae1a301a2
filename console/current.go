package console

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// How old a state may be that is shown: who looks at the same time sees the same one.
const (
	streamedAge = 900 * time.Millisecond
	askedAge    = 100 * time.Millisecond
)

// current is the state as it was last looked at, for all who look.
type current struct {
	state func(context.Context) State

	mu   sync.Mutex // guards the fields below, and is held while the state is looked at
	at   time.Time
	last []byte // encoded
}

func (c *current) get(ctx context.Context, age time.Duration) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && time.Since(c.at) < age {
		return c.last, nil
	}
	body, err := json.Marshal(c.state(ctx).filled())
	if err != nil || ctx.Err() != nil { // one that was cut off is nobody's
		return nil, errOr(err, ctx.Err())
	}
	c.at = time.Now()
	if !bytes.Equal(body, c.last) {
		c.last = body
	}
	return c.last, nil
}

func errOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

func (c *Console) serveState(w http.ResponseWriter, r *http.Request) {
	body, err := c.current.get(r.Context(), askedAge)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the state could not be looked at")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}
