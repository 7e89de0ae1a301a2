package fakecodex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// run performs the action of a turn, and what follows from it.
func (x *execution) run() {
	switch x.do.name {
	case "die-message":
		x.complete(object{"type": "agentMessage", "id": x.newID("message"), "text": "so far", "phase": "commentary"})
		fatal(x.do.num(0, 3), "thread 'main' panicked behind a message")
	case "die":
		x.delta("message", "half a")
		fatal(x.do.num(0, 3), "thread 'main' panicked in mid-turn")
	case "die-tool":
		x.startCommand()
		fatal(x.do.num(0, 3), "thread 'main' panicked while a command ran")
	case "die-quiet-tool":
		x.callCommand()
		fatal(x.do.num(0, 3), "thread 'main' panicked as a command began")
	case "orphan":
		x.orphan()
	case "mute":
		x.delta("message", "half a")
		_ = os.Stdout.Close()
		return
	case "deaf":
		x.goDeaf()
	case "begin-late":
		if x.do.arg(1) == "hang" {
			<-x.ctx.Done()
		}
	case "abort-lose-end":
		x.stop()
	case "hang", "stubborn", "hang-lose-end":
		<-x.ctx.Done()
	case "hold", "hold-done":
		x.hold()
	case "pass-over", "pass-over-done":
		id, text := x.newID("message"), "not yours"
		x.tell("item/started", object{"item": object{"type": "agentMessage", "id": id, "text": ""}})
		x.complete(object{"type": "agentMessage", "id": id, "text": text, "phase": "final_answer"})
		x.hold()
		x.end("completed", nil)
		return
	case "until":
		x.until(x.do.arg(0))
	case "die-steered-tool":
		x.startCommand()
		x.hold()
		fatal(x.do.num(0, 3), "thread 'main' panicked over a message and a command")
	case "hang-terminal":
		x.terminal()
		<-x.ctx.Done()
	case "tool":
		x.startCommand()
		x.sleep(x.do.ms(0))
		x.endCommand("")
	case "die-tool-done":
		x.startCommand()
		x.endCommand("")
	case "terminal":
		x.terminal()
	case "line":
		x.startCommand()
		x.endCommand(strings.Repeat("x", x.do.num(0, 0)))
	case "flood":
		x.flood(x.do.num(0, 1000), x.do.num(1, 100))
		return
	case "fail", "hang-fail":
		if x.do.name == "hang-fail" {
			<-x.ctx.Done()
		}
		failure := object{"message": x.do.rest(1), "codexErrorInfo": x.do.arg(0), "additionalDetails": nil}
		x.tell("error", object{"error": failure, "willRetry": false})
		x.end("failed", failure)
		return
	case "retry":
		x.tell("error", object{"error": object{"message": "stream error", "codexErrorInfo": "other"}, "willRetry": true})
	case "ask":
		x.question()
	case "call":
		x.callTool()
	case "call-hang":
		x.callTool()
		x.stream(x.newID("message"), x.words())
		<-x.ctx.Done()
	case "ask-hang":
		x.question()
		<-x.ctx.Done()
	case "ask-withdraw":
		x.withdrawn()
	case "ask-fail":
		x.s.ask(x.do.arg(0), object{"threadId": x.t.ID, "turnId": x.turn.ID, "itemId": x.newID("ask"), "command": "true"})
		x.sleep(x.do.ms(2))
		failure := object{"message": "refused", "codexErrorInfo": x.do.arg(1)}
		x.end("failed", failure)
		return
	case "subagent":
		x.subagent()
	case "raw":
		x.raw(x.do.arg(0), x.do.arg(1))
	}
	if x.ctx.Err() != nil {
		x.end("interrupted", nil)
		return
	}
	x.reply()
}

// hold waits for a turn/steer, until it has been answered.
func (x *execution) hold() {
	select {
	case <-x.steered:
	case <-x.ctx.Done():
	}
	x.s.mu.Lock() // it is held by the answer
	defer x.s.mu.Unlock()
}

// tell sends a notification of the turn.
func (x *execution) tell(method string, params object) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	params["turnId"] = x.turn.ID
	x.s.tellLocked(x.t, method, params)
}

func (x *execution) delta(itemID, text string) {
	x.tell("item/agentMessage/delta", object{"itemId": itemID, "delta": text})
}

func (x *execution) newID(kind string) string {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	return x.s.newIDLocked(kind)
}

// complete records an item and tells it.
func (x *execution) complete(item object) {
	x.s.mu.Lock()
	x.turn.Items = append(x.turn.Items, item)
	x.s.logItemLocked(x.t, x.turn.ID, item)
	x.s.save(x.t)
	x.s.mu.Unlock()
	x.tell("item/completed", object{"item": item, "completedAtMs": time.Now().UnixMilli()})
}

// reply streams the text back, word by word, and completes the turn.
func (x *execution) reply() {
	id, text := x.newID("message"), x.words()
	if !x.stream(id, text) {
		x.end("interrupted", nil)
		return
	}
	x.finish(id, text)
}

// words are what comes back.
func (x *execution) words() string {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	return x.text
}

