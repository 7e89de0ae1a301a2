package adapter

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMergedKeys are those that a mapping takes over from others.
func TestMergedKeys(t *testing.T) {
	c, warnings, err := ParseConfig("f", []byte(`
defaults: &d {timeout: 5, model: merged, provider: house}
other: &o {model: other, command: run}
runtime_config:
  <<: [*d, *o]
  provider: own
a2a: &a
  <<: *a
  port: 9000
skills: [x]
`))
	if err != nil || len(warnings) != 0 {
		t.Fatal(warnings, err)
	}
	if c.Model != "merged" || c.Provider != "own" || c.RuntimeConfig.Timeout != 5*time.Second || c.RuntimeConfig.Command != "run" || c.A2A.Port != 9000 {
		t.Errorf("%+v", c)
	}
	for _, text := range []string{"<<: 5\n", "<<: [x, [y]]\n", "a: &a {<<: [*a, *a], b: &b {<<: [*a, *b]}}\n<<: *a\nname: N\n"} {
		if _, _, err := ParseConfig("f", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	var bomb strings.Builder
	bomb.WriteString("m0: &m0 {name: x}\n")
	for i := range 40 {
		n := strconv.Itoa(i)
		bomb.WriteString("m" + strconv.Itoa(i+1) + ": &m" + strconv.Itoa(i+1) + " {<<: [*m" + n + ", *m" + n + "]}\n")
	}
	bomb.WriteString("<<: *m40\n")
	if _, _, err := ParseConfig("f", []byte(bomb.String())); err != nil {
		t.Error(err)
	}
}

// TestLongTurns: a limit that the runtime would not start with is not taken from the file.
func TestLongTurns(t *testing.T) {
	for text, want := range map[string]time.Duration{"604800": mostTurn, "604801": 0, "1e9": 0, "5": 5 * time.Second} {
		c, warnings, err := ParseConfig("f", []byte("runtime_config:\n  timeout: "+text+"\n"))
		if err != nil || c.RuntimeConfig.Timeout != want || (len(warnings) > 0) != (want == 0) {
			t.Errorf("%s: %v %v %v", text, c.RuntimeConfig.Timeout, warnings, err)
		}
	}
}

// TestEveryErrorHasALine, also where the library names none.
func TestEveryErrorHasALine(t *testing.T) {
	for text, line := range map[string]string{
		"name: a: b\n": "f:1: ", "name: x\nmodel: *nope\n": "f:2: ", "a: 1\nname: a\x00b\n": "f:2: ", "name: 'x\n": "f:", "\tname: x\n": "f:1: ",
		"name: x\n  model: y\n": "f:2: ", "name: x\na2a:\n\tport: 1\n": "f:3: ", "{": "f:", "%YAML 9.9\n---\nname: x\n": "f:1: ",
	} {
		if _, _, err := ParseConfig("f", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), line) || strings.HasPrefix(err.Error(), "f: ") {
			t.Errorf("%q: %v, want it at %s", text, err, line)
		}
	}
}

// TestWarningsAreBounded: a file of a megabyte does not fill the log at each start of codex.
func TestWarningsAreBounded(t *testing.T) {
	_, warnings, err := ParseConfig("f", []byte("skills: ["+strings.Repeat("[],", 300_000)+"]\n"))
	if err != nil || len(warnings) != mostWarnings+1 || !strings.Contains(warnings[mostWarnings].Text, "299950 more") {
		t.Errorf("%d warnings, %v", len(warnings), err)
	}
}
