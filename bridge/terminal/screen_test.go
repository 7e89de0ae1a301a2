package terminal

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
)

var update = flag.Bool("update", false, "write the screen of the README anew")

// TestScreenOfTheReadme is the screen that the README shows.
func TestScreenOfTheReadme(t *testing.T) {
	s := sit(t, 72, 24)
	s.happens(
		state(a2a.TaskStateWorking), plan("completed", "inProgress", "pending"),
		says("a", "The parser drops the last line of a file with", false), says("a", "out a line feed.\n", true),
		command("inProgress", nil), command("completed", map[string]any{"exitCode": 1.0, "durationMs": 2140.0}),
		step(map[string]any{"type": "fileChange", "id": "f", "status": "completed", "changes": []any{map[string]any{"kind": "update", "path": "parser/lines.go"}}}),
		mayRun("q1"),
	)
	screen := s.see("[1] yes", "12.3k tokens", "Answer yes")
	block := "```\n" + screen + "```\n"
	const readme = "../../README.md"
	raw, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	const begins, ends = "<!-- the terminal -->\n", "<!-- so far -->"
	before, rest, ok := strings.Cut(string(raw), begins)
	_, after, closed := strings.Cut(rest, ends)
	if !ok || !closed {
		t.Fatalf("the README has no place between %q and %q", begins, ends)
	}
	want := before + begins + block + ends + after
	if *update {
		if err := os.WriteFile(readme, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("the README shows another screen; go test ./bridge/terminal -update writes this one:\n%s", screen)
	}
}

// TestKeyAnswers answers a question by the key of its choice, and goes on.
func TestKeyAnswers(t *testing.T) {
	s := sit(t, 80, 24)
	s.happens(mayRun("q1"))
	s.see("rm -rf build", "[1] yes  [2] no  [3] cancel")
	s.press("2")
	s.wants("respond q1 decline")
	s.happens(state(a2a.TaskStateWorking))
	s.Until("no choices", func(screen string) bool { return !strings.Contains(screen, "[1] yes") })
	s.happens(says("a", "as you like", false), state(a2a.TaskStateCompleted), &bridge.Task{TaskID: id, Status: bridge.Completed})
	if end, err := s.ends(); err != nil || end.Status != bridge.Completed {
		t.Errorf("ended as %+v, %v", end, err)
	}
	s.see("› no", "as you like", "32s · 12.3k tokens")
}

// TestWordsAnswer answers in words, to the question that is shown.
func TestWordsAnswer(t *testing.T) {
	s := sit(t, 80, 24)
	s.happens(mayRun("q1"))
	s.see("[1] yes")
	s.press("only build/tmp 1\r") // a digit within words is none of the choices
	s.wants("say q1 only build/tmp 1")
}

// TestRefusedAnswer says why an answer was not taken, and gives the words back.
func TestRefusedAnswer(t *testing.T) {
	s := sit(t, 80, 24)
	s.runtime.refuse = errors.New("the answer was not understood: say yes or no")
	s.happens(mayRun("q1"))
	s.see("[1] yes")
	s.press("perhaps\r")
	s.wants("say q1 perhaps")
	s.see("not understood", "› perhaps\ncodex-") // in the line
}

// TestEarlyWords: what was begun before a question came is no answer to it at once.
func TestEarlyWords(t *testing.T) {
	s := sit(t, 80, 24)
	s.happens(state(a2a.TaskStateWorking))
	s.press("yes, and")
	s.see("› yes, and")
	s.happens(mayRun("q1"))
	s.see("[1] yes")
	s.press("\r")
	s.see("a question has come while you wrote")
	s.press("\r")
	s.wants("say q1 yes, and")
}

func TestSteers(t *testing.T) {
	s := sit(t, 80, 24)
	s.happens(state(a2a.TaskStateWorking), says("a", "half a line", false))
	s.see("half a line", "working")
	s.press("leave the API\r")
	s.wants("steer leave the API")
	s.see("half a line\n› leave the API", "codex has it in the turn that runs")
}

// TestFieldsAreAskedOneByOne fills in questions, with a choice by its number and a secret that is not shown.
func TestFieldsAreAskedOneByOne(t *testing.T) {
	s := sit(t, 100, 24)
	s.happens(question("codex asks:\n\n1. Which colour?\n2. The password?", map[string]any{
		"id": "q1", "kind": "input", "choices": []any{"decline"}, "questions": []any{
			map[string]any{"id": "color", "question": "Which colour?", "options": []any{map[string]any{"label": "red"}, map[string]any{"label": "blue"}}},
			map[string]any{"id": "pass", "question": "The password?", "secret": true},
		},
	}))
	s.see("Which colour?  [1] red  [2] blue")
	s.press("2")
	s.see("The password?  /decline")
	s.press("sesame")
	s.see("******")
	s.press("\r")
	s.wants("say q1 1: blue\n2: sesame")
	if screen := s.see("› blue"); strings.Contains(screen, "sesame") {
		t.Errorf("the secret can be seen:\n%s", screen)
	}
}

func TestLeaves(t *testing.T) {
	for name, keys := range map[string]string{"twice": "\x03\x03", "by its key": "\x03l", "at the end of what is written": "\x04"} {
		t.Run(name, func(t *testing.T) {
			s := sit(t, 80, 24)
			s.happens(state(a2a.TaskStateWorking))
			s.see("working")
			s.press(keys)
			if _, err := s.ends(); !errors.Is(err, ErrLeft) {
				t.Errorf("ended with %v", err)
			}
			if len(s.runtime.asked) > 0 {
				t.Errorf("leaving has asked the runtime %q", <-s.runtime.asked)
			}
		})
	}
}

func TestCancels(t *testing.T) {
	s := sit(t, 80, 24)
	s.happens(state(a2a.TaskStateWorking))
	s.see("working")
	s.press("\x03")
	s.see("[c] cancel")
	s.press("c")
	s.wants("interrupt")
	s.happens(state(a2a.TaskStateCanceled), &bridge.Task{TaskID: id, Status: bridge.Cancelled})
	if end, err := s.ends(); err != nil || end.Status != bridge.Cancelled {
		t.Errorf("ended as %+v, %v", end, err)
	}
}

// TestAway says that the runtime is, and that it is back. What is told again is written once.
func TestAway(t *testing.T) {
	s := sit(t, 80, 24)
	s.happens(state(a2a.TaskStateWorking), says("a", "one\ntwo", false))
	s.see("two", "working")
	s.happens(errAway)
	s.see("the runtime is away")
	s.happens(nil, says("a", "one\n", false), says("a", "two and three\nfour", true))
	screen := s.Until("that it is back", func(screen string) bool { return strings.Contains(screen, "four") && !strings.Contains(screen, "away") })
	if !strings.Contains(screen, "\none\ntwo and three\nfour\n") || strings.Count(screen, "one\n") != 1 {
		t.Errorf("the screen:\n%s", screen)
	}
}

// TestLongTexts loses no line, of however many come at once, nor the last character of a full row.
func TestLongTexts(t *testing.T) {
	s := sit(t, 40, 10)
	var lines []string
	for i := range 300 {
		lines = append(lines, strings.Repeat(string(rune('a'+i%26)), 20+i%20)) // a row is full
	}
	s.happens(says("a", strings.Join(lines, "\n")+"\n", false), says("a", strings.Repeat("long words ", 40)+"end", true))
	screen := s.see("end\n")
	for line := range strings.Lines(screen) {
		if len(lines) > 0 && strings.TrimSpace(line) == lines[0] {
			lines = lines[1:]
		}
	}
	if len(lines) > 0 {
		t.Errorf("the line %q is missing, or not in its place:\n%s", lines[0], screen)
	}
}

// TestHostileTexts has the terminal do nothing but show what codex, or its model, says.
func TestHostileTexts(t *testing.T) {
	s := sit(t, 80, 24)
	const evil = "\x1b]0;title\x07\x1b[2J\x1b[31m\u202e"
	s.happens(says("a", evil+"text\n", false), command("inProgress", map[string]any{"command": evil + "x"}), plan("completed"),
		step(map[string]any{"type": "plan", "steps": []any{map[string]any{"step": evil + "step", "status": 7}}}),
		step(map[string]any{"type": "notice", "text": evil + "notice"}), step(map[string]any{"type": []any{}}))
	s.see("text", "notice", "step")
	for _, bad := range []string{"\x1b]", "\x1b[2J", "\x1b[31m", "\u202e", "\x07"} {
		if strings.Contains(s.Raw(), bad) {
			t.Errorf("the terminal was given %q", bad)
		}
	}
}

// TestNarrow draws each row once on a terminal that is narrow and low.
func TestNarrow(t *testing.T) {
	s := sit(t, 30, 12, "LC_ALL=C")
	s.happens(state(a2a.TaskStateWorking), says("a", "plan: Plan updated", false))
	s.see("plan: Plan")
	s.happens(says("b", "created notes", false))
	s.see("created")
	s.happens(mayRun("q1"))
	screen := s.see("[1] yes", "Answer yes")
	if strings.Count(screen, "plan: Plan") != 1 || strings.Count(screen, "\n>\n") != 1 {
		t.Errorf("the screen:\n%s", screen)
	}
}

// TestSentenceOfDigits: words that begin with the number of a choice are no choice.
func TestSentenceOfDigits(t *testing.T) {
	s := sit(t, 80, 24)
	s.happens(mayRun("q1"))
	s.see("[1] yes")
	s.press("1. please do not\r")
	s.wants("say q1 1. please do not")
}

// TestManyOptions are chosen with Enter, and so are those that are numbers themselves.
func TestManyOptions(t *testing.T) {
	for name, test := range map[string]struct {
		labels []any
		keys   string
		want   string
	}{
		"twelve":  {[]any{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}, "12\r", "say q1 l"},
		"numbers": {[]any{"10", "2", "1"}, "2\r", "say q1 2"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sit(t, 100, 24)
			var options []any
			for _, label := range test.labels {
				options = append(options, map[string]any{"label": label})
			}
			s.happens(question("codex asks: Which?", map[string]any{"id": "q1", "kind": "input", "questions": []any{
				map[string]any{"id": "x", "question": "Which?", "options": options},
			}}))
			s.see("gives no answer")
			s.press(test.keys)
			s.wants(test.want)
		})
	}
}

