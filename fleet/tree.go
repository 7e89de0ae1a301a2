package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// Trees keep the files of conversations, by branches, where each machine has its own. Package fleet/branches has it.
type Trees interface {
	Branch(conversation string) string
	// Head is the commit that a conversation's branch stands at, which is made if it is not there.
	Head(ctx context.Context, conversation string) (string, error)
	// Bundle writes its branch, without what the other side has; nothing if that has all of it.
	Bundle(ctx context.Context, w io.Writer, conversation string, has []string) error
	// Absorb takes in what comes from a machine.
	Absorb(ctx context.Context, bundle io.Reader, conversation string) (string, error)
}

// placeOf names the place of a conversation for machines, by a name that is one of a folder.
func placeOf(conversation string) string {
	sum := sha256.Sum256([]byte(conversation))
	return hex.EncodeToString(sum[:12])
}

// tree is the folder of a conversation on a machine, where each has its own: its branch is brought there, if it has
// moved.
func (m *member) tree(ctx context.Context, in *stay, conversation, from string) (id string, at wire.Place, news string, err error) {
	id = placeOf(conversation)
	kept := m.f.files.await(ctx, conversation)
	at, known := in.opened(id)
	fresh := false
	if !known || from != "" {
		at, fresh, err = m.checkOut(ctx, id, conversation, from)
	}
	if err != nil {
		return id, at, "", err
	}
	in.open(id, at)
	m.f.files.begin(conversation, fresh)
	if from != "" {
		news = moved(from, kept.words())
	}
	return id, at, news, nil
}

// checkOut has the folder of a conversation be there, with the files of its branch. It is fresh if the conversation was not
// here before, or was elsewhere meanwhile.
func (m *member) checkOut(ctx context.Context, id, conversation, from string) (at wire.Place, fresh bool, err error) {
	at, err = m.machine.Place(ctx, id, wire.Want{Files: wire.FilesGit, Branch: m.f.cfg.Trees.Branch(conversation)})
	if err == nil && from == "" && at.Head != "" { // what a turn has changed that was cut off with us is not here yet
		err = m.f.fetch(ctx, m.machine, conversation, "what a turn has changed that was cut off")
	}
	if err != nil {
		return at, false, err
	}
	fresh = at.Head == "" || from != ""
	ours, err := m.f.cfg.Trees.Head(ctx, conversation)
	if err == nil && (at.Head != ours || from != "") { // what it has left here before it went elsewhere is not its any more
		at, err = m.bring(ctx, conversation, id, ours, at.Has)
	}
	return at, fresh, err
}

// words are for the model of a conversation that goes on elsewhere.
func (k keeping) words() string {
	words := " The files are as they were left there."
	if !k.whole {
		words = " The files are as they were at the end of the last turn that is known to have ended there; what was changed after that is not among them."
	}
	words += " Files that .gitignore names have stayed there, and so have files of more than 100 MiB"
	if k.left.Count == 0 {
		return words + "."
	}
	names := make([]string, 0, len(k.left.Paths))
	for _, path := range k.left.Paths {
		names = append(names, brief.Named(path))
	}
	words += " or that could not be read: " + strings.Join(names, ", ")
	if more := k.left.Count - len(names); more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	return words + "."
}

// bring has the machine take in the branch of a conversation.
func (m *member) bring(ctx context.Context, conversation, id, head string, has []string) (wire.Place, error) {
	read, write := io.Pipe()
	defer read.Close()
	m.f.wg.Go(func() { write.CloseWithError(m.f.cfg.Trees.Bundle(ctx, write, conversation, has)) })
	return m.machine.Absorb(ctx, id, head, read)
}

// keepTime bounds what is kept of a turn's files at its end.
const keepTime = 5 * time.Minute

// author is who has made the commits of conversations.
const author = "codex <codex@localhost>"

// fetch has the machine commit what has changed in the folder of a conversation, and takes that in.
func (f *Fleet) fetch(ctx context.Context, from Machine, conversation, title string) error {
	ours, err := f.cfg.Trees.Head(ctx, conversation)
	if err != nil {
		return err
	}
	bundle, done, err := from.Commit(ctx, placeOf(conversation), wire.Commit{Message: title, Author: author, Since: ours})
	if err != nil {
		return err
	}
	if bundle != nil {
		defer bundle.Close()
		_, err = f.cfg.Trees.Absorb(ctx, bundle, conversation)
	}
	if err == nil {
		f.files.leave(conversation, done.Left)
	}
	return err
}

// keep notes that what a turn has changed is kept here from now on, under a title. What is returned does that.
func (p *placed) keep(title string) func() {
	kept := p.f.files.keep(p.conversation)
	return func() {
		ctx, cancel := context.WithTimeout(p.in.ctx, keepTime)
		defer cancel()
		err := p.f.fetch(ctx, p.m.machine, p.conversation, title)
		if err != nil && !errors.Is(err, context.Canceled) {
			p.f.log.Warn("what a turn has changed on a machine is not kept here yet", "machine", p.machine, "err", err)
		}
		kept(err == nil)
	}
}
