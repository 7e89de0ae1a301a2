package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// act does again what was asked of the program. It reports whether the entry is that.
func (p *player) act(e *entry) bool {
	var err error
	switch e.Event {
	case executor.RecordSubmit, executor.RecordSteer:
		err = p.message(e)
	case executor.RecordAnswer:
		err = p.answer(e)
	case executor.RecordCancel:
		err = p.withFact(e, p.cancel)
	case executor.RecordForget:
		err = p.withFact(e, func(of string) { p.through(func(ctx context.Context) { _ = p.stage.executor.Forget(ctx, of) }) })
	case executor.RecordDrop:
		err = p.withFact(e, func(of string) { p.through(func(ctx context.Context) { _ = p.stage.executor.Drop(ctx, of) }) })
	case executor.RecordEndAgents:
		err = p.withFact(e, func(of string) { p.through(func(context.Context) { p.stage.executor.EndAgents(of) }) })
	case executor.RecordDelete:
		err = p.withFact(e, func(of string) { p.through(func(ctx context.Context) { _ = p.stage.executor.Delete(ctx, of) }) })
	case executor.RecordRestart:
		var why executor.RecordedText
		if why, err = decode[executor.RecordedText](e); err == nil {
			p.later(func(context.Context) { p.stage.executor.RestartWhenIdle(why.Text) })
		}
	case executor.RecordClose:
		p.closing = true
		p.later(func(ctx context.Context) { _ = p.stage.executor.Close(ctx) })
	default:
		return false
	}
	if err != nil {
		p.diverge("refused", err.Error())
	}
	return true
}

// later does what may wait for codex, which is us.
func (p *player) later(work func(context.Context)) {
	p.stage.work.Go(func() { work(p.stage.ctx) })
}

// through is later, and waits for it while codex goes on answering.
func (p *player) through(work func(context.Context)) {
	over := false
	done := &over
	p.later(func(ctx context.Context) {
		work(ctx)
		p.inbox.put(finished{done})
	})
	p.until(p.wait, func() bool { return over })
}

func (p *player) withFact(e *entry, do func(of string)) error {
	fact, err := decode[executor.RecordedFact](e)
	if err == nil {
		do(fact.Of)
	}
	return err
}

// wasRefused reports whether what the present entry asks of the executor was refused
// in the record. It has come to nothing then.
func (p *player) wasRefused(id string) bool {
	for _, e := range p.run.entries[p.at+1:] {
		switch e.Event {
		case executor.RecordRefused:
			if fact, err := decode[executor.RecordedFact](e); err == nil && fact.Of == id {
				return true
			}
		case executor.RecordAnswer:
			if a, err := decode[executor.RecordedAnswer](e); err == nil && a.Answer.ID == id {
				return false
			}
		case executor.RecordSubmit, executor.RecordSteer:
			if j, err := decode[executor.RecordedJob](e); err == nil && j.ID == id {
				return false
			}
		case executor.RecordStarted, executor.RecordEnded, executor.RecordSteered:
			var about struct{ Job, Of string }
			if json.Unmarshal(e.Data, &about) == nil && cmp.Or(about.Job, about.Of) == id {
				return false
			}
		}
	}
	return false
}

