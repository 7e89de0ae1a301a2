package toolset

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// whole is an error whose words are all that the model is to read.
type whole string

func (w whole) Error() string { return string(w) }

// ours is an error whose words this runtime has found itself.
type ours string

func (o ours) Error() string { return string(o) }

// advised is an error with what it means for the model, and what to do.
type advised struct {
	words string
	cause error
}

func (a advised) Error() string { return a.words + ": " + a.cause.Error() }
func (a advised) Unwrap() error { return a.cause }

// mostHint is how many bytes the model gets of what the platform says to do instead.
const mostHint = 500

// explain is what the model reads of an error.
func explain(err error) string {
	if words, ok := errors.AsType[whole](err); ok {
		return string(words)
	}
	a, advises := errors.AsType[advised](err)
	reason, hint := platform.ReasonOf(err), line(platform.HintOf(err), mostHint)
	switch status := platform.StatusOf(err); {
	case errors.Is(err, platform.ErrUnsupported) && advises:
		return "Error: this platform does not offer that; it is older than that: " + a.words + "."
	case errors.Is(err, platform.ErrUnsupported):
		return "Error: this platform does not offer that; it is older than that."
	case status == http.StatusUnauthorized:
		return "Error: the platform does not take the workspace's token. It is read anew with each call; try once more in a minute, and if that fails too, tell the user."
	case (reason != "" || hint != "") && advises:
		return "Error: " + a.words + ": " + refusal(status, reason, hint)
	case reason != "" || hint != "":
		return "Error: " + refusal(status, reason, hint)
	}
	return "Error: " + err.Error()
}

// refusal is what the platform has said, and what it says to do.
func refusal(status int, reason, hint string) string {
	text := fmt.Sprintf("the platform refuses (%d)", status)
	if reason != "" {
		text += ": " + reason
	}
	if hint != "" {
		text += ". Its hint: " + hint
	}
	return text
}

// failure is why a peer has not done a task. All but what this runtime says itself may be
// the peer's words, for the platform hands those on without saying so.
func (s *Set) failure(err error) string {
	if words, ok := errors.AsType[ours](err); ok {
		return string(words)
	}
	status := platform.StatusOf(err)
	if status == http.StatusUnauthorized || errors.Is(err, platform.ErrUnsupported) {
		return strings.TrimPrefix(explain(err), "Error: ")
	}
	reason, hint := platform.ReasonOf(err), line(s.cfg.Redact(platform.HintOf(err)), mostHint)
	if reason == "" && hint == "" {
		reason = err.Error()
	}
	said := oneLine(s.cfg.Redact(reason))
	if hint != "" {
		said += ". Its hint: " + hint
	}
	lead := "the reason given is:\n"
	if status != 0 {
		lead = refusal(status, "", "") + ", and the reason given is:\n"
	}
	return lead + peerwords.Result(said)
}
