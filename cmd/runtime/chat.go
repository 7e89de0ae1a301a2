package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"path/filepath"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
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
	client := app.workspaceClient(s)
	replies := late.New(late.Config{Outbox: journal, Canvas: chat{client}, Logger: app.log})
	app.goOn(replies.Run)
	return &tasks.Workspace{Steer: s.MidTurn == "steer", Redact: redact.String, Wake: replies.Wake}
}

// A chat is where the user of the workspace reads replies.
type chat struct{ *platform.Client }

// Say implements [late.Canvas]. A platform that will not have the files gets the words.
func (c chat) Say(ctx context.Context, r late.Reply) error {
	attachments := make([]platform.Attachment, 0, len(r.Files))
	for _, f := range r.Files { // one without a name is refused, and the reply with it
		attachments = append(attachments, platform.Attachment{URI: f.URI, Name: cmp.Or(f.Name, path.Base(f.URI)), MimeType: f.MediaType})
	}
	err := c.Notify(ctx, r.Text, attachments...)
	if len(attachments) > 0 && platform.StatusOf(err) == http.StatusBadRequest {
		return c.Notify(ctx, r.Text)
	}
	return err
}

// attachments has the files of messages. It is there standing alone, too.
func (app *application) attachments(s settings.Settings) tasks.Files {
	cfg := files.Config{
		Work: s.WorkDir, Workspace: s.WorkspaceID, Guard: netguard.New(s.AllowedNetworks...),
		Hidden: hidden(s),
	}
	if s.InWorkspace() {
		client := app.workspaceClient(s)
		cfg.Pending = pendingUploads{client}
		cfg.Readable = []string{s.ConfigsDir, "/home", "/plugins"}
	}
	app.files = files.New(cfg)
	app.closers = append(app.closers, app.files)
	return attachments{app.files}
}

// hidden is what is handed out to nobody: folders, and files that the operator has put
// somewhere else.
func hidden(s settings.Settings) []string {
	all := []string{s.StateDir, s.CodexHome}
	for _, file := range append([]string{s.TokenFile}, wireFiles(s)...) {
		if file != "" {
			all = append(all, file)
		}
	}
	return all
}

// pendingUploads are the files that the platform holds for the workspace.
type pendingUploads struct{ *platform.Client }

// PendingUpload implements [files.Pending].
func (p pendingUploads) PendingUpload(ctx context.Context, id string, w io.Writer) error {
	_, err := p.Client.PendingUpload(ctx, id, w, files.MaxBytes)
	return err
}

// attachments are a folder as the tasks see it.
type attachments struct{ folder *files.Folder }

// Stage implements [tasks.Files].
func (a attachments) Stage(ctx context.Context, key string, p *a2a.Part) (tasks.File, error) {
	in := files.Incoming{Key: key, Name: p.Filename, MediaType: p.MediaType}
	switch c := p.Content.(type) {
	case a2a.Raw:
		in.Content = c
	case a2a.URL:
		in.URI = string(c)
	}
	f, err := a.folder.Stage(ctx, in)
	if errors.Is(err, files.ErrNotHere) || errors.Is(err, files.ErrForbidden) {
		return tasks.File{}, fmt.Errorf("%w: %w", tasks.ErrNoFile, err)
	}
	return fileOf(f), err
}

// Path implements [tasks.Files].
func (a attachments) Path(uri string) (string, error) {
	f, err := a.folder.Path(uri)
	return f.Path, err
}

// Offer implements [tasks.Files].
func (a attachments) Offer(text string) []tasks.File {
	offered := a.folder.Offer(text)
	out := make([]tasks.File, 0, len(offered))
	for _, f := range offered {
		out = append(out, fileOf(f))
	}
	return out
}

func fileOf(f files.File) tasks.File {
	return tasks.File{URI: f.URI, Name: f.Name, MediaType: f.MediaType, Size: f.Size}
}

// platformSide is what the platform finds here; nil standing alone.
func (app *application) platformSide(s settings.Settings) *server.Platform {
	if !s.InWorkspace() {
		return nil
	}
	read := func(name string) func() string {
		return func() string { // each time: the platform replaces it
			secret := secretIn(filepath.Join(s.ConfigsDir, name))
			app.redact.Add(secret)
			return secret
		}
	}
	return &server.Platform{
		Secret: read(platform.InboundSecretFile), Token: read(platform.TokenFile),
		RequireAuth: s.RequireAuth(), Files: app.files, Version: version,
	}
}