// message sends a message again, as a task of its own or into one that runs.
func (p *player) message(e *entry) error {
	rec, err := decode[executor.RecordedJob](e)
	if err != nil || p.wasRefused(rec.ID) {
		return err
	}
	if rec.Options.Cwd, err = p.folder(rec.Options.Cwd, p.rejected(rec.ID)); err != nil {
		return err
	}
	rec.Lend = p.stage.feed.lender(rec.ID)
	p.order = append(p.order, rec.ID)
	p.states[rec.ID] = &timing{line: e.Number, context: rec.Context, submitted: e.Time}
	if rec.Accepted && rec.Into != "" { // a start of the program has put it there, and no message
		return p.stage.executor.Steer(rec.Into, rec.Job, p.stage.shim.watch(rec.ID, nil))
	}
	p.stage.shim.expect(rec.Job)
	req := &a2a.SendMessageRequest{
		Config: &a2a.SendMessageConfig{ReturnImmediately: true},
		Message: &a2a.Message{
			ID: rec.ID, ContextID: rec.Context, TaskID: a2a.TaskID(p.tasks[rec.Into]), Role: a2a.MessageRoleUser,
			Parts: a2a.ContentParts{a2a.NewTextPart(wordsOf(rec.Job))},
		},
	}
	var failed error
	p.later(func(ctx context.Context) {
		result, err := p.stage.engine.SendMessage(ctx, req)
		out := sent{job: rec.ID, err: err}
		if task, ok := result.(*a2a.Task); ok && err == nil {
			out.task = string(task.ID)
		}
		p.inbox.put(out)
	})
	if !p.until(p.wait, func() bool { return p.taken[rec.ID] && (rec.Into != "" || p.tasks[rec.ID] != "") }) {
		p.diverge("missing", "the message "+rec.ID+" does not become a job")
	}
	return failed
}

// isSent notes which task a message has become part of.
func (p *player) isSent(s sent) {
	if s.err != nil && p.stage.ctx.Err() == nil {
		p.diverge("refused", "the message "+s.job+" is refused: "+s.err.Error())
		return
	}
	p.tasks[s.job] = s.task
}

// longestShown is the most of a message that the task of a replay has of it: codex is
// sent the one of the record.
const longestShown = 64 << 10

// wordsOf is what a job says, for the history of its task.
func wordsOf(j executor.Job) string {
	words := make([]string, 0, len(j.Input))
	for _, in := range j.Input {
		words = append(words, cmp.Or(in.Text, "["+in.Type+" "+cmp.Or(in.Path, "of a URL")+"]"))
	}
	text := strings.Join(words, "\n")
	if strings.TrimSpace(text) == "" || strings.HasPrefix(strings.TrimSpace(text), "/") { // no command of the runtime's
		text = "message " + j.ID + " " + text
	}
	return text[:min(len(text), longestShown)]
}

// rejected reports whether a message was turned away in the record, as where its
// folder was gone.
func (p *player) rejected(job string) bool {
	for _, e := range p.run.entries[p.at:] {
		if e.Event == executor.RecordEnded {
			if end, err := decode[executor.RecordedEnd](e); err == nil && end.Job == job {
				return end.Outcome == executor.Rejected
			}
		}
	}
	return false
}

// folder returns a folder of the stage that stands for one of the record; gone says
// that there is to be none.
func (p *player) folder(of string, gone bool) (string, error) {
	if of == "" {
		return "", nil
	}
	root, err := filepath.EvalSymlinks(p.stage.dir)
	if err != nil {
		return "", err
	}
	for have, stands := range p.folders {
		if stands == of {
			return have, nil
		}
	}
	dir := filepath.Join(root, "cwd"+strconv.Itoa(len(p.folders)))
	p.folders[dir] = of
	if gone {
		return dir, nil
	}
	return dir, os.Mkdir(dir, 0o700)
}

// unfolded is a message of the program with the folders of the record.
func (p *player) unfolded(message json.RawMessage) json.RawMessage {
	text := string(message)
	for have, stands := range p.folders {
		text = strings.ReplaceAll(text, string(encode(have)), string(encode(stands)))
	}
	return json.RawMessage(text)
}

// answer answers a question again. That it was asked stands before it in the record.
func (p *player) answer(e *entry) error {
	rec, err := decode[executor.RecordedAnswer](e)
	if err != nil || p.wasRefused(rec.Answer.ID) {
		return err
	}
	return p.stage.executor.Answer(rec.Job, rec.Answer)
}

// cancel cancels a job, by its task if it has one of its own.
func (p *player) cancel(job string) {
	task := p.tasks[job]
	p.later(func(ctx context.Context) {
		if task == "" {
			_ = p.stage.executor.Cancel(ctx, job)
			return
		}
		_, _ = p.stage.engine.CancelTask(ctx, &a2a.CancelTaskRequest{ID: a2a.TaskID(task)}) // it may have ended
	})
}
