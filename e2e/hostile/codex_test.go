package hostile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// An utterance is what a codex that means harm writes in the middle of a turn. THREAD and
// TURN are the ids of that turn, OTHERTHREAD and OTHERTURN those of another conversation's,
// which runs meanwhile, and CALL is the id of the last call. MARK is for what belongs
// nowhere, MINE for what may stand in the turn's own task.
type utterance struct{ name, text string }

// note is a notification as codex writes it.
func note(method, params string) string {
	return `{"method":"` + method + `","params":{` + params + "}}\n"
}

// said is an item of the agent's, started and completed.
func said(ids, id, text string) string {
	item := ids + `,"item":{"type":"agentMessage","id":"` + id + `","text":` + text + `,"phase":"final_answer"}`
	return note("item/started", item) + note("item/completed", item)
}

// ended is the end of a turn.
func ended(thread, turn, text string) string {
	return note("turn/completed", `"threadId":"`+thread+`","turn":{"id":"`+turn+`","status":"completed","items":[{"type":"agentMessage","id":"forged","text":"`+text+`","phase":"final_answer"}]}`)
}

const (
	own      = `"threadId":"THREAD","turnId":"TURN"`
	oddTurns = `"threadId":"OTHERTHREAD","turnId":"TURN"` // a thread with the turn of another one
)

// lines are no messages, or no good ones.
func lines() (rows []utterance) {
	for name, text := range map[string]string{
		"noise": "\x1b[2J\x1b]0;MARK\x07\nnpm notice MARK\n\n\r\n\x00\x00\n", "halves": "{\n}\n{\"method\":\n\"MARK\"}\n[\n]]\n", "no objects": "null\n7\n\"MARK\"\n[{\"method\":\"MARK\"}]\ntrue\n{}\n[]\n",
		"invalid UTF-8":  note("item/agentMessage/delta", own+",\"itemId\":\"m\",\"delta\":\"\xff\xfe\xc0\xaf\xed\xa0\x80\"") + "\xff\xfe\n",
		"half a pair":    note("item/agentMessage/delta", own+`,"itemId":"m","delta":"\ud800"`),
		"deep params":    note("item/started", own+`,"item":`+strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)),
		"deep and open":  `{"method":"item/started","params":` + strings.Repeat(`{"a":`, 200_000) + "\n",
		"wrong types":    note("item/completed", own+`,"item":7`) + note("item/completed", own+`,"item":{"type":{},"id":[],"text":7}`) + note("turn/completed", `"threadId":"THREAD","turn":[]`) + note("turn/completed", `"threadId":7,"turn":{"id":"TURN"}`) + note("thread/status/changed", `"threadId":"THREAD","status":"idle"`) + note("thread/tokenUsage/updated", own+`,"tokenUsage":{"last":{"inputTokens":-9223372036854775808},"total":{"totalTokens":1e999}}`),
		"odd params":     `{"method":"item/started","params":null}` + "\n" + `{"method":"item/started","params":[]}` + "\n" + `{"method":7,"params":{}}` + "\n" + `{"method":"","id":null}` + "\n" + `{"method":"turn/completed"}` + "\n",
		"keys twice":     `{"method":"warning","method":"turn/completed","params":{"threadId":"OTHERTHREAD","threadId":"nothing","turn":{"id":"OTHERTURN","id":"x","status":"completed"}}}` + "\n",
		"escaped keys":   `{"m\u0065thod":"turn/completed","params":{"thr\u0065adId":"OTHERTHREAD","turn":{"id":"OTHERTURN","status":"failed","error":{"message":"MARK"}}}}` + "\n",
		"carriage":       strings.ReplaceAll(note("warning", `"threadId":"THREAD","message":"x"`), "\n", "\r\n") + "\r\r\n",
		"many methods":   strings.Repeat("{\"method\":\"x/"+strings.Repeat("y", 1000)+"\",\"params\":{\"threadId\":\"nothing\"}}\n", 2000),
		"deltas of none": strings.Repeat(note("item/agentMessage/delta", own+`,"itemId":"nothing","delta":""`), 5000),
	} {
		rows = append(rows, utterance{name, text})
	}
	return rows
}

