package fakeplatform

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// transcript asks the workspace, at the address that its agent card has.
func (p *Platform) transcript(w http.ResponseWriter, r *http.Request, ws *workspace) {
	p.mu.Lock()
	var card struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(ws.card, &card)
	secret := ws.secret
	p.mu.Unlock()
	if card.URL == "" {
		refuse(w, http.StatusNotFound, "the workspace has no URL in its agent card")
		return
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, strings.TrimRight(card.URL, "/")+"/transcript?"+r.URL.RawQuery, nil)
	if err != nil {
		refuse(w, http.StatusBadGateway, "workspace cannot be reached")
		return
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	p.through(w, req)
}

// through sends the request to a workspace, and its answer back.
func (p *Platform) through(w http.ResponseWriter, req *http.Request) {
	res, err := p.agent.Do(req)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, "workspace cannot be reached")
		return
	}
	defer res.Body.Close()
	w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, io.LimitReader(res.Body, 1<<20))
}
