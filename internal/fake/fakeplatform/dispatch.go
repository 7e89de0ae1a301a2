package fakeplatform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"syscall"
	"time"
)

// deliver hands the message on, and says what its sender is told.
func (p *Platform) deliver(m *message) Reply {
	d := p.dispatch(m)
	if p.repeated() {
		d = p.dispatch(m)
	}
	switch {
	case d.Err != nil && errors.Is(d.Err, syscall.ECONNREFUSED):
		p.locked(func() { p.rowOfLocked(m, "error", nil) })
		return said(http.StatusBadGateway, object{"error": "failed to reach workspace agent"})
	case d.Err != nil:
		return p.busy(m)
	}
	failed := d.Status < 200 || d.Status > 299
	p.locked(func() {
		status := "ok"
		if failed {
			status = "error"
		}
		p.rowOfLocked(m, status, d.Answer)
	})
	switch {
	case failed:
		return said(d.Status, object{"error": http.StatusText(d.Status)})
	case len(d.Answer) == 0 && p.era >= JUN:
		return said(http.StatusOK, object{"error": "agent returned empty response body"})
	}
	return Reply{Status: d.Status, Body: d.Answer}
}

// busy takes a message for later: the workspace did not answer, so it is at work.
func (p *Platform) busy(m *message) Reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.era == APR && m.to.nativeSessionLocked() {
		reply := said(http.StatusServiceUnavailable, object{"busy": true, "native_session": true, "retry_after": 30})
		reply.Header = http.Header{"Retry-After": {"30"}}
		return reply
	}
	q := p.enqueueLocked(m)
	out := object{"queued": true, "queue_id": q.id, "queue_depth": len(m.to.queue), "message": "workspace is busy; the message waits"}
	if p.era >= JUN && m.from == "" {
		out["status"] = "queued"
		return said(http.StatusOK, out)
	}
	return said(http.StatusAccepted, out)
}

// dispatch posts the message to where the workspace is, and records that.
func (p *Platform) dispatch(m *message) Dispatch {
	text, _ := json.Marshal(m.body)
	p.mu.Lock()
	d := Dispatch{Workspace: m.to.ID, URL: m.to.url, Body: text}
	reply, secret := m.to.Reply, m.to.secret
	p.mu.Unlock()
	if reply != nil {
		d.Status = http.StatusOK
		d.Answer, _ = json.Marshal(object{"jsonrpc": "2.0", "id": m.body["id"], "result": object{
			"kind": "message", "role": "agent", "messageId": newID(),
			"parts": []object{{"kind": "text", "text": reply(textOf(m.body))}},
		}})
	} else {
		p.post(m.to, &d, secret)
	}
	p.handedOn(d)
	return d
}

// post is the request itself: nothing in it says who asks.
func (p *Platform) post(to *workspace, d *Dispatch, secret string) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	defer p.silence(to, cancel)()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.Body))
	if err != nil {
		d.Err = err
		return
	}
	req.Header.Set("Content-Type", "application/json")
	if p.era == AUG && p.AlwaysAuth {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	d.Header = req.Header
	res, err := p.agent.Do(req)
	if err != nil {
		d.Err = err
		return
	}
	defer res.Body.Close()
	d.Status = res.StatusCode
	d.Answer, d.Err = io.ReadAll(io.LimitReader(res.Body, 64<<20))
}

// silence ends a dispatch when the workspace has not been heard of for a while. Each
// heartbeat starts that anew.
func (p *Platform) silence(to *workspace, cancel func()) (stop func()) {
	timer := time.AfterFunc(p.IdleWindow, cancel)
	p.locked(func() { to.alive[timer] = true })
	return func() {
		timer.Stop()
		p.locked(func() { delete(to.alive, timer) })
	}
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
