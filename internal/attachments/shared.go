package attachments

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/retention"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// Shared is what the files of all messages of a runtime have in common: their bounds, and the copies that codex is lent.
type Shared struct {
	s       settings.Settings
	journal *store.Store
	quota   *files.Quota
	fetches *files.Fetches
	loans   *files.Loans
	log     *slog.Logger
}

// Share makes it. Copies of pictures that codex is lent stand in its home, which codex can read, as whatever user, and
// commands do not write in the sandbox. Other programs may have the same home, and the state directory is this one's alone.
func Share(s settings.Settings, journal *store.Store, log *slog.Logger) *Shared {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(s.StateDir))
	loans, err := files.NewLoans(filepath.Join(s.CodexHome, fmt.Sprintf("molecule-pictures-%08x", sum.Sum32())), s.User, roomIn(s.CodexHome))
	if err != nil {
		log.Warn("copies of pictures that an earlier life has left in CODEX_HOME stay there", "err", err)
	}
	if err := remove.All(elsewhere(s)); err != nil {
		log.Warn("files that an earlier life has brought from other machines stay there", "err", err)
	}
	return &Shared{s: s, journal: journal, quota: quota(s, journal, log), fetches: files.NewFetches(), loans: loans, log: log}
}

// elsewhere is where files of replies are brought to that are not on this machine.
func elsewhere(s settings.Settings) string { return filepath.Join(s.StateDir, "brought") }

// Close takes the copies away.
func (sh *Shared) Close() error { return sh.loans.Close() }

// Folder is that of the messages of a workspace, for which its platform may hold files; standing alone there is neither.
// readable are folders, beside the working directory, of which the platform may read files.
func (sh *Shared) Folder(workspace string, from *platform.Client, readable ...string) *files.Folder {
	cfg := files.Config{
		Work: sh.s.WorkDir, Workspace: workspace, Guard: netguard.New(sh.s.AllowedNetworks...), Fetches: sh.fetches,
		Hidden: secrets.Hidden(sh.s), User: sh.s.User, Room: roomForFiles(sh.s), Quota: sh.quota, Readable: readable, Log: sh.log,
	}
	if from != nil {
		cfg.Pending = pendingUploads{from}
	}
	return files.New(cfg)
}

// Attachments are the files in a folder. Those of a platform get copies of what replies name in it, and callers get
// copies where the settings have room for them.
func (sh *Shared) Attachments(folder *files.Folder, platform bool) Attachments {
	return Attachments{folder: folder, loans: sh.loans, platform: platform, log: sh.log, elsewhere: elsewhere(sh.s)}
}

// Keeping is what hands out copies of the files of tasks, for as long as those are known; nil where there is no room for any.
func (sh *Shared) Keeping() *Kept {
	if sh.s.FilesMiB <= 0 {
		return nil
	}
	shelf := files.NewShelf(filepath.Join(sh.s.StateDir, "files"), int64(sh.s.FilesMiB)<<20, retention.IdleFor)
	shelf.Room, shelf.Aged = sh.journal.RoomFor, sh.journal.Aged
	return &Kept{shelf, sh.journal}
}

// quota is what bounds the files of messages, in all the folders of the working directory.
func quota(s settings.Settings, journal *store.Store, log *slog.Logger) *files.Quota {
	most := func() int64 { return store.ShareOfDisk(s.WorkDir, int64(s.UploadsMiB)<<20) }
	return files.NewQuota(files.Config{Work: s.WorkDir, User: s.User, Log: log}, fileRecords{journal}, most)
}

// roomForFiles asks the disk of the working directory for room for a file of a message, and
// that of the state, which has to take the message.
func roomForFiles(s settings.Settings) func(bytes int64) error {
	return func(bytes int64) error {
		if err := store.RoomForFiles(s.WorkDir, bytes); err != nil {
			return err
		}
		return store.RoomForFiles(s.StateDir, 0)
	}
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
