package console

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	doctorLasts = 60 * time.Second
	doctorEvery = 5 * time.Second
)

// doctor keeps people from examining the machine all the time: the checks start codex,
// and ask the platform.
type doctor struct {
	mu    sync.Mutex // guards the fields below
	busy  bool
	since time.Time // when the last one began; zero before
}

// begin reports whether it may be asked now, and if not, when.
func (d *doctor) begin() (wait time.Duration, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	since := time.Since(d.since)
	switch {
	case d.busy:
		return doctorEvery, false
	case !d.since.IsZero() && since < doctorEvery:
		return doctorEvery - since, false
	}
	d.busy, d.since = true, time.Now()
	return 0, true
}

func (d *doctor) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy = false
}

func (c *Console) runDoctor(w http.ResponseWriter, r *http.Request) {
	if wait, ok := c.doctor.begin(); !ok {
		w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		refuse(w, http.StatusTooManyRequests, "the checks have just been made, or are being made; ask again in a few seconds")
		return
	}
	defer c.doctor.end()
	ctx, cancel := context.WithTimeout(r.Context(), doctorLasts)
	defer cancel()
	writeJSON(w, http.StatusOK, struct {
		Checks []Check `json:"checks"`
	}{orEmpty(c.cfg.Doctor(ctx))})
}
