package main

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"path"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/retention"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
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

// workspace is what the tasks know of the workspace that this is; nil standing alone.
func (app *application) workspace(s settings.Settings, journal *store.Store, redact *logging.Redactor) *tasks.Workspace {
	if !s.InWorkspace() {
		return nil
	}
	replies := late.New(late.Config{Outbox: journal, Canvas: chat{app.speaker(s), func(reply string, how tasks.Delivery) { app.engine.Telling("", reply, how) }}, Logger: app.log})
	app.goOn(replies.Run)
	return &tasks.Workspace{Steer: s.MidTurn == "steer", Redact: redact.String, Wake: replies.Wake}
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
	c.telling(r.ID, delivery(err))
	return err
}

func delivery(err error) tasks.Delivery {
	if err != nil {
		return tasks.Failed
	}
	return tasks.Arrived
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

// attachments has the files of messages. It is there standing alone, too.
func (app *application) attachments(s settings.Settings, journal *store.Store) tasks.Files {
	cfg := files.Config{
		Work: s.WorkDir, Workspace: s.WorkspaceID, Guard: netguard.New(s.AllowedNetworks...),
		Hidden: secrets.Hidden(s), User: s.User, Room: roomForFiles(s), Quota: app.uploads(s, journal), Log: app.log,
	}
	if s.InWorkspace() {
		client := app.workspaceClient(s)
		cfg.Pending = pendingUploads{client}
		cfg.Readable = []string{s.ConfigsDir, "/home", "/plugins"}
	}
	app.files = files.New(cfg)
	app.closers = append(app.closers, app.files)
	app.openLoans(s)
	a := attachments{folder: app.files, loans: app.loans, platform: s.InWorkspace(), log: app.log}
	if s.FilesMiB > 0 {
		a.shelf = files.NewShelf(filepath.Join(s.StateDir, "files"), int64(s.FilesMiB)<<20, retention.IdleFor)
		a.shelf.Room, a.shelf.Aged = journal.RoomFor, journal.Aged
		app.kept = &keptFiles{a.shelf, journal}
	}
	return a
}

// roomIn asks the disk of a directory for room, as that of the state is asked.
func roomIn(dir string) func(bytes int64) error {
	return func(bytes int64) error { return store.RoomBeside(dir, bytes) }
}

// pendingUploads are the files that the platform holds for the workspace.
type pendingUploads struct{ *platform.Client }

// PendingUpload implements [files.Pending].
func (p pendingUploads) PendingUpload(ctx context.Context, id string, w io.Writer) error {
	_, err := p.Client.PendingUpload(ctx, id, w, files.MaxBytes)
	return err
}

// platformSide is what the platform finds here; nil standing alone.
func (app *application) platformSide(s settings.Settings) *server.Platform {
	if !s.InWorkspace() {
		return nil
	}
	seen := app.redact.Newest(secrets.MostGiven)
	read := func(name string) func() string {
		now := func() string { // each time: the platform replaces it
			secret := secrets.In(app.tokens.Read, filepath.Join(s.ConfigsDir, name))
			seen(secret)
			return secret
		}
		now() // before there is a command that could hold it
		return now
	}
	return &server.Platform{
		Secret: read(platform.InboundSecretFile), Token: read(platform.TokenFile),
		RequireAuth: s.RequireAuth(), Files: app.files, Version: version,
	}
}
