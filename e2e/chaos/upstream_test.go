package chaos

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/linktest"
)

// An upstream is the model's endpoint and the way to it: TLS, HTTP/2 and WebSockets, as in the
// field, and no distance.
type upstream struct {
	*linktest.Upstream
	ledger *Ledger
	deaf   atomic.Bool // WebSockets are refused
	turned atomic.Int64
}

func startUpstream(tb testing.TB, l *Ledger) *upstream {
	u := &upstream{ledger: l}
	model := fakemodel.New(l.script)
	u.Upstream = linktest.Start(tb, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u.deaf.Load() && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			u.turned.Add(1)
			http.NotFound(w, r)
			return
		}
		model.ServeHTTP(w, r)
	}), linktest.Link{HTTP2: true})
	return u
}

// environ is what the program needs to find it.
func (u *upstream) environ() []string {
	return []string{"OPENAI_BASE_URL=" + u.URL() + "/v1", "CODEX_CA_CERTIFICATE=" + u.CAFile()}
}

// hit carries out a blow at the endpoint. It reports whether there was a connection to cut.
func (u *upstream) hit(b Blow) bool {
	switch b.Strike {
	case finModel:
		return u.cut(linktest.FIN)
	case modelAway:
		u.Refuse(true)
		defer u.Refuse(false)
	case modelDeaf:
		u.deaf.Store(true)
		defer u.deaf.Store(false)
	}
	if !u.cut(linktest.RST) {
		return false
	}
	if b.Strike != rstModel {
		pause(context.Background(), b.Hold)
	}
	return true
}

// cut ends all connections.
func (u *upstream) cut(how linktest.Ending) bool {
	u.ledger.cuts()
	return u.Cut(how) > 0
}
