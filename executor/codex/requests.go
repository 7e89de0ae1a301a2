package codex

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
)

// unread returns the notifications that nobody reads; codex is asked not to send them.
func unread() []string {
	return []string{
		"thread/name/updated",
		"thread/goal/updated",
		"rawResponseItem/completed",
		"item/reasoning/textDelta",
		"fs/changed",
		"skills/changed",
		"app/list/updated",
		"thread/readState/changed",
		"remoteControl/status/changed",
	}
}

// childConfig completes the configuration of the child with our ears.
func (d *Driver) childConfig() appserver.Config {
	cfg := d.cfg.Child.config()
	cfg.OptOut = unread()
	cfg.OnRequest = d.hear
	cfg.OnGlobal, cfg.OnTurn = d.global, d.turnBegan
	cfg.Logger = d.log
	return cfg
}

// hear answers a request of codex, on a goroutine of its own. Every request is
// answered: one that is left open holds its thread for ever. What a person can
// answer is put to the turn that it belongs to; it returns when that is settled.
func (d *Driver) hear(ctx context.Context, req *appserver.Request) {
	if req.Method == appserver.MethodToolCall {
		d.callTool(ctx, req)
		return
	}
	if answer, ok := atOnce(req.Method); ok {
		err := req.Reply(answer)
		d.log.Info("codex asked and was answered", "method", req.Method, "thread_id", req.ThreadID, "err", err)
		return
	}
	asks, known, err := d.readRequest(req)
	if !known {
		err := req.Refuse(appserver.CodeMethodNotFound, "method not offered by this client: "+req.Method)
		d.log.Info("codex asked for what is not offered", "method", req.Method, "err", err)
		return
	}
	if err != nil {
		d.decline(req, asks, "cannot be read: "+err.Error())
		return
	}
	in, why := d.askerOf(ctx, req)
	switch {
	case in == nil:
		d.decline(req, asks, why)
	case d.everythingAllowed(in.Options):
		err = req.Reply(asks.Grant())
		d.log.Info("codex asked although everything is allowed", "method", req.Method, "thread_id", req.ThreadID, "err", err)
	case !d.mayAsk(in.Options):
		d.decline(req, asks, "nobody is asked (CODEX_APPROVAL_POLICY=never)")
	default:
		d.await(ctx, in, inquiry.NewQuestion(req, asks))
	}
}

// fewBytes is how large a request may be that is read beside others.
const fewBytes = 16 << 10

// readRequest reads what is asked. A form takes hundreds of times what it has of memory for a
// moment, and any number may come at once: large ones are read one at a time.
func (d *Driver) readRequest(req *appserver.Request) (asks ask.Request, known bool, err error) {
	if len(req.Params) > fewBytes {
		d.reading.Lock()
		defer d.reading.Unlock()
	}
	return ask.Read(req.Method, req.Params, ask.Terms{Rules: d.cfg.Rules, Unfit: d.guard.Unfit})
}

// atOnce returns the answer of a request for which no person needs to be asked.
func atOnce(method string) (answer any, ok bool) {
	switch method {
	case appserver.MethodCurrentTime:
		return map[string]any{"currentTimeAt": time.Now().Unix()}, true
	}
	return nil, false
}

// global takes what belongs to no thread that we follow: the account, and the
// threads of subagents, whose output must not mix with ours.
func (d *Driver) global(note appserver.Notification) {
	switch note.Method {
	case appserver.NoteConfigWarning, appserver.NoteDeprecation:
		d.log.Warn("codex warns", "method", note.Method, "of", d.failures.Words(warning(note)))
	case appserver.NoteRateLimits:
		if err := d.failures.Limits.Take(note, d.cfg.Metrics); err != nil {
			d.log.Warn("a notification of codex could not be read", "method", note.Method, "err", err)
		}
	case appserver.NoteAccountUpdated, appserver.NoteAccountLoginComplete:
		d.credential.Note(note)
	case appserver.NoteMcpServerStatus:
		d.log.Info("an MCP server changed its state", "params", d.failures.Words(string(note.Params)))
	case appserver.NoteTurnStarted, appserver.NoteTurnCompleted:
		if root := d.desk.AgentsTurn(note); root != "" {
			d.background(func() { d.endLate(root) })
		}
	case appserver.NoteItemStarted, appserver.NoteItemCompleted:
		if item, ok := d.desk.AgentsItem(note); ok {
			d.background(func() { d.onItem(items.Of(item)) })
		}
	case appserver.NoteRequestResolved:
		d.resolved(note)
	case appserver.NoteThreadStatus:
		d.stirred(note)
	}
}