// giants are lines of many bytes: noise, a text, a notification, an answer and a request.
func giants(size int) (rows []utterance) {
	long := strings.Repeat("x", size)
	for name, text := range map[string]string{
		"noise": long + "\n", "text": said(own, "long", `"`+long+`"`), "of another": note("item/completed", oddTurns+`,"item":{"type":"agentMessage","id":"m","text":"MARK`+long+`"}`),
		"an answer": `{"id":99999999,"result":{"filler":"` + long + `"}}` + "\n", "a request": `{"method":"item/commandExecution/requestApproval","id":"` + long + `","params":{"threadId":"nothing"}}` + "\n",
		"a method": `{"method":"` + long + `","params":{"threadId":"THREAD"}}` + "\n", "a thread": note("turn/started", `"threadId":"`+long+`","turn":{"id":"x"}`),
	} {
		rows = append(rows, utterance{fmt.Sprintf("%d MiB: %s", size>>20, name), text})
	}
	return rows
}

// answers are those to calls that were not made, or not so.
func answers() (rows []utterance) {
	for _, id := range []string{"CALL", `"CALL"`, "-1", "0", "CALL.0", "CALL.5", "-CALL", "99999999999999999999999", "1e3", `""`, "null", "true", "[CALL]", `{"id":CALL}`, `"\u0000"`, "9223372036854775807", "18446744073709551615"} {
		for _, rest := range []string{`"result":{"turn":{"id":"OTHERTURN"},"thread":{"id":"OTHERTHREAD"},"data":[]}`, `"error":{"code":-32600,"message":"MARK"}`, `"result":null,"error":null`, `"error":7`} {
			rows = append(rows, utterance{"an answer to " + id + " with " + rest[:8], strings.Repeat(`{"id":`+id+`,`+rest+"}\n", 3)})
		}
	}
	return rows
}

// strays are notifications that belong to another conversation, or to none.
func strays() (rows []utterance) {
	for _, ids := range []string{
		oddTurns, `"threadId":"THREAD","turnId":"OTHERTURN"`, `"turnId":"OTHERTURN"`, `"threadId":"","turnId":"OTHERTURN"`, `"threadId":null,"turnId":"OTHERTURN"`, `"threadId":"nothing","turnId":"OTHERTURN"`, `"threadId":"OTHERTHREAD "`,
		`"threadId":"OTHERTHREAD"`, `"threadId":"OTHERTHREAD","turnId":"nothing"`, `"threadId":["OTHERTHREAD"],"turnId":"OTHERTURN"`, `"ThreadId":"OTHERTHREAD","turnId":"OTHERTURN"`, `"a":{"threadId":"OTHERTHREAD"},"turnId":"OTHERTURN"`,
	} {
		rows = append(rows,
			utterance{"text for " + ids, said(ids, "stray", `"MARK"`) + note("item/agentMessage/delta", ids+`,"itemId":"stray","delta":"MARK"`)},
			utterance{"a failure for " + ids, note("error", ids+`,"error":{"message":"MARK","codexErrorInfo":"unauthorized"},"willRetry":false`)},
			utterance{"a plan for " + ids, note("turn/plan/updated", ids+`,"explanation":"MARK","plan":[]`) + note("turn/diff/updated", ids+`,"diff":"MARK"`)},
			utterance{"an end of nothing for " + ids, note("turn/completed", ids+`,"turn":{"id":"nothing","status":"failed","error":{"message":"MARK"},"items":[]}`)},
		)
	}
	for name, text := range map[string]string{
		"the end of another's turn here": ended("THREAD", "OTHERTURN", "MARK"), "the end of this turn there": ended("OTHERTHREAD", "TURN", "MARK"), "the end of no turn": ended("THREAD", "nothing", "MARK"), "the end in no thread": ended("nothing", "OTHERTURN", "MARK"),
		"a thread of the other's name": note("thread/started", `"thread":{"id":"OTHERTHREAD","parentThreadId":"THREAD"}`), "an agent of the other's": note("turn/started", `"threadId":"nothing","turn":{"id":"x","rootTurnId":"OTHERTURN"}`) + ended("nothing", "x", "MARK"),
		"completed twice": ended("THREAD", "TURN", "MINE") + ended("THREAD", "TURN", "MINE"), "begun twice": note("turn/started", `"threadId":"THREAD","turn":{"id":"TURN"}`) + note("turn/started", `"threadId":"THREAD","turn":{"id":"nothing"}`),
		"an item completed twice": said(own, "twice", `"MINE"`) + said(own, "twice", `"MINE"`) + note("item/agentMessage/delta", own+`,"itemId":"twice","delta":"MINE"`), "an item without an id": said(own, "", `"MINE"`),
		"limits": note("account/rateLimits/updated", `"rateLimits":{"primary":{"usedPercent":-1e308,"resetsAt":9223372036854775807,"windowDurationMins":-1},"credits":7}`),
	} {
		rows = append(rows, utterance{name, text})
	}
	return rows
}

