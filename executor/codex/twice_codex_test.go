package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// sameID is what the endpoint of these tests calls all of its calls.
const sameID = "same"

// A made is one call with that id, which writes a file where it may not.
type made func(t *fakemodel.Turn, file string)

func asCommand(t *fakemodel.Turn, file string) {
	t.CallAs(sameID, "", "exec_command", fakemodel.Escalated("touch "+file))
}

func asPatch(t *fakemodel.Turn, file string) {
	t.ExecAs(sameID, fakemodel.PatchCommand(fakemodel.AddFile(file, "x\n")))
}

// inside is a patch that needs no leave.
func inside(t *fakemodel.Turn, _ string) { asPatch(t, "inside.txt") }

func asTool(tool string) made { return asToolOf(sameID, tool) }

func asToolOf(id, tool string) made {
	return func(t *fakemodel.Turn, _ string) { t.CallAs(id, "mcp__asker", tool, "{}") }
}

// long is an id that is not kept.
var long = strings.Repeat(sameID, 17<<10/len(sameID))

// TestOneIDForTwoCalls: the answer to what is asked about the first would go to the second.
func TestOneIDForTwoCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second made
		atOnce, sub   bool
	}{
		"commands":                 {first: asCommand, second: asCommand},
		"commands at once":         {first: asCommand, second: asCommand, atOnce: true},
		"patches":                  {first: asPatch, second: asPatch},
		"patches at once":          {first: asPatch, second: asPatch, atOnce: true},
		"a command, a patch":       {first: asCommand, second: asPatch},
		"tools":                    {first: asTool("plain"), second: asTool("form")},
		"commands of a sub":        {first: asCommand, second: asCommand, sub: true},
		"patches of a sub":         {first: asPatch, second: asPatch, sub: true},
		"a patch, one unasked":     {first: asPatch, second: inside},
		"tools of a sub":           {first: asTool("plain"), second: asTool("form"), sub: true},
		"of a long id, of a sub":   {first: asToolOf(long, "plain"), second: asToolOf(long, "form"), sub: true},
		"patches of a sub at once": {first: asPatch, second: asPatch, sub: true, atOnce: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside, asked := codextest.Dir(t, "outside"), make(chan struct{})
			do := func(t *fakemodel.Turn) {
				c.first(t, filepath.Join(outside, "harmless"))
				if !c.atOnce {
					select {
					case <-asked:
					case <-t.Context().Done():
					}
				}
				c.second(t, filepath.Join(outside, "evil"))
			}
			script := once(do)
			if c.sub {
				script = handsOn(do)
			}
			model := modeltest.Start(t, func(t *fakemodel.Turn) {
				if t.LastUserText() == "still here" {
					fakemodel.Keywords(t)
					return
				}
				script(t)
			})
			e := onCodex(t, model, withMCP("-c", "mcp_servers.asker.supports_parallel_tool_calls=true"))
			w := submit(t, e, "j1", "one", "go")
			if !c.atOnce {
				eventually(t, "the first call to be asked about, or the end", func() bool {
					return len(seen[agent.Question](w)) > 0 || len(seen[agent.Ended](w)) > 0
				})
				close(asked)
				eventually(t, "the second call to be asked about, or the end", func() bool {
					return len(seen[agent.Question](w)) > 1 || len(seen[agent.Ended](w)) > 0
				})
				if qs := seen[agent.Question](w); len(qs) > 0 {
					_ = reply(t, e, "j1", qs[0], "yes")
				}
			}
			end := w.wait(t)
			wantEnd(t, end, agent.Failed, agent.FailModel)
			if end.Failure != nil && !strings.Contains(end.Failure.Message, "two calls at once the same id") {
				t.Errorf("it says %q", end.Failure.Message)
			}
			if n := len(seen[agent.Question](w)); n > 1 {
				t.Errorf("%d questions were asked", n)
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
				t.Errorf("written are %v, %v", left, err)
			}
			wantAlive(t, e, "two")
		})
	}
}

