package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/server/binding"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
)

// card serves the agent card. It is small and made for each request, because
// the URL in it is the one that the caller used.
func (s *Server) card(w http.ResponseWriter, r *http.Request) {
	body, err := s.cardJSON(r)
	if err != nil {
		s.log.ErrorContext(r.Context(), "agent card failed", slog.String("request_id", respond.RequestID(r.Context())), slog.Any("err", err))
		respond.Fail(w, r, http.StatusInternalServerError, "internal error")
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
	card := s.cfg.Card(respond.BaseURL(r, s.cfg.PublicURL))
	if s.cfg.PureCard {
		return json.Marshal(card)
	}
	return binding.UnionCard(r.Context(), card)
}
