package serve

import (
	"cmp"
	"context"
	"net/http"
	"path"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/late"
)

// mainContext is the contextId of the conversation that messages without one share.
func mainContext(s settings.Settings) string {
	switch {
	case s.Threads != "workspace":
		return ""
	case s.WorkspaceID == "":
		return "main"
	}
	return "canvas-" + s.WorkspaceID
}

// openChat makes what brings the user of a workspace the replies that no caller waits for. It returns what the tasks know of
// the workspace; nil standing alone.
func openChat(life *host.Life, g *host.Ground, l *link) *tasks.Workspace {
	if l == nil {
		return nil
	}
	tell := func(reply string, how tasks.Delivery) { g.Heard.Telling("", reply, how) }
	replies := late.New(late.Config{Outbox: g.Journal, Canvas: chat{l.speaker, tell}, Logger: g.Logger})
	life.GoesOn(replies.Run)
	return &tasks.Workspace{Steer: g.Settings.MidTurn == "steer", Redact: g.Redact.String, Wake: replies.Wake, Requests: host.OpenBoard(life, g, l.client, nil).Wake}
}

// A chat is where the user of the workspace reads replies.
type chat struct {
	*platform.Speaker
	telling func(reply string, how tasks.Delivery) // see [tasks.Engine.Telling]
}

// Say implements [late.Canvas].
func (c chat) Say(ctx context.Context, r late.Reply) error {
	id := cmp.Or(r.ID, r.Text)
	there, err := c.Arrived(ctx, id, r.Text)
	if err != nil {
		return err
	}
	if !there {
		c.telling(r.ID, tasks.Sends)
		err = c.say(ctx, id, r)
	}
	c.telling(r.ID, host.Delivery(err))
	return err
}

// say shows a reply. A platform that will not have the files gets the words.
func (c chat) say(ctx context.Context, id string, r late.Reply) error {
	attachments := make([]platform.Attachment, 0, len(r.Files))
	for _, f := range r.Files { // one without a name is refused, and the reply with it
		attachments = append(attachments, platform.Attachment{URI: f.URI, Name: cmp.Or(f.Name, path.Base(f.URI)), MimeType: f.MediaType})
	}
	err := c.Speaker.Say(ctx, id, r.Text, attachments...)
	if len(attachments) > 0 && platform.StatusOf(err) == http.StatusBadRequest {
		return c.Speaker.Say(ctx, id, r.Text)
	}
	return err
}
