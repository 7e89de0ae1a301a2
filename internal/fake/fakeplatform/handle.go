package fakeplatform

import (
	"cmp"
	"encoding/json"
	"slices"
)

// look returns what f does, under the lock.
func look[T any](h *Handle, f func(*workspace) T) T {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	return f(h.ws)
}

// ID is the workspace's.
func (h *Handle) ID() string { return h.ws.ID }

// Token is the one that is good now.
func (h *Handle) Token() string { return look(h, func(w *workspace) string { return w.token }) }

// InboundSecret is what the platform shows when it calls the workspace; April has none.
func (h *Handle) InboundSecret() string {
	return look(h, func(w *workspace) string { return w.secret })
}

// Status is provisioning, online, degraded, offline, hibernated, paused or removed.
func (h *Handle) Status() string { return look(h, func(w *workspace) string { return w.status }) }

// URL is where the platform reaches the workspace.
func (h *Handle) URL() string { return look(h, func(w *workspace) string { return w.url }) }

// Card is the agent card, as it came.
func (h *Handle) Card() json.RawMessage {
	return look(h, func(w *workspace) json.RawMessage { return w.card })
}

// Beats are the heartbeats so far.
func (h *Handle) Beats() []Beat {
	return look(h, func(w *workspace) []Beat { return slices.Clone(w.beats) })
}

// Notices are what the user was told.
func (h *Handle) Notices() []Notice {
	return look(h, func(w *workspace) []Notice { return slices.Clone(w.notices) })
}

// LateReplies are answers to messages whose sender had been told that they wait.
func (h *Handle) LateReplies() []json.RawMessage {
	return look(h, func(w *workspace) []json.RawMessage { return slices.Clone(w.late) })
}

// Asks are the requests to the user.
func (h *Handle) Asks() []Ask {
	return look(h, func(w *workspace) []Ask {
		out := make([]Ask, 0, len(w.asks))
		for _, ask := range w.asks {
			out = append(out, *ask)
		}
		return out
	})
}

// Plugins are the sources that were installed.
func (h *Handle) Plugins() []string {
	return look(h, func(w *workspace) []string { return slices.Clone(w.plugins) })
}

// Queued is how many messages wait for the workspace.
func (h *Handle) Queued() int { return look(h, func(w *workspace) int { return len(w.queue) }) }

// Acked is the highest row that the workspace has acknowledged.
func (h *Handle) Acked() int64 { return look(h, func(w *workspace) int64 { return w.acked }) }

// Rotate revokes the token and returns a new one, as when the container is made anew.
func (h *Handle) Rotate() string {
	return look(h, func(w *workspace) string {
		w.token = newToken()
		return w.token
	})
}

// RotateInboundSecret makes a new one, which the next answers bring.
func (h *Handle) RotateInboundSecret() string {
	return look(h, func(w *workspace) string {
		w.secret = newToken()
		return w.secret
	})
}

// Revoke leaves the workspace without a token, until it registers.
func (h *Handle) Revoke() { h.p.locked(func() { h.ws.token = "" }) }

// SetStatus is what a person, or a timer of the platform, does: offline, hibernated, paused.
func (h *Handle) SetStatus(status string) {
	h.p.locked(func() {
		h.ws.status, h.ws.paused = status, status == "paused"
		if status == "hibernated" {
			h.ws.url = ""
		}
	})
}

// Hibernate puts the workspace to sleep if it is idle, and reports whether it did.
func (h *Handle) Hibernate() bool {
	return look(h, func(w *workspace) bool {
		if n := len(w.beats); n > 0 && w.beats[n-1].ActiveTasks > 0 {
			return false
		}
		w.status, w.url = "hibernated", ""
		return true
	})
}

// Delete removes the workspace, with its tokens.
func (h *Handle) Delete() { h.p.locked(h.ws.removeLocked) }

// SetSecret sets a secret that the workspace can read.
func (h *Handle) SetSecret(name, value string) {
	h.p.locked(func() {
		if h.ws.Secrets == nil {
			h.ws.Secrets = map[string]string{}
		}
		h.ws.Secrets[name] = value
	})
}

// SetInstructions sets what the platform tells the workspace.
func (h *Handle) SetInstructions(text string) { h.p.locked(func() { h.ws.Instructions = text }) }

// A Handle is how a test sees and changes a workspace.
type Handle struct {
	p  *Platform
	ws *workspace
}

// Add makes a workspace.
func (p *Platform) Add(w Workspace) *Handle {
	p.mu.Lock()
	defer p.mu.Unlock()
	ws := newWorkspace(w)
	if p.era >= JUN {
		ws.secret = cmp.Or(w.InboundSecret, newToken())
	}
	p.keepLocked(ws)
	return &Handle{p, ws}
}
