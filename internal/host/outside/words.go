package outside

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// words say why the inbox is not kept here.
func (a *Agent) words(err error) string {
	if errors.Is(err, errAsked) {
		return "A runtime channel has been started on this machine and takes the inbox over: messages come there. They are not shown here, and cannot be answered from here. When it ends, this process takes the inbox over by itself."
	}
	other, ok := errors.AsType[*store.LockedError](err)
	switch {
	case ok && len(other.Holds) == 0:
		return holder(other) + " uses " + other.Dir + ", where the inbox would be kept, so it is not kept here: if that process keeps it, messages come there. When it ends, this process takes the inbox over by itself."
	case ok && !a.spaces.share(other.Holds):
		return holder(other) + " uses " + other.Dir + " for other workspaces (" + strings.Join(other.Holds, ", ") +
			"), so the inbox is not kept here, and perhaps nowhere. Set RUNTIME_STATE_DIR to a directory of this workspace's own in the MCP host's entry, and start it anew."
	case ok:
		return holder(other) + " keeps " + a.spaces.words("the inbox of this workspace", "the inboxes of these workspaces") +
			", and messages come there. They are not shown here, and cannot be answered from here. When it ends, this process takes the inbox over by itself."
	}
	return "The inbox cannot be kept on this machine now: " + a.options.Redact.String(err.Error()) + ". This is tried again by itself; messages wait on the platform, or in the state directory, meanwhile."
}

// holder names the process that has a state directory.
func holder(e *store.LockedError) string {
	who := "Another process"
	if e.What != "" {
		who = "Another process, runtime " + e.What + ","
	}
	if e.PID != 0 {
		who += fmt.Sprintf(" (process %d on %s, since %s)", e.PID, e.Host, e.Since.Format(time.RFC3339))
	}
	return who
}

// notHere is said of an inbox that is not kept here.
func (a *Agent) notHere(why string) string {
	if a.aside.Load() {
		why = a.besides()
	}
	return why + " The other tools work."
}

// besides says who keeps the inbox where this process never does.
func (a *Agent) besides() string {
	never := "This process was started beside another one that answers the messages of this workspace (runtime mcp --inbox=beside), and never keeps the inbox. "
	if !a.options.Aside {
		never = "The MCP host is codex, whose messages a runtime channel brings as turns, so this process never keeps the inbox (runtime mcp --inbox=keep would). "
	}
	for _, dir := range []string{a.options.Settings.StateDir, a.options.Serves} {
		if dir == "" {
			continue
		}
		if in, err := store.Inspect(dir); err == nil && in.Holder != nil {
			return never + holder(in.Holder) + " keeps it now: there is nothing to wait for here."
		}
	}
	return never + "No other process on this machine keeps it now: messages wait on the platform until one does (runtime channel)."
}

// trouble says why messages may not come; empty if they do.
func (a *Agent) trouble() string {
	a.mu.Lock()
	k := a.keeper
	a.mu.Unlock()
	if k == nil {
		return ""
	}
	var all []string
	if err := k.journal.Room(); err != nil {
		all = append(all, "nothing can be kept on this machine, so that messages wait on the platform: "+err.Error())
	}
	for _, m := range a.spaces {
		if why := k.troubleOf(m); why != "" {
			all = append(all, "workspace "+m.id+": "+why)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return a.options.Redact.String("Messages may not come: " + strings.Join(all, "; ") + ". This is tried again by itself.")
}

// troubleOf is that of one workspace.
func (k *keeper) troubleOf(m *space) string {
	p := m.joined.Load()
	if p == nil {
		return ""
	}
	ok, how := p.Ready()
	status := p.Status()
	switch {
	case !ok:
		return how
	case status.BeatError != "":
		return "the platform does not take its heartbeats (" + status.BeatError + ")"
	case !k.channel.Reads(m.id):
		return "its inbox cannot be read on the platform"
	}
	return ""
}

// Instructions are what the MCP host tells its model of this server.
func (a *Agent) Instructions() string {
	if a.aside.Load() {
		return "These tools work with the Molecule platform for this workspace. Its messages are answered by another process: there is nothing to wait for here."
	}
	return "You are the agent of a workspace of the Molecule platform. Its user and other agents send you messages. Work in a loop: " +
		"call wait_for_message; do what the message asks; answer with reply_to_message and the message's activity_id; wait again. " +
		"Every sender is answered by reply_to_message, the user and other agents alike; call inbox_pop for a message that needs no answer. " +
		"A message is shown again until it is answered or taken off, also after a restart; a note with it says what you may have answered already. " +
		"If wait_for_message says that another process keeps the inbox, there is nothing to wait for.\n\n" + peerwords.Instructions
}
