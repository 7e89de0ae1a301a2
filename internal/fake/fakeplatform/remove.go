package fakeplatform

import "net/http"

// remove ends the workspace and its tokens; its row stays. The platform's lock is held.
func (ws *workspace) remove() { ws.status, ws.deleted, ws.token = "removed", true, "" }

// delete is the user's: it is done, and then fails at the container, for there is no
// Docker here, as there was none where this was seen.
func (p *Platform) delete(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ws := p.find(r.PathValue("id"))
	if ws == nil {
		refuse(w, http.StatusNotFound, "workspace not found")
		return
	}
	ws.remove()
	p.tell()
	refuse(w, http.StatusInternalServerError, "Cannot connect to the Docker daemon")
}