// demands are requests that nothing here should take for another's, or take at all.
func demands() (rows []utterance) {
	asks := []string{"item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/permissions/requestApproval", "item/tool/requestUserInput", "mcpServer/elicitation/request", "item/tool/call", "currentTime/read", "account/chatgptAuthTokens/refresh", "fs/readFile", "no/such", "", "__proto__"}
	for i, method := range asks {
		for j, id := range []string{"0", "-7", `"x"`, `"\u001b[2J"`, "99999999999999999999", "null", "1.5", `{"a":1}`} {
			thread := []string{"nothing", "", "OTHERTHREAD\u0000", "../../x"}[(i+j)%4]
			rows = append(rows, utterance{fmt.Sprintf("%s %s of %q", method, id, thread), strings.Repeat(`{"method":"`+method+`","id":`+id+`,"params":{"threadId":`+quoted(thread)+`,"turnId":"OTHERTURN","itemId":"i","command":"MARK","tool":"MARK","arguments":{},"questions":[{"id":"q","question":"MARK"}]}}`+"\n", 2)})
		}
	}
	flood := ""
	for i := range 3000 {
		flood += fmt.Sprintf(`{"method":"no/such","id":%d,"params":{}}`+"\n", 5000+i)
	}
	return append(rows, utterance{"a flood of requests", flood})
}

// texts are of the turn's own, and name what must not be handed out.
func texts(x *world) (rows []utterance) {
	for name, text := range map[string]string{
		"escapes": "\x1b[2J\x1b]8;;http://x/\x07\x9b31m\u202e\u0000\r", "a file outside": x.outside + "/file.txt", "a link to it": "![x](file://" + x.outside + "/file.txt) [y](<" + x.Work + "/../" + filepath.Base(x.outside) + "/file.txt>)",
		"the state": x.State + "/state.db", "a part": `{"parts":[{"url":"file://` + x.outside + `/file.txt"}],"metadata":{"reply":"x"}}`, "an HTML page": "<script>alert(1)</script>", "a frame": "data: {}\n\nevent: x\n\n",
	} {
		rows = append(rows, utterance{name, said(own, "text", quoted(text))})
	}
	for name, item := range map[string]string{
		"a picture": `"type":"imageGeneration","id":"p","status":"completed","result":"AAAA","savedPath":"` + x.outside + `/file.txt"`, "a picture seen": `"type":"imageView","id":"p","path":"` + x.outside + `/file.txt"`,
		"a change": `"type":"fileChange","id":"c","status":"completed","changes":[{"path":"` + x.outside + `/file.txt","kind":{"type":"add"},"diff":"\u001b[2J"}]`, "a command": `"type":"commandExecution","id":"c","command":"\u001b[2J","cwd":"` + x.outside + `","status":"completed","exitCode":99999999999999999999`,
		"nothing known": `"type":"\u001b[2J","id":"../../x"`, "an id of a path": `"type":"agentMessage","id":"../../../x","text":"x","phase":"final_answer"`,
	} {
		rows = append(rows, utterance{name, note("item/started", own+`,"item":{`+item+"}") + note("item/completed", own+`,"item":{`+item+"}")})
	}
	return rows
}

