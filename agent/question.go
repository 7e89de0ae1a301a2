package agent

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A Question says that the turn waits for its sender to answer. The message stays open
// meanwhile, and its turn goes on with the answer.
//
// Data are the question and its answers for programs, of plain JSON values. A driver fills it in (for codex, package
// executor/codex/ask), and it is kept and shown as it is: a new member of it is added there, in docs/messages.md, and
// where the console draws it (console/page/questions.js).
type Question struct {
	// ID names the question. It is that of the turn with a number behind it, so no
	// other question ever has it.
	ID       string
	Kind     string         // what it is about: command, fileChange, permissions, input, tool, form, link
	Text     string         // the question in words
	Accepts  string         // in words, how to answer it; may be empty
	Data     map[string]any // see above; may be nil
	Deadline time.Time      // when it is declined; the zero time is never
}

// Answered says that a question is open no more: the agent has the answer, it expired,
// or the answer is not needed any longer. The end of a turn closes what it has
// asked without a word.
type Answered struct {
	ID   string
	Note string // a sentence for the sender, if it was not answered; may be empty
}

// An Answer is a message that answers a question.
type Answer struct {
	ID       string // identifies the message
	Question string // the ID of the question
	Input    []Input
	Text     string // of the message's text parts
	Data     any    // of the message's first data part; nil if it has none
	Files    bool   // the message has some
}

// A NotUnderstoodError refuses an answer. The question stays open.
type NotUnderstoodError struct{ Why string } // a sentence, for the sender of the answer

func (e *NotUnderstoodError) Error() string { return e.Why }

// NotUnderstood returns a [NotUnderstoodError].
func NotUnderstood(format string, args ...any) error {
	return &NotUnderstoodError{Why: fmt.Sprintf(format, args...)}
}

// IsQuestionID reports whether an id can be that of a question ([Question.ID]).
func IsQuestionID(id string) bool {
	at := strings.LastIndexByte(id, '-')
	number, err := strconv.Atoi(id[at+1:])
	return err == nil && at == len(uuid.Nil.String()) && uuid.Validate(id[:at]) == nil && number > 0
}
