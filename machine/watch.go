package machine

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// watch tells a runtime how the machine stands: at once, at each change, and each beat. As long as it is read, the
// machine works for the runtime.
func (f *front) watch(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	defer stay.Watch()()
	patience(r.Context(), wire.Silence)
	rc := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Connection", "close") // it has no patience any more
	beat := time.NewTicker(wire.Beat)
	defer beat.Stop()
	for {
		now, changed := stay.Look()
		if stay.Context().Err() != nil {
			return nil
		}
		line, err := json.Marshal(f.about.status(now))
		if err != nil {
			return err
		}
		_ = rc.SetWriteDeadline(time.Now().Add(wire.Silence))
		if _, err := w.Write(append(line, '\n')); err != nil {
			return nil // the runtime has gone
		}
		if err := rc.Flush(); err != nil {
			return nil
		}
		select {
		case <-changed:
		case <-beat.C:
		case <-stay.Context().Done():
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
}