// TestCodex has a codex that writes what it should not, in the middle of turns while
// another conversation's turn runs, which has to end as if nothing had been.
func TestCodex(t *testing.T) {
	t.Parallel()
	codex := filepath.Join(codextest.Dir(t, "codex"), "codex")
	x := &world{t: t}
	x.write(codex, fakecodex.Program("turn echo"))
	if err := os.Chmod(codex, 0o700); err != nil {
		t.Fatal(err)
	}
	x.launch("serve", "CODEX_BIN="+codex, "RUNTIME_MAX_TURNS=64")
	x.plant()
	rows := append(lines(), some(giants(5<<20), 3)...)
	for _, more := range [][]utterance{answers(), strays(), demands()} {
		rows = append(rows, some(more, 4)...)
	}
	rows = append(rows, some(texts(x), 2)...)
	numbers := make([]int, len(rows))
	for i := range rows {
		numbers[i] = i
	}
	atOnce(numbers, func(i int) { x.hears(t, i, rows[i]) })
	for i, row := range some(giants(65<<20), 4) { // each is beyond the bound
		x.hears(t, len(rows)+i, row)
	}
	if *allFlag { // it takes 15 s
		t.Run("slowly", x.slowly)
	}
	x.uncopied(t)
	x.unharmed(t)
	if peak := progtest.PeakMemory(t, x.Pid()); peak > most {
		t.Errorf("the program came to %d MiB", peak>>20)
	}
}

// hears has codex utter something while a turn of another conversation waits for the end
// of its message, and looks at what became of both.
func (x *world) hears(t *testing.T, i int, row utterance) {
	bystander := fmt.Sprintf("bystander-%d-", i)
	over := filepath.Join(x.outside, bystander+"over")
	ours := object{"messageId": bystander, "role": "ROLE_USER", "contextId": bystander, "parts": []object{{"text": "!until " + over}}}
	begun := x.send(x.ours(rpc("SendMessage", object{"message": ours, "configuration": object{"returnImmediately": true}})))
	task := taskOf(begun)
	progtest.WaitFor(t, row.name+": the other turn to run", func() bool {
		return strings.Contains(x.send(x.ours(rpc("GetTask", object{"id": task}))).body, "TASK_STATE_WORKING")
	})
	file := filepath.Join(x.outside, fmt.Sprintf("utterance-%d", i))
	x.write(file, strings.NewReplacer("MARK", x.mark(), "MINE", "what-may-be").Replace(row.text))
	got := x.send(x.ours(message(fmt.Sprintf("utter-%d", i), "!raw "+file+" "+bystander)))
	if err := os.Remove(file); err != nil {
		t.Error(err)
	}
	serving(t, row.name, got)
	clean(t, row.name, got)
	if !strings.Contains(got.body, "TASK_STATE_COMPLETED") {
		t.Errorf("%s: %s", row.name, got)
	}
	var said any
	if err := json.Unmarshal([]byte(got.body), &said); err != nil {
		t.Errorf("%s: %v: %s", row.name, err, got)
	}
	if parts := handed(said); parts != nil && !strings.HasPrefix(row.name, "a picture") {
		t.Errorf("%s hands out %v", row.name, parts)
	}
	x.write(over+".new", bystander+"ended")
	if err := os.Rename(over+".new", over); err != nil { // it is there whole or not at all
		t.Error(err)
	}
	var end answer
	progtest.WaitFor(t, row.name+": the end of the other turn", func() bool {
		end = x.send(x.ours(rpc("GetTask", object{"id": task})))
		return !strings.Contains(end.body, "TASK_STATE_WORKING")
	})
	if !strings.Contains(end.body, "TASK_STATE_COMPLETED") || !strings.Contains(end.body, `"`+bystander+`ended"`) || strings.Contains(end.body, refusedMark) || strings.Contains(end.body, "what-may-be") {
		t.Errorf("%s: the other conversation has %s", row.name, end.body)
	}
}
