package fakeplatform

import (
	"net/http"
	"strings"
)

// authorized returns the workspace if the request has its token; else it is refused.
func (p *Platform) authorized(w http.ResponseWriter, r *http.Request, id string) *workspace {
	p.mu.Lock()
	defer p.mu.Unlock()
	ws := p.workspaces[id]
	switch bearer := bearerOf(r); {
	case bearer == "":
		refuse(w, http.StatusUnauthorized, "missing workspace auth token")
	case ws == nil || ws.token == "" || bearer != ws.token:
		refuse(w, http.StatusUnauthorized, "invalid workspace auth token")
	default:
		return ws
	}
	return nil
}

func bearerOf(r *http.Request) string {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return token
}
