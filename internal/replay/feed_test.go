package replay

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestLentAgain: codex is given what it was given then, attempt by attempt, and a record of
// an earlier version gives it the input as it is.
func TestLentAgain(t *testing.T) {
	input := []appserver.UserInput{appserver.Text("look"), {Type: "localImage", Path: "/w/x.png"}}
	copied, told := appserver.UserInput{Type: "localImage", Path: "/h/1-x.png"}, appserver.Text("it is not shown")
	f := &feed{lent: map[string][]executor.RecordedLent{}}
	for _, changed := range []appserver.UserInput{copied, told} {
		data, err := json.Marshal(executor.RecordedLent{Job: "j1", Changed: map[int]appserver.UserInput{1: changed, 7: told}})
		if err != nil {
			t.Fatal(err)
		}
		e := &entry{}
		e.Event, e.Data = executor.RecordLent, data
		if err := f.learn(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		job  string
		want appserver.UserInput
	}{{"j1", copied}, {"j1", told}, {"j2", input[1]}} {
		got, giveBack := f.lender(c.job)(t.Context(), input)
		giveBack()
		if diff := cmp.Diff([]appserver.UserInput{input[0], c.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.job, diff)
		}
	}
}

// TestLentWhole: an input may have been made anew, of more parts or fewer.
func TestLentWhole(t *testing.T) {
	f := &feed{lent: map[string][]executor.RecordedLent{}}
	want := []appserver.UserInput{appserver.Text("look"), {Type: "localImage", Path: "/h/1-x.png"}}
	data, err := json.Marshal(executor.RecordedLent{Job: "j1", Whole: want})
	if err != nil {
		t.Fatal(err)
	}
	e := &entry{}
	e.Event, e.Data = executor.RecordLent, data
	if err := f.learn(e); err != nil {
		t.Fatal(err)
	}
	got, giveBack := f.lender("j1")(t.Context(), want[:1])
	giveBack()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
