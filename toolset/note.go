package toolset

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// mostNoted is how many bytes of a text a row about a delegation has: rows wait in
// memory, and a task or an answer may be long.
const mostNoted = 4096

// noteTask writes a row about a task for a peer. Of a task that is given by way of the
// platform's delegations it is for those that the platform has refused: it writes rows
// of its own about the others.
func (s *Set) noteTask(peer platform.Peer, task string, err error) {
	task = s.noted(task)
	e := s.row("a2a_send", peer, "Delegating to "+nameOf(peer)+": "+task, err)
	e.RequestBody, _ = json.Marshal(map[string]string{"task": task})
	s.cfg.Log(e)
}

// noteAnswer writes a row about a peer's answer, or that there is none. The platform
// takes it in our own name only; that it is the peer's is told by its type.
func (s *Set) noteAnswer(peer platform.Peer, answer string, began time.Time, err error) {
	answer = noted(answer, func(text string) string { return s.cfg.Redact(peerwords.Clean(text)) })
	e := s.row("a2a_receive", peer, nameOf(peer)+": "+answer, err)
	e.DurationMS = time.Since(began).Milliseconds()
	if answer != "" {
		e.ResponseBody, _ = json.Marshal(map[string]string{"result": answer})
	}
	s.cfg.Log(e)
}

// NoteReply writes a row about an answer of ours that a peer has got in a message of its
// own. Of those that we give to the platform in answer to a message, it writes rows itself.
func (s *Set) NoteReply(peer, text string) {
	text = s.noted(text)
	e := s.row("a2a_send", platform.Peer{ID: peer}, "Reply: "+text, nil)
	e.RequestBody, _ = json.Marshal(map[string]any{"parts": []map[string]string{{"kind": "text", "text": text}}})
	s.cfg.Log(e)
}

// row is one about a peer.
func (s *Set) row(kind string, peer platform.Peer, summary string, err error) platform.Event {
	e := platform.Event{
		Type: kind, Method: "message/send", Source: s.cfg.Workspace, Target: peer.ID, Status: "ok",
		Summary: strings.Join(strings.Fields(summary), " "), At: time.Now(),
	}
	if err != nil {
		e.Status, e.ErrorDetail = "error", s.noted(err.Error())
	}
	return e
}

// noted is the beginning of a text, as others may see it.
func (s *Set) noted(text string) string { return noted(text, s.cfg.Redact) }

func noted(text string, redact func(string) string) string {
	return clip(strings.ToValidUTF8(brief.Cleared(text, 2*mostNoted, redact), "\uFFFD"), mostNoted)
}
