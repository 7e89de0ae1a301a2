package forward

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
)

type destinationKey struct{}

func (f *Forwarder) handler() http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite:        rewrite,
		Transport:      stayhttp.Transport{Via: f.transport},
		FlushInterval:  -1, // each piece of an answer goes on at once
		ErrorLog:       slog.NewLogLogger(f.log.Handler(), slog.LevelDebug),
		ErrorHandler:   f.failed,
		ModifyResponse: f.answer,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f.meant(r) {
			turnAway(w, "requests have to come to "+f.host+" by that name, and from no browser")
			return
		}
		to, ok := f.let(r)
		if !ok {
			turnAway(w, "this is for the runtime's own codex only")
			return
		}
		crowd.LetIn(r.Context())
		if !asksTheModel(r) {
			f.log.Debug("a request that does not ask the model was refused", "method", r.Method, "path", r.URL.Path)
			refuse(w, http.StatusNotFound, "only the model can be asked here")
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), destinationKey{}, to))
		if isUpgrade(r) {
			f.upgrade(w, r)
			return
		}
		f.overHTTP(proxy, w, r)
	})
}

// overHTTP hands on a request, and its answer.
func (f *Forwarder) overHTTP(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
	if !destinationOf(r).sockets.speaks() {
		f.spare.close() // an endpoint that serves one connection at a time would wait for that
	}
	f.noteUse()
	// An endpoint may answer before the last of the request has been read here. The
	// server would close the request then, and the transport with it the answer.
	if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
		f.log.Debug("an early answer can be cut off", "err", err)
	}
	if r.URL.Path == "/responses" {
		call := &recorder{tell: f.tell}
		call.begin(Call{Thread: r.Header.Get("Thread-Id")})
		defer call.end(0)
		r = r.WithContext(call.over(r.Context()))
	}
	proxy.ServeHTTP(withoutInterim{w}, r)
}

func rewrite(r *httputil.ProxyRequest) {
	to := destinationOf(r.In)
	r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.url.Scheme, to.url.Host, to.url.Host
	r.Out.URL.Path, r.Out.URL.RawPath = to.url.Path+r.In.URL.Path, ""
	r.Out.Header, r.Out.Trailer = to.header(r.Out.Header), nil
	r.Out.Header.Set("Accept-Encoding", "identity") // the key is looked for in what comes back
}

// header is what of a request's header goes on, and the key.
func (to destination) header(of http.Header) http.Header {
	out := passing(of)
	if to.key != "" {
		out.Set("Authorization", "Bearer "+to.key)
	}
	return out
}

func destinationOf(r *http.Request) destination {
	to, _ := r.Context().Value(destinationKey{}).(destination)
	return to
}

// failed answers for an endpoint that cannot be reached, in the form of its errors.
func (f *Forwarder) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil { // codex has gone, or we do
		panic(http.ErrAbortHandler)
	}
	to := destinationOf(r)
	err = to.secret.error(err) // it quotes an answer that is none
	f.log.Warn("the model's endpoint cannot be reached", "host", to.url.Host, "err", err)
	refuse(w, http.StatusBadGateway, "the model's endpoint "+to.url.Host+" cannot be reached: "+err.Error())
}

// turnAway answers one that is not codex, and keeps nothing of it: its connection is closed
// without its body being waited for.
func turnAway(w http.ResponseWriter, message string) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // net/http reads on else
	refuse(w, http.StatusForbidden, message)
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": message}})
}
