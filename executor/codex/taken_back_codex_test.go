package codex_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file run on the real codex and a model that refuses once: the attempt is taken out
// of the history, with what the model was told in it.

// onceRefusing is a model that refuses the next request when it is told to, and a config that asks it
// again soon.
func onceRefusing(t *testing.T) (model *modeltest.Model, refuse *atomic.Bool, soon func(*config)) {
	t.Helper()
	refuse = new(atomic.Bool)
	model = modeltest.Start(t, func(turn *fakemodel.Turn) {
		if refuse.CompareAndSwap(true, false) {
			unauthorized(turn)
			return
		}
		fakemodel.Keywords(turn)
	})
	return model, refuse, func(c *config) {
		c.KeyVariable, c.LoginProbe = modeltest.KeyVar, 100*time.Millisecond
	}
}

// TestInstructionsOfARefusedTurn are told again: by the same process, and by the next.
func TestInstructionsOfARefusedTurn(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for _, restart := range []bool{false, true} {
		model, refuse, soon := onceRefusing(t)
		var p persona
		p.is("PERSONA-one")
		e := onCodex(t, model, func(c *config) {
			soon(c)
			c.Instructions = p.now
		})
		check(t, e, model, "j1", "a", "one")
		p.is("PERSONA-two")
		if restart { // of codex, which loads the thread with those of now
			killCodex(t, e)
		}
		refuse.Store(true)
		check(t, e, model, "j2", "a", "one", "two")
		check(t, e, model, "j3", "a", "one", "two")
	}
}

// TestNoticesOfARefusedTurn: that the history was lost, or has words of nobody, is told again.
func TestNoticesOfARefusedTurn(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for _, notice := range []string{"could not be loaded and is lost", "Another process of this machine has put words"} {
		model, refuse, soon := onceRefusing(t)
		q := newQueuedOn(t, model, func(_ *queued, c *config) { soon(c) })
		if strings.Contains(notice, "lost") {
			killCodex(t, q.e)
			if err := os.RemoveAll(filepath.Join(q.home, "sessions")); err != nil {
				t.Fatal(err)
			}
		} else {
			submit(t, q.e, "j2", "one", "background until [ -e stopnow ]; do sleep 0.1; done; touch over").wait(t)
			q.put(t, "hang QUEUED")
			eventually(t, "the turn to be ended", func() bool { return strings.Contains(q.wire.String(), `"status":"interrupted"`) })
			submit(t, q.e, "stop", "two", "run touch stopnow").wait(t)
			eventually(t, "the command to end", func() bool { _, err := os.Stat(filepath.Join(q.work, "over")); return err == nil })
		}
		refuse.Store(true)
		if !strings.Contains(q.next(t), notice) {
			t.Errorf("the model is not told again: %s", notice)
		}
	}
}

// TestWordsOfNobodyInAThreadThatIsLetGo: that the model has to be told of them is known also after the
// thread was unloaded.
func TestWordsOfNobodyInAThreadThatIsLetGo(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	q := newQueued(t, func(_ *queued, c *config) { c.MaxThreads, c.Journal = 1, &notebook{} })
	submit(t, q.e, "j2", "one", "background until [ -e letgo ]; do sleep 0.1; done").wait(t)
	q.put(t, "hang QUEUED")
	eventually(t, "the turn to be ended", func() bool { return strings.Contains(q.wire.String(), `"status":"interrupted"`) })
	for _, context := range []string{"two", "three"} {
		submit(t, q.e, context, context, "run touch letgo").wait(t)
	}
	if !strings.Contains(q.next(t), "Another process of this machine has put words") {
		t.Error("the model is not told whose words those of the queue are")
	}
}

