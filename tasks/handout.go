package tasks

import (
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// offer makes available what an event hands out, before the task's lock is taken:
// files are copied.
func (r *run) offer(event agent.Event) {
	e := r.task.engine
	if e.cfg.Files == nil || !e.cfg.OfferFiles {
		return
	}
	switch event := event.(type) {
	case agent.Ended:
		if event.Outcome == agent.Completed {
			r.offered = e.cfg.Files.Offer(r.task.maker(), attach.ReplyText{
				Text: replyOf(event.Messages), Dir: r.options.Cwd, Since: madeAt(r.task.id), Folder: event.Folder,
			})
		}
	case agent.ItemCompleted:
		r.keepPicture(event.Item)
	}
}

// maker is the task as one that hands files out.
func (t *identity) maker() attach.Maker {
	return attach.Maker{Task: t.id, Peer: t.ofPeer()}
}

// madeAt returns when a task was made: its id says so, as a UUID of version 7.
func madeAt(id a2a.TaskID) time.Time {
	u, err := uuid.Parse(string(id))
	if err != nil || u.Version() != 7 {
		return time.Time{}
	}
	return time.Unix(u.Time().UnixTime())
}

// replyOf is the text of the message that is a turn's reply.
func replyOf(messages []agent.Message) string {
	var reply agent.Message
	for _, m := range messages {
		if m.Text != "" && rankOf(m.Phase) >= rankOf(reply.Phase) || reply.Text == "" {
			reply = m
		}
	}
	return reply.Text
}

// keepPicture keeps a picture that the turn has made.
func (r *run) keepPicture(item agent.Item) {
	content := item.Picture
	if len(content) == 0 {
		return
	}
	name, media := attach.PictureName(content)
	file, err := r.task.engine.cfg.Files.Keep(r.task.maker(), item.ID, name, content)
	if err != nil {
		r.task.engine.log.Warn("a picture of a turn could not be kept; it is not handed out", "task_id", r.task.id, "err", err)
		return
	}
	file.MediaType = media
	r.task.lock()
	defer r.task.unlock()
	if r.pictures == nil {
		r.pictures = map[string]attach.File{}
	}
	r.pictures[item.ID] = file
}

// handPicture shows a picture that the turn has made, as an artifact of its own.
func (r *run) handPicture(item agent.Item) {
	file, ok := r.pictures[item.ID]
	if !ok {
		return
	}
	delete(r.pictures, item.ID)
	a := r.task.newArtifact(item.ID, file.Name)
	a.parts = a2a.ContentParts{file.Part(nil)}
	r.task.push(a, true)
}

// mayHand reports whether files may come behind the text of a message, in its last chunk: until the turn
// goes on after it, the message may be the reply.
func (r *run) mayHand(a *artifact) bool {
	cfg, text := &r.task.engine.cfg, a.text.String()
	return cfg.Files != nil && cfg.OfferFiles && rank(a) > 0 && (strings.ContainsAny(text, "/`") || strings.Contains(text, "]("))
}

// closeWhole publishes the last chunks of messages that the turn has gone on after: it may go on for
// long.
func (r *run) closeWhole() {
	for _, a := range r.unclosed {
		if !a.closed {
			r.task.push(a, true)
		}
	}
	r.unclosed = nil
}

// hand adds the files to the reply that it names, behind its text: readers that take the first text, or
// the last artifact, find the answer where it is without files. They come in the reply's last chunk; a
// reply that the turn has gone on after gets another one.
func (r *run) hand(reply *artifact, files []attach.File) {
	if reply == nil || len(files) == 0 {
		return
	}
	for _, f := range files {
		reply.parts = append(reply.parts, f.Part(nil))
	}
	reply.frozen = nil
	if reply.closed {
		r.task.push(reply, true)
	}
}
