package channel

import (
	"context"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// mostLifts is how often it is tried to put files on the platform before the reply goes
// without them.
const mostLifts = 3

// attach puts the files of a reply where its reader can have them, and notes where that
// is. An error says to try again; files that cannot be had are named in the text instead.
func (r *replies) attach(ctx context.Context, one *reply) error {
	says, space := &one.says, one.space
	if says.Settled || len(says.Files) == 0 {
		return nil
	}
	if one.Peer != "" { // who reads in another place
		return r.without(ctx, one, says.Files, "files go to the user only")
	}
	var files []platform.File
	var missing []File
	for _, f := range says.Files {
		file, err := space.Files.Open(f)
		if err != nil {
			missing = append(missing, f)
			continue
		}
		files = append(files, file)
	}
	space.lift.Lock()
	defer space.lift.Unlock()
	attached, err := space.Platform.Upload(platform.Once(ctx), files...)
	if _, again := platform.Again(err); again && says.Failures+1 < mostLifts {
		says.Failures++
		_ = r.cfg.Store.SetReplyBody(ctx, one.ID, says.encode())
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r.cfg.Logger.Warn("the files of a reply could not be attached; it goes without them", "reply", one.ID, "err", err)
		return r.without(ctx, one, says.Files, "the platform does not take them")
	}
	if err := space.remember(ctx, r.cfg.Store, attached); err != nil {
		return err
	}
	says.Attached = attached
	if len(missing) > 0 {
		return r.without(ctx, one, missing, "they are not there any more")
	}
	says.Settled = true
	return r.cfg.Store.SetReplyBody(ctx, one.ID, says.encode())
}

// without says which files a reply does not have.
func (r *replies) without(ctx context.Context, one *reply, files []File, why string) error {
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, f.Name)
	}
	one.says.Text += "\n\n(Not attached: " + strings.Join(names, ", ") + "; " + why + ".)"
	one.says.Settled = true
	return r.cfg.Store.SetReplyBody(ctx, one.ID, one.says.encode())
}

// handedOut reports whether a file that waits on the platform is one that a reply has put
// there: it is for the user to fetch.
func (s *space) handedOut(ctx context.Context, st *store.Store, uri string) bool {
	s.lift.Lock()
	defer s.lift.Unlock()
	ours, err := st.InboxHas(ctx, s.ID, handed(uri))
	return err == nil && ours
}

func handed(uri string) string { return "handed out: " + uri }

// remember notes which files are ours that the inbox will tell of.
func (s *space) remember(ctx context.Context, st *store.Store, attached []platform.Attachment) error {
	page := store.InboxPage{Workspace: s.ID}
	for _, a := range attached {
		page.Rows = append(page.Rows, store.InboxRow{
			Activity: handed(a.URI), Kind: kindOwn, Chat: s.names.canvas(), State: store.InboxDrained, Note: "a file of a reply",
		})
	}
	_, err := st.AcceptInbox(ctx, page)
	return err
}
