package wirelog

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestJobs: what is asked of a job and what becomes of it stand in the record before its task is told, in the words of
// docs/wire-record.md, and output does not.
func TestJobs(t *testing.T) {
	failure := &agent.Failure{Kind: agent.FailModel, Message: "broke off"}
	told := 0
	_, lines := recorded(t, func(r *Recorder) {
		refusal := errors.New("not now")
		_, refused := r.Watch(executor.Job{ID: "j"}, "i", nil)
		refused(refusal)
		observe, _ := r.Watch(executor.Job{ID: "j"}, "", func(agent.Event) { told++ })
		for _, e := range []agent.Event{
			agent.Paused{Kind: agent.FailAuth}, agent.Resumed{}, agent.Steered{TurnID: "u"}, agent.Unsteered{},
			agent.Started{ThreadID: "t", TurnID: "u", Attempt: 2}, agent.TextDelta{Text: "x"}, agent.Question{ID: "q"}, agent.Answered{ID: "q"},
			agent.Ended{Outcome: agent.Failed, Failure: failure, Messages: []agent.Message{{ItemID: "m", Text: "y"}}, Taken: []string{"k"}},
		} {
			observe(e)
		}
		r.Cancel("j")
		r.Answer("j", agent.Answer{ID: "a", Question: "q"})(refusal)
	})
	var got []string
	for _, l := range lines[1 : len(lines)-1] {
		got = append(got, l.Event+" "+string(l.Data))
	}
	job := `{"ID":"j","Context":"","Input":null,"Options":` + string(encode(agent.Options{})) + `,"Cut":null,"Accepted":false,"Patient":false,"Trace":` + string(encode(agent.TraceContext{}))
	want := []string{
		"steer " + job + `,"Into":"i"}`, `refused {"of":"j","error":"not now"}`, "submit " + job + "}",
		`held {"of":"j","id":"auth"}`, `steered {"of":"j","id":"u"}`, `unsteered {"of":"j"}`,
		`started {"job":"j","thread":"t","turn":"u","attempt":2}`, `asked {"of":"j","id":"q"}`, `answered {"of":"j","id":"q"}`,
		`ended {"job":"j","outcome":"failed","messages":` + string(encode([]agent.Message{{ItemID: "m", Text: "y"}})) + `,"failure":` + string(encode(failure)) + `,"taken":["k"]}`,
		`cancel {"of":"j"}`, `answer {"job":"j","answer":` + string(encode(agent.Answer{ID: "a", Question: "q"})) + `}`, `refused {"of":"a","error":"not now"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" || told != 9 {
		t.Errorf("told of %d: %s", told, diff)
	}
}

// TestNothingIsRecorded: nil stands before no observer.
func TestNothingIsRecorded(t *testing.T) {
	told := 0
	observe, refused := (*Recorder)(nil).Watch(executor.Job{}, "", func(agent.Event) { told++ })
	if observe(agent.Resumed{}); told != 1 || refused != nil {
		t.Errorf("told %d times", told)
	}
}
