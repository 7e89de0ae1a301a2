package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// What the files of one message may be. They are fetched one after the other, and each
// takes as long as its server likes, within bounds (see also [mostFetching]).
const (
	mostWeb     = 20        // URLs that are fetched
	mostPending = 100       // files that a platform holds; one upload has no more
	mostNamed   = 256       // that are here already: each path is followed
	mostFiles   = 100 << 20 // bytes of all that is brought to the disk for it
)

// A staging lets one message at a time bring its files, of those with the same key: the
// second finds what became of the first. The zero value is ready.
type staging struct {
	mu   sync.Mutex
	busy map[store.Key]chan struct{} // closed when the key is free
}

// enter waits for the key. What it returns is called to leave.
func (s *staging) enter(ctx context.Context, key store.Key) (leave func(), err error) {
	for {
		s.mu.Lock()
		other, busy := s.busy[key]
		if !busy {
			break
		}
		s.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	defer s.mu.Unlock()
	if s.busy == nil {
		s.busy = map[store.Key]chan struct{}{}
	}
	done := make(chan struct{})
	s.busy[key] = done
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.busy, key)
		close(done)
	}, nil
}

// stage brings the files of a message to the disk, if it would be taken otherwise. From
// then on the message names them, and does not hold them. Why the message must not be new
// is kept in it: it may be one that was accepted once.
func (e *Engine) stage(ctx context.Context, in *incoming) error {
	if e.cfg.Files == nil || !slices.ContainsFunc(in.message.Parts, attach.IsFile) {
		return nil
	}
	if in.from.IsApart() { // files may come as slowly as their sender likes
		yielding(ctx)
	}
	from := &fetching{e.cfg.Files, mostFetching}
	over := from.spend() // with the same message before it, whose files may come slowly
	leave, err := e.staging.enter(ctx, in.key)
	over()
	if err != nil {
		return err
	}
	in.leave = leave
	wanted := !in.refuse(countFiles(in.message.Parts))
	if wanted {
		wanted, err = e.foresee(ctx, in)
	}
	if wanted && err == nil {
		err = e.bring(ctx, in, from)
	}
	return err
}

// countFiles refuses a message with more files to fetch than are fetched for one.
func countFiles(parts []*a2a.Part) error {
	web, pending, here := 0, 0, 0
	for _, p := range parts {
		if p.URL() == "" {
			continue
		}
		switch {
		case isWeb(p):
			web++
		case schemeOf(p) == "platform-pending":
			pending++
		default:
			here++
		}
	}
	switch {
	case web > mostWeb:
		return refusal.New(a2a.ErrInvalidParams, "the message has %d files by URL, and at most %d are fetched for one; send the others with further messages", web, mostWeb)
	case pending > mostPending:
		return refusal.New(a2a.ErrInvalidParams, "the message has %d files that the platform holds, and at most %d are fetched for one; send the others with further messages", pending, mostPending)
	case here > mostNamed:
		return refusal.New(a2a.ErrInvalidParams, "the message names %d files of the workspace, and at most %d are taken for one; send the others with further messages", here, mostNamed)
	}
	return nil
}

// errForgotten refuses a message that was known when its files were not brought again,
// and is not any more.
var errForgotten = refusal.New(a2a.ErrServerError, "the task of this message was just forgotten; send the message again")

// foresee reports whether the files of a message are wanted: not if it is known, and not
// if it would be refused with them. Files take no room in the queue.
func (e *Engine) foresee(ctx context.Context, in *incoming) (wanted bool, err error) {
	probe := *in
	m := *in.message
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		if attach.IsFile(p) {
			m.Parts[i] = attach.File{Name: p.Filename, MediaType: p.MediaType}.Part(p)
		}
	}
	probe.message = &m
	wrong := probe.Compose(probe.message, probe.from, e.cfg.Files)
	defer e.pass(ctx, in)()
	known, err := e.known(ctx, in)
	switch {
	case err == nil:
		again := in.retry && known.Digest == in.digest && (known.Interrupted || e.live.find(a2a.TaskID(known.TaskID)) != nil)
		if !again {
			in.refused = errForgotten
			return false, nil
		}
		body, err := e.cfg.Journal.Body(ctx, known.Job)
		if err != nil {
			return false, e.journalError("look the message up", err)
		}
		in.earlier, _, _ = codec.Decode[a2a.Message](body) // one that cannot be read has no digests, and what is there counts
		return true, nil
	case !errors.Is(err, store.ErrUnknown):
		return false, e.journalError("look the message up", err)
	case wrong != nil:
		return false, wrong
	case e.admit.closed.Load():
		return false, stopping()
	}
	return !in.refuse(e.placeFor(ctx, &probe)), nil
}

