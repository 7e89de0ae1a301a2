package machine

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/execs"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/identity"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/places"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A front is what HTTP leads to.
type front struct {
	token    *identity.Token
	refusals *refusals.Refusals
	tenants  *tenancy.Tenants
	servers  *execs.Servers
	places   *places.Places
	drain    *drain
	about    *about
	metrics  *metrics
	log      *slog.Logger
}

// handler has the routes of package wire.
func (f *front) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.Handle("GET /metrics", f.known(f.metrics.handler()))
	for route, handle := range map[string]func(http.ResponseWriter, *http.Request, *tenancy.Stay) error{
		"GET /v1/watch":                  f.watch,
		"GET /v1/exec":                   f.exec,
		"PUT /v1/turns/{turn}":           f.beginTurn,
		"DELETE /v1/turns/{turn}":        f.endTurn,
		"GET /v1/commands":               f.commands,
		"POST /v1/commands/end":          f.endCommands,
		"PUT /v1/places/{place}":         f.openPlace,
		"DELETE /v1/places/{place}":      f.removePlace,
		"POST /v1/places/{place}/bundle": f.absorb,
		"POST /v1/places/{place}/commit": f.commit,
		"GET /v1/places/{place}/file":    f.readFile,
		"PUT /v1/places/{place}/file":    f.writeFile,
		"GET /v1/drain":                  f.readDrain,
		"PUT /v1/drain":                  f.writeDrain,
	} {
		mux.Handle(route, f.known(f.entered(handle)))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		f.refuse(w, wire.CodeMissing, "a machine has nothing here: its address is one for RUNTIME_MACHINES of a runtime")
	})
	return timed(mux)
}

// known lets callers in that show the token. Wrong ones wait.
func (f *front) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown, bears := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case bears && f.token.Is(shown):
			crowd.LetIn(r.Context())
			next.ServeHTTP(w, r)
			return
		case r.Header.Get("Authorization") == "":
			f.refusals.Missing()
		case !f.refusals.Wrong(r.Context(), r.RemoteAddr, "machine"):
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", strconv.Itoa(refusals.RetryAfter))
			f.metrics.refused(wire.CodeToken)
			answer(w, http.StatusTooManyRequests, wire.Refusal{Code: wire.CodeToken, Message: "too many wrong tokens come from where this request does: try again in a few seconds"})
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="molecule-machine"`)
		f.refuse(w, wire.CodeToken, "the machine asks for its token: runtime machine token prints it there, and RUNTIME_MACHINES_TOKEN_FILE names a file with it here")
	})
}

var (
	aRuntime = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)
	aName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
)

// entered finds the stay of the runtime that asks.
func (f *front) entered(handle func(http.ResponseWriter, *http.Request, *tenancy.Stay) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stay, err := f.enter(r)
		if err == nil {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(stay.Context(), cancel)() // what is asked in a stay ends with it
			err = handle(w, r.WithContext(ctx), stay)
		}
		if err != nil {
			f.fail(w, r, err)
		}
	})
}

func (f *front) enter(r *http.Request) (*tenancy.Stay, error) {
	runtime := r.Header.Get(wire.HeaderRuntime)
	if !aRuntime.MatchString(runtime) {
		return nil, errInvalid("the header " + wire.HeaderRuntime + " has to name the runtime: letters, digits and dashes, 64 at most")
	}
	epoch, err := strconv.ParseInt(r.Header.Get(wire.HeaderEpoch), 10, 64)
	if err != nil || epoch <= 0 {
		return nil, errInvalid("the header " + wire.HeaderEpoch + " has to say since when this machine works for the runtime, in nanoseconds since 1970")
	}
	if ahead := time.Until(time.Unix(0, epoch)); ahead > wire.MostAhead {
		return nil, errInvalid(fmt.Sprintf("the header %s is %v ahead of the clock of this machine: set the clocks of both, or take the token from what sends that", wire.HeaderEpoch, ahead.Round(time.Second)))
	}
	for _, part := range []string{"turn", "place"} {
		if name := r.PathValue(part); name != "" && !aName.MatchString(name) {
			return nil, errInvalid("the name of a " + part + " is letters, digits, dots, dashes and underscores, 128 at most, and begins with a letter or a digit")
		}
	}
	return f.tenants.Enter(r.Context(), runtime, epoch)
}
