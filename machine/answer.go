package machine

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/places"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// statuses are those of refusals, by their codes.
var statuses = map[string]int{ //nolint:gochecknoglobals // a constant table
	wire.CodeToken: http.StatusUnauthorized, wire.CodeFull: http.StatusConflict, wire.CodeDraining: http.StatusConflict,
	wire.CodeSuperseded: http.StatusConflict, wire.CodeTrouble: http.StatusServiceUnavailable, wire.CodePath: http.StatusForbidden,
	wire.CodeMissing: http.StatusNotFound, wire.CodeFiles: http.StatusBadRequest, wire.CodeInvalid: http.StatusBadRequest,
	wire.CodeTooLarge: http.StatusRequestEntityTooLarge, wire.CodeFailed: http.StatusInternalServerError,
}

// refuse answers a request with why it is refused.
func (f *front) refuse(w http.ResponseWriter, code, message string) {
	f.refuseWith(w, wire.Refusal{Code: code, Message: message})
}

func (f *front) refuseWith(w http.ResponseWriter, refusal wire.Refusal) {
	f.metrics.refused(refusal.Code)
	answer(w, statuses[refusal.Code], refusal)
}

// fail is refuse for an error.
func (f *front) fail(w http.ResponseWriter, r *http.Request, err error) {
	code := codeOf(err)
	if code == wire.CodeFailed && r.Context().Err() == nil {
		f.log.Error("a request of a runtime failed", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	refusal := wire.Refusal{Code: code, Message: err.Error()}
	if superseded, ok := errors.AsType[*tenancy.SupersededError](err); ok {
		refusal.Epoch = superseded.Epoch
	}
	f.refuseWith(w, refusal)
}

// codeOf is what an error is called on the wire.
func codeOf(err error) string {
	if known, ok := errors.AsType[*places.Refused](err); ok {
		return known.Code
	}
	if _, ok := errors.AsType[tenancy.TroubleError](err); ok {
		return wire.CodeTrouble
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return wire.CodeTooLarge
	}
	switch {
	case errors.Is(err, tenancy.ErrSuperseded):
		return wire.CodeSuperseded
	case errors.Is(err, tenancy.ErrFull), errors.Is(err, tenancy.ErrMany):
		return wire.CodeFull
	case errors.Is(err, tenancy.ErrDraining), errors.Is(err, tenancy.ErrClosed):
		return wire.CodeDraining
	case errors.Is(err, tenancy.ErrEnding), errors.Is(err, tenancy.ErrOver):
		return wire.CodeTrouble
	}
	return wire.CodeFailed
}

// answer writes JSON.
func answer(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil { // values of package wire can always be written
		panic(err)
	}
	writeWithin(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a runtime that does not read it does not want it
}

// errInvalid is why a request cannot be read.
func errInvalid(message string) error {
	return &places.Refused{Code: wire.CodeInvalid, Message: message}
}

// mostJSON is how large a body of JSON may be.
const mostJSON = 256 << 10

// read reads the body of a request.
func read(w http.ResponseWriter, r *http.Request, to any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostJSON))
	if err := decoder.Decode(to); err != nil {
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return large
		}
		return errInvalid("the body of the request cannot be read: " + err.Error())
	}
	hasRead(w)
	return nil
}
