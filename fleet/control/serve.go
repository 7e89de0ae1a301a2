package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
)

// Machines are those of a runtime; a [fleet.Fleet] has them.
type Machines interface {
	Overview() (all []fleet.Shown, trouble error)
	Standing() fleet.Standing
	Files() string
	Drain(ctx context.Context, name string, drain bool) error
}

// An Answer is how the machines of a runtime stand.
type Answer struct {
	Machines []fleet.Shown `json:"machines"`          // by their names
	Waiting  int           `json:"waiting"`           // turns that wait for a machine
	Files    string        `json:"files"`             // what places conversations have: shared or git
	Trouble  string        `json:"trouble,omitempty"` // with the list of machines
}

// Done is what a machine was told, and has said since that it does.
type Done struct {
	Machine  string `json:"machine"`
	Draining bool   `json:"draining"`
}

// A problem is the answer where there is none.
type problem struct {
	Error string `json:"error"`
}

const noMachines = "this runtime runs commands on its own machine: it was started without RUNTIME_MACHINES"

// Handler serves the machines of a runtime; nil is one that has none.
func Handler(all Machines) http.Handler {
	mux := http.NewServeMux()
	route := func(pattern string, serve func(w http.ResponseWriter, r *http.Request)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			if all == nil {
				answer(w, http.StatusNotFound, problem{noMachines})
				return
			}
			serve(w, r)
		})
	}
	drain := func(drain bool) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { told(w, r, all, drain) }
	}
	route("GET /machines", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, lookAt(all)) })
	route("POST /machines/{name}/drain", drain(true))
	route("POST /machines/{name}/undrain", drain(false))
	return mux
}

func lookAt(all Machines) Answer {
	machines, trouble := all.Overview()
	a := Answer{Machines: machines, Waiting: all.Standing().Waiting, Files: all.Files()}
	if a.Machines == nil {
		a.Machines = []fleet.Shown{}
	}
	if trouble != nil {
		a.Trouble = trouble.Error()
	}
	return a
}

// told has a machine drain, or not.
func told(w http.ResponseWriter, r *http.Request, all Machines, drain bool) {
	name := r.PathValue("name")
	err := all.Drain(r.Context(), name, drain)
	_, none := errors.AsType[*fleet.NoMachineError](err)
	_, away := errors.AsType[*fleet.AwayError](err)
	switch {
	case err == nil:
		answer(w, http.StatusOK, Done{Machine: name, Draining: drain})
	case none:
		answer(w, http.StatusNotFound, problem{err.Error()})
	case away:
		answer(w, http.StatusConflict, problem{err.Error() + "; only a machine that is up can be told"})
	default:
		answer(w, http.StatusBadGateway, problem{err.Error()})
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // a load that is no number, which JSON has no word for
		status, text = http.StatusInternalServerError, []byte(`{"error":"internal error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}
