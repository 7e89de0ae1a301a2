package fakeplatform

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"
)

// A message is one on its way to a workspace.
type message struct {
	to       *workspace
	from     string // the id of a workspace, or "" for the user
	body     object // normalised
	id       string // of the message
	method   string
	attempts int
}

// Send is the user's browser: it hands a JSON-RPC request, or a bare method and params,
// to the workspace, and returns what the browser would get.
func (h *Handle) Send(ctx context.Context, request string) (Reply, error) {
	var body object
	if err := json.Unmarshal([]byte(request), &body); err != nil {
		return Reply{}, err
	}
	return h.p.pass(ctx, h.ws, "", body), nil
}

// Say is [Handle.Send] of a text.
func (h *Handle) Say(ctx context.Context, text string) (Reply, error) {
	return h.Send(ctx, `{"method":"message/send","params":{"message":{"role":"user","parts":[{"kind":"text","text":`+quote(text)+`}]}}}`)
}

// proxy is the way of all messages to a workspace.
func (p *Platform) proxy(w http.ResponseWriter, r *http.Request) {
	self := r.Header.Get("X-Workspace-ID")
	to := r.PathValue("id")
	if self != "" && (p.era >= JUN || self != to) && p.authorized(w, r, self) == nil {
		return
	}
	var body object
	if !read(w, r, &body) {
		return
	}
	p.mu.Lock()
	from, target := p.findLocked(self), p.findLocked(to)
	allowed := target != nil && (from == nil || p.mayTalkLocked(from, target))
	p.mu.Unlock()
	switch {
	case target == nil:
		refuse(w, http.StatusNotFound, "workspace not found")
		return
	case !allowed:
		refuse(w, http.StatusForbidden, "access denied: workspaces cannot communicate per hierarchy rules")
		return
	}
	reply := p.pass(r.Context(), target, self, body)
	maps.Copy(w.Header(), reply.Header)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(reply.Status)
	_, _ = w.Write(reply.Body)
}

// pass normalises a message and hands it on, or says why not.
func (p *Platform) pass(ctx context.Context, to *workspace, from string, body object) Reply {
	m, reason := p.normalise(to, from, body)
	if reason != "" {
		return said(http.StatusBadRequest, object{"error": reason})
	}
	p.mu.Lock()
	url, status, polls, plays := to.url, to.status, p.era >= JUN && to.deliveryMode == "poll", to.Reply != nil
	if polls {
		p.rowOfLocked(m, "ok", nil)
		p.mu.Unlock()
		return said(http.StatusOK, object{"status": "queued", "delivery_mode": "poll", "method": m.method})
	}
	if status == "hibernated" {
		to.status = "provisioning" // its container is made anew
	}
	p.mu.Unlock()
	switch {
	case status == "hibernated":
		reply := said(http.StatusServiceUnavailable, object{"error": "workspace is waking up", "waking": true, "retry_after": 15})
		reply.Header = http.Header{"Retry-After": {"15"}}
		return reply
	case url == "" && !plays:
		return said(http.StatusServiceUnavailable, object{"error": "workspace has no URL", "status": status})
	}
	return p.await(ctx, m)
}

// await hands the message on and waits for the answer, a user for a while only. That
// the sender goes away does not end it.
func (p *Platform) await(ctx context.Context, m *message) Reply {
	done := make(chan Reply, 1)
	p.jobs.Go(func() { done <- p.deliver(m) })
	var budget <-chan time.Time
	if p.CanvasBudget > 0 && m.from == "" {
		timer := time.NewTimer(p.CanvasBudget)
		defer timer.Stop()
		budget = timer.C
	}
	select {
	case reply := <-done:
		return reply
	case <-budget:
	case <-ctx.Done():
	}
	p.jobs.Go(func() {
		reply := <-done
		p.locked(func() {
			m.to.late = append(m.to.late, reply.Body)
			p.tell()
		})
	})
	return said(http.StatusOK, object{"status": "queued", "delivery_mode": "push-async", "method": m.method})
}

// SendFrom is [Handle.Send] of another workspace, through the platform.
func (h *Handle) SendFrom(ctx context.Context, from *Handle, request string) (Reply, error) {
	var body object
	if err := json.Unmarshal([]byte(request), &body); err != nil {
		return Reply{}, err
	}
	return h.p.pass(ctx, h.ws, from.ws.ID, body), nil
}

// SayFrom is [Handle.SendFrom] of a text.
func (h *Handle) SayFrom(ctx context.Context, from *Handle, text string) (Reply, error) {
	return h.SendFrom(ctx, from, `{"method":"message/send","params":{"message":{"role":"user","parts":[{"kind":"text","text":`+quote(text)+`}]}}}`)
}
