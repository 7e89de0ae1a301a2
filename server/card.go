package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
)

// card serves the agent card. It is small and made for each request, because
// the URL in it is the one that the caller used.
func (s *Server) card(w http.ResponseWriter, r *http.Request) {
	body, err := s.cardJSON(r)
	if err != nil {
		s.log.ErrorContext(r.Context(), "agent card failed", slog.String("request_id", requestID(r.Context())), slog.Any("err", err))
		fail(w, r, http.StatusInternalServerError, "internal error")
		return
	}
	sum := sha256.Sum256(body)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
	h.Set("Cache-Control", "public, max-age=60")
	http.ServeContent(w, r, "", s.started, bytes.NewReader(body)) // HEAD, If-None-Match, Last-Modified
}

func (s *Server) cardJSON(r *http.Request) ([]byte, error) {
	card := s.cfg.Card(s.baseURL(r))
	if s.cfg.PureCard {
		return json.Marshal(card)
	}
	return unionCard(r.Context(), card)
}

// baseURL is where the caller reached us. Forwarding headers are not believed:
// behind a proxy, PublicURL says it.
func (s *Server) baseURL(r *http.Request) string {
	if s.cfg.PublicURL != "" {
		return strings.TrimSuffix(s.cfg.PublicURL, "/")
	}
	host := r.Host
	if host == "" { // HTTP/1.0
		if a, ok := r.Context().Value(http.LocalAddrContextKey).(fmt.Stringer); ok {
			host = a.String()
		}
	}
	if r.TLS != nil {
		return "https://" + host
	}
	return "http://" + host
}

// unionCard is the card with the members of both versions. A card that names no
// interface for 0.3 has no such form and is left as it is.
func unionCard(ctx context.Context, card *a2a.AgentCard) (json.RawMessage, error) {
	for _, i := range card.SupportedInterfaces {
		if i.ProtocolVersion == a2av0.Version {
			return adapter.UnionCard(ctx, card)
		}
	}
	return json.Marshal(card)
}
