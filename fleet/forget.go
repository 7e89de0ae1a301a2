package fleet

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// Forget takes a conversation from its machine, where its folder is removed if that is its own. Its branch stays here,
// which has its files: what a conversation has made is not forgotten with it.
func (f *Fleet) Forget(ctx context.Context, conversation string) {
	name := f.placer.Where(conversation)
	f.placer.Forget(conversation)
	f.mu.Lock()
	delete(f.recorded, conversation)
	delete(f.untold, conversation)
	f.mu.Unlock()
	defer f.files.forget(conversation)
	if m := f.named(name); m != nil && f.cfg.Files == wire.FilesGit {
		if err := m.remove(ctx, conversation); err != nil {
			f.log.Warn("the folder of a conversation that is forgotten stays on its machine", "machine", name, "err", err)
		}
	}
}

// remove takes the folder of a conversation away, after what has changed in it is kept.
func (m *member) remove(ctx context.Context, conversation string) error {
	id := placeOf(conversation)
	if _, err := m.machine.Place(ctx, id, wire.Want{Files: wire.FilesGit, Branch: m.f.cfg.Trees.Branch(conversation)}); err != nil {
		return err
	}
	if err := m.f.fetch(ctx, m.machine, conversation, "what was changed last"); err != nil {
		return err
	}
	if in := m.staying(); in != nil {
		in.close(id)
	}
	return m.machine.Forget(ctx, id)
}