// once is a model that does one thing and says what came of it.
func once(do func(*fakemodel.Turn)) fakemodel.Script {
	return func(t *fakemodel.Turn) {
		if len(t.NewToolOutputs()) == 0 {
			do(t)
			return
		}
		t.Say("done")
	}
}

// TestOneIDAfterAnother: where the endpoint counts its calls anew in each answer, each is asked
// about and done.
func TestOneIDAfterAnother(t *testing.T) {
	t.Parallel()
	outside := codextest.Dir(t, "outside")
	files := []string{filepath.Join(outside, "one"), filepath.Join(outside, "two"), filepath.Join(outside, "three")}
	e := onCodex(t, modeltest.Start(t, func(t *fakemodel.Turn) {
		if n := len(t.NewToolOutputs()); n < len(files) {
			[]made{asPatch, asCommand, asPatch}[n](t, files[n])
			return
		}
		t.Say("done")
	}), asks())
	w := submit(t, e, "j1", "one", "go")
	for i, file := range files {
		q := w.asked(t, i+1)
		if !strings.Contains(q.Text, file) {
			t.Errorf("asked %q, want %s in it", q.Text, file)
		}
		mustReply(t, e, "j1", q, "yes")
	}
	wantEnd(t, w.wait(t), agent.Completed, "")
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

// TestOneIDUnasked: what is done without a question may have any ids.
func TestOneIDUnasked(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, once(func(t *fakemodel.Turn) {
		asPatch(t, "one.txt")
		asPatch(t, "two.txt")
		t.ExecAs(sameID, "true")
		t.ExecAs(sameID, "true")
	})), asks())
	wantEnd(t, submit(t, e, "j1", "one", "go").wait(t), agent.Completed, "")
}

// TestOneIDOfARetry: where the answer of the endpoint breaks off codex waits for the call that it
// has had of it, and the same call in the next one is another.
func TestOneIDOfARetry(t *testing.T) {
	t.Parallel()
	file := filepath.Join(codextest.Dir(t, "outside"), "file")
	var tries int
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		if tries++; tries < 3 {
			asCommand(t, file)
			t.Drop()
			return
		}
		t.Say("done")
	})
	e := onCodex(t, model, asks("-c", "model_providers.fake.stream_max_retries=4"))
	w := submit(t, e, "j1", "one", "go")
	for i := range 2 {
		mustReply(t, e, "j1", w.asked(t, i+1), "yes")
	}
	wantEnd(t, w.wait(t), agent.Completed, "")
}

// TestOneIDInALaterTurn: what a canceled turn has started ends with it, though an earlier turn had
// a command with the id.
func TestOneIDInALaterTurn(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct{ before, sleep string }{
		"ended":   {"true", "sleep 66.1"},
		"at work": {"sleep 66.2", "sleep 66.3"}, // numbers of their own: the two run at once
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := onCodex(t, modeltest.Start(t, func(t *fakemodel.Turn) {
				if len(t.NewToolOutputs()) > 0 {
					t.Say("done")
					return
				}
				t.CallAs(sameID, "", "exec_command", t.LastUserText())
			}), nil)
			wantEnd(t, submit(t, e, "j1", "one", `{"cmd":"`+way.before+`","yield_time_ms":250}`).wait(t), agent.Completed, "")
			w := submit(t, e, "j2", "one", `{"cmd":"setsid nohup `+way.sleep+` >/dev/null 2>&1 & `+way.sleep+`; true"}`)
			eventually(t, "both processes to run", func() bool { return countProcesses(way.sleep) == 2 })
			eventually(t, "codex to say so", func() bool { return commandRuns(w) })
			cancel(t, e, "j2")
			wantEnd(t, w.wait(t), agent.Canceled, "")
			if n := countProcesses(way.sleep); n != 0 {
				t.Errorf("the turn has ended, but %d of its processes run", n)
			}
		})
	}
}