// TestWordsOfAQuestionThatWent are told to the turn only when that is meant.
func TestWordsOfAQuestionThatWent(t *testing.T) {
	s := sit(t, 80, 24)
	s.happens(mayRun("q1"))
	s.see("[1] yes")
	s.press("yes but")
	s.see("› yes but")
	s.happens(state(a2a.TaskStateWorking))
	s.see("working")
	s.press("\r")
	s.see("wrote this for has gone")
	s.press(" carefully\r")
	s.wants("steer yes but carefully")
}

// TestSecretOfAQuestionThatWent goes nowhere.
func TestSecretOfAQuestionThatWent(t *testing.T) {
	s := sit(t, 80, 24)
	s.happens(question("codex asks: The password?", map[string]any{"id": "q1", "kind": "input", "questions": []any{
		map[string]any{"id": "pass", "question": "The password?", "secret": true},
	}}))
	s.see("gives no answer")
	s.press("hunter2")
	s.see("*******")
	s.happens(state(a2a.TaskStateWorking))
	s.see("none of that is sent")
	s.press("secret\rsay hello\r")
	s.wants("steer say hello")
	if strings.Contains(s.Raw(), "secret") || strings.Contains(s.Raw(), "hunter") {
		t.Errorf("the secret can be seen:\n%s", s.Text())
	}
}

