package fakemodel

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// verbOf returns the verb of that name. This is the table of commands.
func verbOf(word string) (verb, bool) {
	switch word {
	case "help":
		return verb{takes: nothing, do: func(in interpreter, t *Turn, _ string) { in.say(t, in.help) }}, true
	case "say": // say TEXT
		return verb{takes: something, do: interpreter.say}, true
	case "commentary": // commentary TEXT: a message that is not the final answer
		return verb{takes: something, do: comment}, true
	case "stream": // stream COUNT BYTES [INTERVAL]
		return verb{takes: func(args string) bool { return len(fields(args)) > 0 }, do: streamPieces}, true
	case "think": // think TEXT: a reasoning summary, then an answer
		return verb{takes: something, do: think}, true
	case "remember": // remember TEXT
		return verb{takes: something, do: func(in interpreter, t *Turn, args string) { in.say(t, "remembered: "+args) }}, true
	case "recall": // answers from the history in the request
		return verb{takes: nothing, do: recall}, true
	case "wait": // wait DURATION
		return verb{takes: isDuration, do: wait}, true
	case "hang": // until codex drops the connection
		return verb{takes: nothing, do: func(_ interpreter, t *Turn, _ string) { t.Hang() }}, true
	case "drop": // cuts the connection
		return verb{takes: nothing, do: func(_ interpreter, t *Turn, _ string) { t.Drop() }}, true
	case "fail": // fail STATUS, fail limit SECONDS, fail context
		return verb{takes: isFailure, do: fail}, true
	case "usage": // usage IN OUT: the tokens to be reported
		return verb{takes: isTwoNumbers, do: report}, true
	}
	return toolVerb(word)
}

func nothing(args string) bool   { return args == "" }
func something(args string) bool { return args != "" }
func isNumber(args string) bool  { n, err := strconv.Atoi(args); return err == nil && n >= 0 }

func isDuration(args string) bool {
	d, err := time.ParseDuration(args)
	return err == nil && d >= 0
}

func isTwoNumbers(args string) bool {
	a, b, _ := strings.Cut(args, " ")
	return isNumber(a) && isNumber(b)
}

// fields returns the numbers of a stream command, count and bytes and interval
// in nanoseconds, or nil.
func fields(args string) []int {
	words := strings.Fields(args)
	if len(words) < 2 || len(words) > 3 || !isTwoNumbers(words[0]+" "+words[1]) {
		return nil
	}
	count, _ := strconv.Atoi(words[0])
	size, _ := strconv.Atoi(words[1])
	var interval time.Duration
	if len(words) == 3 {
		if !isDuration(words[2]) {
			return nil
		}
		interval, _ = time.ParseDuration(words[2])
	}
	return []int{count, size, int(interval)}
}

func comment(in interpreter, t *Turn, text string) {
	t.OpenMessage("commentary")
	t.Delta(in.prefix + text)
	t.EndMessage("")
}

func think(in interpreter, t *Turn, text string) {
	t.Reason(text)
	in.say(t, "thought about: "+text)
}

// Piece is the nth piece (from 0) of what the command stream sends: its number,
// padded to size with zeros in front and ended by a space, so that a reader
// can tell what is missing.
func Piece(n, size int) string {
	s := strings.Repeat("0", max(0, size)) + strconv.Itoa(n) + " "
	return s[len(s)-max(0, size):]
}

func streamPieces(in interpreter, t *Turn, args string) {
	numbers := fields(args)
	t.OpenMessage("final_answer")
	if in.prefix != "" {
		t.Delta(in.prefix)
	}
	for n := range numbers[0] {
		if n > 0 && !pause(t, time.Duration(numbers[2])) {
			return
		}
		t.Delta(Piece(n, numbers[1]))
	}
	t.EndMessage("")
}

func wait(_ interpreter, t *Turn, args string) {
	d, _ := time.ParseDuration(args)
	pause(t, d)
}

// pause waits and reports whether anybody still listens.
func pause(t *Turn, d time.Duration) bool {
	if d <= 0 {
		return t.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.ctx.Done():
		return false
	}
}

func recall(in interpreter, t *Turn, _ string) {
	texts := t.UserTexts()
	for _, text := range slices.Backward(texts) {
		for line := range strings.Lines(text) {
			if what, ok := strings.CutPrefix(strings.TrimSpace(line), "remember "); ok {
				in.say(t, "recalled: "+what)
				return
			}
		}
	}
	in.say(t, "nothing to recall")
}

func isFailure(args string) bool {
	kind, rest, _ := strings.Cut(args, " ")
	switch kind {
	case "limit":
		return isNumber(rest)
	case "context":
		return rest == ""
	}
	status, err := strconv.Atoi(args)
	return err == nil && status >= 400 && status < 600
}

func fail(_ interpreter, t *Turn, args string) {
	kind, rest, _ := strings.Cut(args, " ")
	switch kind {
	case "limit":
		seconds, _ := strconv.Atoi(rest)
		t.UsageLimit(time.Duration(seconds) * time.Second)
	case "context":
		t.FailStream("context_length_exceeded", "The scripted context window is full.")
	default:
		status, _ := strconv.Atoi(kind)
		t.Fail(status, marshal(map[string]any{"error": map[string]any{
			"message": "scripted failure " + kind, "type": "scripted", "code": nil,
		}}))
	}
}

func report(_ interpreter, t *Turn, args string) {
	in, out, _ := strings.Cut(args, " ")
	a, _ := strconv.Atoi(in)
	b, _ := strconv.Atoi(out)
	t.Usage(a, b)
}