// TestWordsOfNobodyBehindASummary: the model is told of them again where codex summarises, also when the
// thread was let go of meanwhile.
func TestWordsOfNobodyBehindASummary(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	q := newQueuedOn(t, modeltest.Start(t, summarising), func(_ *queued, c *config) {
		c.MaxThreads, c.Journal, c.Thread.Model = 1, &notebook{}, "gpt-6.1-sol"
	})
	submit(t, q.e, "j2", "one", "background until [ -e letgo ]; do sleep 0.1; done; touch over").wait(t)
	q.put(t, "hang QUEUED")
	eventually(t, "the turn to be ended", func() bool { return strings.Contains(q.wire.String(), `"status":"interrupted"`) })
	submit(t, q.e, "j3", "two", "run touch letgo").wait(t)
	q.next(t)
	eventually(t, "the command to end", func() bool { _, err := os.Stat(filepath.Join(q.work, "over")); return err == nil })
	for _, context := range []string{"two", "three"} {
		submit(t, q.e, "of "+context, context, "say hello").wait(t)
	}
	submitWith(t, q.e, "j4", "say four", agent.Options{Model: "gpt-5.5"}).wait(t)
	requests := q.model.Requests()
	if body := string(requests[len(requests)-1].Body); !strings.Contains(body, "Another process of this machine has put words") {
		t.Errorf("behind a summary the model is not told; the words are there: %t", strings.Contains(body, "QUEUED"))
	}
}

// TestModelThatIsRefused: a message that names a model which the provider refuses fails, and is no
// message of the conversation, so that codex does not ask that model for a summary before the next.
func TestModelThatIsRefused(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		model := modeltest.Start(t, func(turn *fakemodel.Turn) {
			if strings.Contains(string(turn.Body), `"model":"gpt-5.5"`) {
				turn.Fail(status, `{"error":{"message":"you do not have access to it","code":"model_not_found"}}`)
				return
			}
			fakemodel.Keywords(turn)
		})
		e := onCodex(t, model, func(c *config) {
			c.Child.Args, c.Thread.Model = retrying(c.Child.Args), "gpt-6.1-sol"
		})
		submit(t, e, "j1", "one", "remember teal-7").wait(t)
		refused := submitWith(t, e, "j2", "say two", agent.Options{Model: "gpt-5.5"})
		if end := refused.wait(t); end.Outcome != agent.Failed {
			t.Errorf("%d: the model that is refused ends with %+v", status, end)
		}
		end := submit(t, e, "j3", "one", "recall").wait(t)
		if end.Outcome != agent.Completed || !strings.Contains(said(end), "teal-7") {
			t.Errorf("%d: the message after it ends with %+v (%v)", status, end, end.Failure)
		}
	}
}

// TestMessageThatIsRefused: what the provider refuses to read is not read to it again with each message
// after it.
func TestMessageThatIsRefused(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		if strings.Contains(string(turn.Body), "FLAGGED") {
			turn.Fail(http.StatusBadRequest, `{"error":{"message":"your prompt was flagged","code":"invalid_prompt"}}`)
			return
		}
		fakemodel.Keywords(turn)
	})
	e := onCodex(t, model, nil)
	submit(t, e, "j1", "one", "remember teal-7").wait(t)
	if end := submit(t, e, "j2", "one", "say FLAGGED").wait(t); end.Outcome != agent.Failed {
		t.Errorf("what is refused ends with %+v", end)
	}
	end := submit(t, e, "j3", "one", "recall").wait(t)
	if end.Outcome != agent.Completed || !strings.Contains(said(end), "teal-7") {
		t.Errorf("the message after it ends with %+v (%v)", end, end.Failure)
	}
}

// summarising is a model that summarises a conversation, and refuses to read some messages.
func summarising(turn *fakemodel.Turn) {
	switch text := turn.LastUserText(); {
	case strings.Contains(text, "CHECKPOINT"):
		turn.Say("summary")
	case strings.Contains(text, "REFUSED"):
		turn.Fail(http.StatusBadRequest, `{"error":{"message":"no","code":"invalid_prompt"}}`)
	default:
		fakemodel.Keywords(turn)
	}
}

// onTwoModels is an executor whose codex compacts where a turn has the other of two models.
func onTwoModels(t *testing.T, change func(*config)) (*rig, *modeltest.Model) {
	t.Helper()
	model := modeltest.Start(t, summarising)
	return onCodex(t, model, func(c *config) {
		c.Thread.Model = "gpt-6.1-sol"
		change(c)
	}), model
}