// TestRefusedWordsAreNotAnothersAnswer: words that were refused stand in the line, for what they were for.
func TestRefusedWordsAreNotAnothersAnswer(t *testing.T) {
	s := sit(t, 80, 24)
	s.runtime.refuse = errors.New("respond to q1 first")
	s.happens(state(a2a.TaskStateWorking))
	s.see("working")
	s.runtime.hold = make(chan struct{})
	s.press("yes, keep it\r")
	s.wants("steer yes, keep it")
	s.happens(mayRun("q1"))
	s.see("[1] yes")
	close(s.runtime.hold)
	s.see("respond to q1 first", "› yes, keep it\ncodex")
	s.press("\r")
	s.see("a question has come while you wrote")
	if len(s.runtime.asked) > 0 {
		t.Errorf("the runtime was asked %q", <-s.runtime.asked)
	}
}

// TestLowTerminals draw what they can.
func TestLowTerminals(t *testing.T) {
	for _, size := range [][2]int{{80, 5}, {80, 1}, {5, 3}, {1, 1}, {20, 2}} {
		s := sit(t, size[0], size[1])
		s.happens(state(a2a.TaskStateWorking), says("a", "some words that are more than a row", false), plan("inProgress"), mayRun("q1"))
		s.press("\x1b[200~one\ntwo\nthree\nfour\nfive\nsix\x1b[201~")
		s.press("\x03\x03")
		if _, err := s.ends(); !errors.Is(err, ErrLeft) {
			t.Errorf("%v: ended with %v", size, err)
		}
	}
}

// TestBurst shows what comes last, of however many events.
func TestBurst(t *testing.T) {
	s := sit(t, 80, 24)
	for range 3000 {
		s.happens(says("a", "piece ", true))
	}
	s.happens(says("a", "last", true))
	if screen := s.see("last"); strings.Count(screen, "piece") != 3000 {
		t.Errorf("%d pieces can be seen", strings.Count(screen, "piece"))
	}
}

// TestEndOfTheContext leaves, whatever the terminal does.
func TestEndOfTheContext(t *testing.T) {
	s := sit(t, 80, 24)
	s.happens(state(a2a.TaskStateWorking))
	s.see("working")
	s.stop()
	if end, err := s.ends(); end != nil || !errors.Is(err, ErrLeft) {
		t.Errorf("ended as %v, %v", end, err)
	}
}
