package fakecodex

import (
	"strconv"
	"strings"
	"time"
)

// A step is one misbehaviour with its arguments.
type step struct {
	name string
	args []string
}

// A script is what the whole run does.
type script []step

func parse(text string) script {
	var steps script
	for part := range strings.SplitSeq(text, ";") {
		if words := strings.Fields(part); len(words) > 0 {
			steps = append(steps, step{words[0], words[1:]})
		}
	}
	return steps
}

// arg returns argument i, or "".
func (s step) arg(i int) string {
	if i < len(s.args) {
		return s.args[i]
	}
	return ""
}

// num returns argument i as a number, or fallback.
func (s step) num(i, fallback int) int {
	if n, err := strconv.Atoi(s.arg(i)); err == nil {
		return n
	}
	return fallback
}

// ms returns argument i as a time in milliseconds.
func (s step) ms(i int) time.Duration { return time.Duration(s.num(i, 0)) * time.Millisecond }

// rest returns the arguments from i on as one text.
func (s step) rest(i int) string {
	if i >= len(s.args) {
		return ""
	}
	return strings.Join(s.args[i:], " ")
}

// step returns the first step of that name.
func (s script) step(name string) (step, bool) {
	for _, step := range s {
		if step.name == name {
			return step, true
		}
	}
	return step{}, false
}

// about returns the step of that name which concerns method.
func (s script) about(name, method string) (step, bool) {
	for _, step := range s {
		if step.name == name && step.arg(0) == method {
			return step, true
		}
	}
	return step{}, false
}