// stream reports whether the turn goes on.
func (x *execution) stream(id, text string) bool {
	x.tell("item/started", object{"item": object{"type": "agentMessage", "id": id, "text": ""}})
	for _, word := range strings.SplitAfter(text, " ") {
		if x.do.name == "slow-text" && !x.sleep(x.do.ms(0)) {
			return false
		}
		if !x.without("deltas") {
			x.delta(id, word)
		}
	}
	return true
}

func (x *execution) finish(id, text string) {
	x.complete(object{"type": "agentMessage", "id": id, "text": text, "phase": "final_answer"})
	usage := object{"inputTokens": 7, "cachedInputTokens": 1, "outputTokens": 5, "reasoningOutputTokens": 2, "totalTokens": 12}
	x.tell("thread/tokenUsage/updated", object{"tokenUsage": object{"last": usage, "total": usage}})
	x.end("completed", nil)
}

func (x *execution) command(status string) object {
	return object{"type": "commandExecution", "id": x.started, "command": "sleep 60", "cwd": "/", "status": status, "processId": "p-" + x.started}
}

// callCommand is the instant between the call of a command and its start.
func (x *execution) callCommand() {
	x.started = x.newID("command")
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.logCallLocked()
}

func (x *execution) startCommand() {
	x.callCommand()
	x.tell("item/started", object{"item": x.command("inProgress")})
}

func (x *execution) endCommand(output string) {
	item := x.command("completed")
	item["aggregatedOutput"], item["exitCode"] = output, 0
	x.complete(item)
}

// terminal starts a command that outlives the turn.
func (x *execution) terminal() {
	x.startCommand()
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.t.Terminals = append(x.t.Terminals, object{
		"itemId": x.started, "processId": "p-" + x.started, "command": "sleep 60", "cwd": "/",
	})
}

// flood writes many deltas as fast as the pipe takes them.
func (x *execution) flood(n, size int) {
	id := x.newID("message")
	piece := strings.Repeat("x", size)
	line := note("item/agentMessage/delta", object{"threadId": x.t.ID, "turnId": x.turn.ID, "itemId": id, "delta": piece})
	batch := max(1, 60_000/len(line))
	for left := n; left > 0 && x.ctx.Err() == nil; left -= batch {
		x.s.write(bytes.Repeat(line, min(left, batch)))
	}
	x.finish(id, strings.Repeat(piece, n))
}

// question asks the client and takes its answer for the text.
func (x *execution) question() {
	params := object{"threadId": x.t.ID, "turnId": x.turn.ID, "itemId": x.newID("ask"), "command": "rm -rf <&>", "questions": []any{}}
	if more := x.do.arg(1); more != "" {
		_ = json.Unmarshal([]byte(more), &params) // the test's own
	}
	select {
	case m := <-x.s.ask(x.do.arg(0), params):
		answer := m.Result
		if m.Error != nil {
			answer = m.Error
		}
		x.s.mu.Lock()
		x.text = string(answer)
		x.s.mu.Unlock()
		x.tell("serverRequest/resolved", object{"requestId": m.ID})
	case <-x.ctx.Done():
	}
}

// withdrawn asks the client and needs the answer no longer.
func (x *execution) withdrawn() {
	params := object{"threadId": x.t.ID, "turnId": x.turn.ID, "itemId": x.newID("ask"), "command": "true"}
	answer := x.s.ask(x.do.arg(0), params)
	if x.do.arg(1) == "steered" {
		x.hold()
	} else {
		x.sleep(x.do.ms(1))
	}
	x.s.mu.Lock()
	id := fmt.Sprint(x.s.lastAsk - 1)
	x.s.mu.Unlock()
	x.tell("serverRequest/resolved", object{"requestId": json.RawMessage(id)})
	<-answer // an answer comes all the same
}

// subagent lets a thread talk that the client has not started.
func (x *execution) subagent() {
	other := x.newID("subagent")
	turn := object{"id": x.newID("turn"), "status": "inProgress", "items": []any{}}
	x.s.notify("thread/started", object{"thread": object{"id": other, "parentThreadId": x.t.ID}})
	x.s.notify("turn/started", object{"threadId": other, "turn": turn})
	x.s.notify("item/agentMessage/delta", object{"threadId": other, "turnId": turn["id"], "itemId": "m", "delta": "not yours"})
	x.s.notify("turn/completed", object{"threadId": other, "turn": turn})
}

// goDeaf has the child read no more than one message.
func (x *execution) goDeaf() {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.deaf = true
}

// orphan dies while a grandchild holds its pipes open, having read no more for a
// while. The grandchild ends by itself in the end, should the test not end it.
func (x *execution) orphan() {
	x.goDeaf()
	holder := exec.Command("sleep", "20")
	holder.Stdin, holder.Stdout = os.Stdin, os.Stdout
	holder.SysProcAttr = &syscall.SysProcAttr{Setsid: x.do.arg(1) != "group"}
	if err := holder.Start(); err != nil {
		fatal(70, "fakecodex: %v", err)
	}
	x.delta("message", "last words")
	fmt.Fprintf(os.Stderr, "holder %d\n", holder.Process.Pid)
	time.Sleep(x.do.ms(2))
	fatal(x.do.num(0, 3), "thread 'main' panicked")
}
