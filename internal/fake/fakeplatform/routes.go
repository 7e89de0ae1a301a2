package fakeplatform

import "net/http"

func (p *Platform) routes() {
	p.registryRoutes()
	p.workspaceRoutes()
	p.messageRoutes()
	p.fileRoutes()
}

func (p *Platform) registryRoutes() {
	p.mux.HandleFunc("POST /registry/register", p.register)
	p.mux.HandleFunc("POST /registry/heartbeat", p.heartbeat)
	p.mux.HandleFunc("POST /registry/update-card", p.updateCard)
	p.mux.HandleFunc("POST /registry/check-access", p.checkAccess)
	p.mux.HandleFunc("GET /registry/discover/{id}", p.discover)
	p.mux.HandleFunc("GET /registry/{id}/peers", p.peers)
	p.own("GET /workspaces/{id}/state", p.state)
}

func (p *Platform) workspaceRoutes() {
	p.mux.HandleFunc("GET /workspaces/{id}", p.info)
	p.mux.HandleFunc("DELETE /workspaces/{id}", p.delete)
	p.own("GET /workspaces/{id}/secrets/values", p.secrets)
	p.own("GET /workspaces/{id}/instructions/resolve", p.instructions)
	p.own("GET /workspaces/{id}/github-installation-token", func(w http.ResponseWriter, _ *http.Request, _ *workspace) {
		refuse(w, http.StatusNotFound, "no GitHub installation")
	})
	p.own("POST /workspaces/{id}/memories", p.commit)
	p.own("GET /workspaces/{id}/memories", p.recall)
	p.own("POST /workspaces/{id}/plugins", p.install)
	p.mux.HandleFunc("GET /workspaces/{id}/shared-context", p.shared)
	p.own("POST /workspaces/{id}/broadcast", p.broadcast)
	p.own("GET /workspaces/{id}/transcript", p.transcript)
	if p.era == APR {
		p.own("POST /workspaces/{id}/approvals", p.approve)
		p.own("GET /workspaces/{id}/approvals", p.approvals)
		p.own("GET /workspaces/{id}/channels", p.chats)
		p.own("POST /workspaces/{id}/channels/{chat}/send", p.sayInChat)
		p.own("POST /workspaces/{id}/approvals/{approval}/decide", p.decideApproval)
	} else {
		p.own("POST /workspaces/{id}/requests", p.ask)
	}
}

func (p *Platform) messageRoutes() {
	p.mux.HandleFunc("POST /workspaces/{id}/a2a", p.proxy)
	p.own("POST /workspaces/{id}/delegate", p.delegate)
	p.own("GET /workspaces/{id}/delegations", p.delegations)
	p.own("POST /workspaces/{id}/delegations/record", p.recordDelegation)
	p.own("POST /workspaces/{id}/delegations/{delegation}/update", p.updateDelegation)
	p.own("GET /workspaces/{id}/activity", p.activity)
	p.own("POST /workspaces/{id}/activity", p.logActivity)
	p.own("POST /workspaces/{id}/notify", p.notify)
	if p.era == AUG {
		p.own("POST /workspaces/{id}/activity/ack", p.ackActivity)
	}
}

func (p *Platform) fileRoutes() {
	p.own("POST /workspaces/{id}/chat/uploads", p.upload)
	if p.era >= JUN {
		p.own("GET /workspaces/{id}/pending-uploads/{file}/content", p.pendingContent)
		p.own("POST /workspaces/{id}/pending-uploads/{file}/ack", p.pendingAck)
	}
}

// own serves a path below /workspaces/{id} to requests with that workspace's token.
func (p *Platform) own(pattern string, serve func(http.ResponseWriter, *http.Request, *workspace)) {
	p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if ws := p.authorized(w, r, r.PathValue("id")); ws != nil {
			serve(w, r, ws)
		}
	})
}
