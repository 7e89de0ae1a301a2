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
func (s *sender) attach(ctx context.Context, space *space, r store.InboxReply, says *said) error {
	if says.Settled || len(says.Files) == 0 {
		return nil
	}
	if r.Peer != "" { // who reads in another place
		return s.without(ctx, r, says, says.Files, "files go to the user only")
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
	lift := s.lift(space.ID)
	lift.Lock()
	defer lift.Unlock()
	attached, err := space.Platform.Upload(platform.Once(ctx), files...)
	if _, again := platform.Again(err); again && says.Failures+1 < mostLifts {
		says.Failures++
		_ = s.channel.cfg.Store.SetReplyBody(ctx, r.ID, says.encode())
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.channel.log.Warn("the files of a reply could not be attached; it goes without them", "reply", r.ID, "err", err)
		return s.without(ctx, r, says, says.Files, "the platform does not take them")
	}
	if err := s.remember(ctx, space, attached); err != nil {
		return err
	}
	says.Attached = attached
	if len(missing) > 0 {
		return s.without(ctx, r, says, missing, "they are not there any more")
	}
	says.Settled = true
	return s.channel.cfg.Store.SetReplyBody(ctx, r.ID, says.encode())
}

// without says which files a reply does not have.
func (s *sender) without(ctx context.Context, r store.InboxReply, says *said, files []File, why string) error {
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, f.Name)
	}
	says.Text += "\n\n(Not attached: " + strings.Join(names, ", ") + "; " + why + ".)"
	says.Settled = true
	return s.channel.cfg.Store.SetReplyBody(ctx, r.ID, says.encode())
}

// handedOut reports whether a file that waits on the platform is one that a reply has put
// there: it is for the user to fetch.
func (s *sender) handedOut(ctx context.Context, space *space, uri string) bool {
	lift := s.lift(space.ID)
	lift.Lock()
	defer lift.Unlock()
	ours, err := s.channel.cfg.Store.InboxHas(ctx, space.ID, handed(uri))
	return err == nil && ours
}

func handed(uri string) string { return "handed out: " + uri }

// remember notes which files are ours that the inbox will tell of.
func (s *sender) remember(ctx context.Context, space *space, attached []platform.Attachment) error {
	page := store.InboxPage{Workspace: space.ID}
	for _, a := range attached {
		page.Rows = append(page.Rows, store.InboxRow{
			Activity: handed(a.URI), Kind: kindOwn, Chat: space.names.canvas(), State: store.InboxDrained, Note: "a file of a reply",
		})
	}
	_, err := s.channel.cfg.Store.AcceptInbox(ctx, page)
	return err
}
