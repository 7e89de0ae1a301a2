package tasks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// A keptQuestion is what the journal keeps of a question, for the next process. What [agent.Question] has more is added
// here, and in row and readQuestion; Accepts is not kept, since an answer over a restart is given in other words.
type keptQuestion struct {
	Job        string         `json:"job"` // that has asked
	Kind       string         `json:"kind,omitempty"`
	Text       string         `json:"text"`
	Data       map[string]any `json:"data,omitempty"`
	AnsweredBy string         `json:"answeredBy,omitempty"` // the job of a message that has not had its effect yet

	Options agent.Options   `json:"options,omitzero"` // of the turn that has asked
	From    origin.Sender   `json:"from,omitzero"`    // whose message has begun it
	Met     []origin.Sender `json:"met,omitempty"`    // who have been posed what it asks
}

// row is what the journal keeps; by is the job of the message that answers.
func (q *question) row(by string) store.Question {
	kept := keptQuestion{Job: q.job, Kind: q.asked.Kind, Text: q.asked.Text, Data: q.asked.Data, AnsweredBy: by, Options: q.has, From: q.from, Met: q.met}
	return store.Question{ID: q.asked.ID, Body: codec.Encode(kept), Asked: q.at, Deadline: q.asked.Deadline}
}

// readQuestion reads a row of the journal.
func readQuestion(row store.Question) (q *question, by string, err error) {
	var kept keptQuestion
	if err := json.Unmarshal(row.Body, &kept); err != nil {
		return nil, "", fmt.Errorf("question %s in the journal: %w", row.ID, err)
	}
	return &question{job: kept.Job, has: kept.Options, from: kept.From, met: kept.Met, at: row.Asked, asked: agent.Question{
		ID: row.ID, Kind: kept.Kind, Text: kept.Text, Data: kept.Data, Deadline: row.Deadline,
	}}, kept.AnsweredBy, nil
}

// A question is one that the task waits for an answer to.
type question struct {
	run   *run   // whose turn waits for it; nil if that was cut off by a restart of ours
	job   string // that has asked
	asked agent.Question
	at    time.Time       // it was asked: they are posed in that order
	why   string          // it is posed again; empty at first
	has   agent.Options   // of the turn that has asked
	from  origin.Sender   // whose message has begun that turn
	met   []origin.Sender // who have been posed what it asks

	closed bool // while its answer was under way: it is not posed again
}

// stale reports whether the turn that has asked is gone.
func (q *question) stale() bool { return q.run == nil }

// text poses the question in words.
func (q *question) text() string {
	text, accepts := brief.Or(q.asked.Text, reply.EmptyQuestion), q.asked.Accepts
	if q.stale() {
		text, accepts = staleText+text, staleAnswers(q.asked.Deadline)
	}
	return strings.Join(slices.DeleteFunc([]string{q.why, text, accepts}, func(s string) bool { return s == "" }), "\n\n")
}

// data poses it to programs.
func (q *question) data() map[string]any {
	if q.asked.Data == nil || !q.stale() && q.why == "" {
		return q.asked.Data
	}
	data := maps.Clone(q.asked.Data)
	if q.stale() {
		data["stale"] = true
	}
	if q.why != "" {
		data["why"] = q.why
	}
	return data
}

func ids(questions []*question) []string {
	all := make([]string, 0, len(questions))
	for _, q := range questions {
		all = append(all, q.asked.ID)
	}
	return all
}

// staleText stands before such a question.
const staleText = "The runtime was restarted while this question was open, so the turn that asked it was cut off.\n\n"

// staleAnswers says what becomes of an answer to one.
func staleAnswers(deadline time.Time) string {
	text := "An answer, in any words, starts a new turn that carries question and answer."
	if !deadline.IsZero() {
		text += deadline.UTC().Format(" Without one by 2006-01-02 15:04:05 UTC the task ends as interrupted.")
	}
	return text
}

// unanswered are the rows of questions that no message answers.
func unanswered(questions []*question) (rows []store.Question) {
	for _, q := range questions {
		rows = append(rows, q.row(""))
	}
	return rows
}