// TestInstructionsOfAnotherModel: those that changed hold in a turn before which codex compacts, and no
// more when they were taken back.
func TestInstructionsOfAnotherModel(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var p persona
	p.is("PERSONA-one")
	e, model := onTwoModels(t, func(c *config) { c.Instructions = p.now })
	holds := func(id, want, with string) {
		t.Helper()
		if end := submitWith(t, e, id, "say "+id, agent.Options{Model: with}).wait(t); end.Outcome != agent.Completed {
			t.Fatalf("%s: %+v (%v)", id, end, end.Failure)
		}
		requests := model.Requests()
		body := string(requests[len(requests)-1].Body)
		if last := body[strings.LastIndex(body, "PERSONA-"):]; !strings.HasPrefix(last, "PERSONA-"+want) {
			t.Errorf("%s: the last that holds is %.20q, want %s", id, last, want)
		}
	}
	holds("j1", "one", "")
	p.is("PERSONA-two")
	holds("j2", "two", "")
	holds("j3", "two", "gpt-5.5")
	holds("j4", "two", "")
	p.is("PERSONA-three")
	holds("j5", "three", "gpt-5.5")
	p.is("PERSONA-one")
	holds("j6", "one", "gpt-5.5")
	holds("j7", "one", "gpt-5.5")
}

// TestInstructionsOfARefusedModel: the summary before a turn that is taken back is taken back with it, and
// what was told before that holds on.
func TestInstructionsOfARefusedModel(t *testing.T) {
	t.Parallel()
	var p persona
	p.is("PERSONA-one")
	e, model := onTwoModels(t, func(c *config) { c.Instructions = p.now })
	check(t, e, model, "j1", "one", "one")
	p.is("PERSONA-two")
	check(t, e, model, "j2", "one", "one", "two")
	p.is("PERSONA-one")
	if end := submitWith(t, e, "j3", "say REFUSED", agent.Options{Model: "gpt-5.5"}).wait(t); end.Outcome != agent.Failed {
		t.Errorf("what is refused ends with %+v", end)
	}
	check(t, e, model, "j4", "one", "one", "two", "one")
}

// TestNoticeOfNobodyAndACancel: the user's own words that are cancelled are not said to be nobody's.
func TestNoticeOfNobodyAndACancel(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	q := newQueuedOn(t, modeltest.Start(t, fakemodel.Keywords), func(_ *queued, c *config) { c.Thread.Model = "gpt-6.1-sol" })
	submit(t, q.e, "j2", "one", "background until [ -e stopnow ]; do sleep 0.1; done; touch over").wait(t)
	q.put(t, "hang QUEUED")
	eventually(t, "the turn to be ended", func() bool { return strings.Contains(q.wire.String(), `"status":"interrupted"`) })
	submit(t, q.e, "k1", "one", "say k1").wait(t)
	w := submit(t, q.e, "k2", "one", "hang NEVER-DELETE-THE-BACKUPS")
	eventually(t, "the model to be asked", func() bool {
		requests := q.model.Requests()
		return strings.Contains(string(requests[len(requests)-1].Body), "NEVER-DELETE")
	})
	if err := q.e.Cancel(t.Context(), "k2"); err != nil {
		t.Fatal(err)
	}
	w.wait(t)
	body := q.next(t)
	const notice = "Another process of this machine has put words"
	if strings.Count(body, notice) != 1 || strings.LastIndex(body, notice) > strings.LastIndex(body, "NEVER-DELETE") {
		t.Errorf("the model is told %d times, and of words that the user has cancelled", strings.Count(body, notice))
	}
}

// TestInstructionsOfAFullConversation: those that changed hold in the turn before which codex compacts.
func TestInstructionsOfAFullConversation(t *testing.T) {
	t.Parallel()
	var p persona
	p.is("PERSONA-one")
	e, model := onTwoModels(t, func(c *config) {
		c.Instructions = p.now
		c.Child.Args = append(c.Child.Args, "-c", "model_context_window=30000")
	})
	submit(t, e, "j1", "one", "say one").wait(t)
	p.is("PERSONA-two")
	submit(t, e, "j2", "one", "usage 29000 10\nsay two").wait(t)
	submit(t, e, "j3", "one", "say three").wait(t)
	requests := model.Requests()
	body := string(requests[len(requests)-1].Body)
	if strings.Contains(body, "say two") && !strings.Contains(body, "summary") {
		t.Fatal("codex has not compacted")
	}
	if last := body[strings.LastIndex(body, "PERSONA-"):]; !strings.HasPrefix(last, "PERSONA-two") {
		t.Errorf("the last that holds is %.20q", last)
	}
}