// placeFor says why a new message would be refused. One that may go into a running turn,
// or answer a question, has no need of a place in the queue. Its caller passes meanwhile (admission.go).
func (e *Engine) placeFor(ctx context.Context, in *incoming) error {
	if in.command != "" {
		return nil
	}
	t := e.host(in)
	if in.key.Task != "" {
		t = e.live.find(in.named())
		if err := e.reachable(ctx, in.from, a2a.TaskID(in.key.Task), t); err != nil {
			return err
		}
		if err := e.belongs(ctx, in, t); err != nil {
			return err
		}
	}
	if t == nil {
		return e.room(in, e.taskFor(in))
	}
	if asks, _ := t.asks(); asks {
		return nil
	}
	switch full := t.takesMore(in); {
	case full != nil && in.key.Task != "":
		return full
	case full != nil: // then it makes a task
		return e.room(in, e.taskFor(in))
	case t.turning(nil, in.options) != "":
		return nil
	}
	return e.room(in, t)
}

// bring brings the files of a message to the disk.
func (e *Engine) bring(ctx context.Context, in *incoming, from *fetching) error {
	m := *in.message
	m.Parts = slices.Clone(m.Parts)
	in.message = &m
	peer := in.from.IsApart()
	most := min(mostFiles, e.cfg.Files.Most(peer))
	left := most
	var missing []error
	defer func() {
		if len(missing) > 0 { // one line: a message can name hundreds
			e.log.Info("files of a message are not to be had", "count", len(missing), "first", missing[0])
		}
	}()
	for i, p := range m.Parts {
		if !attach.IsFile(p) {
			continue
		}
		key := in.key.Caller + fmt.Sprintf("%q %q %q %x %d", in.key.Context, in.key.Task, in.key.Message, in.digest, i)
		file, err := from.stage(ctx, key, p, left, peer)
		if err == nil {
			in.staged = append(in.staged, file)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errSlowFiles):
			return err
		case errors.Is(err, attach.ErrTooLarge) && (left < most || len(p.Raw()) > 0): // the others are there, and this one is too much beside them; or it is in the message
			in.refused = tooManyBytes(most)
			return nil
		case errors.Is(err, attach.ErrNoFile):
			missing = append(missing, err)
			continue
		case err != nil:
			return e.notStored(p, err)
		}
		if file.Staged {
			left -= file.Size
		}
		file.Digest = cmp.Or(in.cameAs(i), file.Digest)
		m.Parts[i] = file.Part(p)
	}
	if left < 0 { // what was there already has not been asked about
		in.refused = tooManyBytes(most)
	}
	return nil
}

// notStored refuses a message whose file could not be brought to the disk.
func (e *Engine) notStored(p *a2a.Part, err error) error {
	name := brief.Clip(p.Filename, 64)
	if errors.Is(err, attach.ErrNoRoom) {
		e.log.Warn("a file of a message has no room", "err", err)
		return refusal.New(a2a.ErrServerError, "the file %q could not be stored: files that messages bring may take %d MiB here (RUNTIME_UPLOADS_MIB), "+
			"those of other agents %d of them, and tasks that have not ended hold too much of that; send the message again when some have",
			name, e.cfg.Files.Most(false)>>20, e.cfg.Files.Most(true)>>20)
	}
	e.log.Error("a file of a message could not be stored", "err", err)
	return refusal.New(a2a.ErrServerError, "the file %q could not be stored: the runtime's disk is full or cannot be written; send the message again when there is room", name)
}

// cameAs is the digest of a file of a message that runs again, as it has come the first time:
// commands may have put another in its place. It is "" if that is not known.
func (in *incoming) cameAs(part int) string {
	if in.earlier == nil || part >= len(in.earlier.Parts) {
		return ""
	}
	digest, _ := in.earlier.Parts[part].Metadata[attach.MetaBrought].(string)
	return digest
}

func tooManyBytes(most int64) error {
	return refusal.New(a2a.ErrInvalidParams, "the files of the message have more than %d MiB together; send some of them with further messages", most>>20)
}

// settle lets others with the key of a message bring its files, once it has been accepted
// or not. Those of one that is not known then are taken away.
func (e *Engine) settle(ctx context.Context, in *incoming, accepted bool) {
	if in.leave == nil {
		return
	}
	defer in.leave()
	if len(in.staged) == 0 {
		return
	}
	e.cfg.Files.Release(in.staged)
	if accepted {
		return
	}
	if _, err := e.known(context.WithoutCancel(ctx), in); errors.Is(err, store.ErrUnknown) {
		var own []string
		for _, f := range in.staged {
			if f.Own {
				own = append(own, f.URI)
			}
		}
		e.cfg.Files.Drop(own)
	}
}
