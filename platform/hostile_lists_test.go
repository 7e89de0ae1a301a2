package platform

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// listOf is a list of as many elements as are in so many bytes.
func listOf(bytes int, one string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(one+",", bytes/(len(one)+1)), ",") + "]"
}

// allocated is how many bytes are made by a function, those included that it lets go.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// TestBoundsOfAnswersOfMuch: what is made of an answer is little more than the answer and
// so many elements, whatever a peer, or the platform, puts into it.
func TestBoundsOfAnswersOfMuch(t *testing.T) {
	longtest.Mark(t)
	const (
		size     = 512 << 10
		ofAnswer = 4*size + MostElements<<10
		ofRow    = 6*size + MostElements<<11
		ofRows   = 4*size + MostElements<<12
	)
	var members strings.Builder
	for i := 0; members.Len() < size; i++ {
		members.WriteString(`,"` + strings.Repeat("x", i%3) + string(rune('a'+i%26)) + `":0`)
	}
	object := "{" + members.String()[1:] + "}"
	answers := map[string]string{"members": `{"result":` + object + `}`, "a long text": `{"result":{"parts":[{"text":"` + strings.Repeat("x", size) + `"}]}}`}
	rows := map[string]string{"row of members": "[" + object + "]"}
	for i, at := range []string{
		`{"result":*}`, `{"result":{"parts":*}}`, `{"result":{"artifacts":*}}`, `{"result":{"artifacts":[{"parts":*}]}}`, `{"result":{"message":{"parts":*}}}`,
		`{"result":{"task":{"task":{"task":{"artifacts":*}}}}}`, `{"result":{"status":{"message":{"parts":*}}}}`, `{"error":*}`, `{"status":*}`, `*`,
	} {
		one := []string{"{}", "1", `{"parts":[]}`, `{"root":{}}`}[i%4]
		answers[at+" of "+one] = strings.Replace(at, "*", listOf(size, one), 1)
	}
	for i, at := range []string{`*`, `[{"id":"r","attachments":*}]`, `[{"id":"r","source_id":*}]`, `[{"id":"r","request_body":*}]`, `[{"id":"r","summary":*}]`} {
		one := []string{"{}", "1"}[i%2]
		rows[at+" of "+one] = strings.Replace(at, "*", listOf(size, one), 1)
	}
	for name, answer := range answers {
		if made := allocated(func() { _ = json.Unmarshal([]byte(answer), &readAnswer{}) }); made > ofAnswer {
			t.Errorf("an answer, %.100s: %d bytes are made of %d", name, made, len(answer))
		}
		row := Row{Source: "us", RequestBody: json.RawMessage(answer), ResponseBody: json.RawMessage(answer)}
		if made := allocated(func() { _, _, _ = row.Answer(), row.Reply(), row.Happened("us") }); made > ofRow {
			t.Errorf("in a row, %.100s: %d bytes are made of %d", name, made, len(answer))
		}
	}
	for name, answer := range rows {
		var page list[looseRow]
		if made := allocated(func() { _ = json.Unmarshal([]byte(answer), &page) }); made > ofRows {
			t.Errorf("rows, %.100s: %d bytes are made of %d", name, made, len(answer))
		}
	}
}

// TestBoundsAsTheyAre: what is read of an answer.
func TestBoundsAsTheyAre(t *testing.T) {
	for what, bound := range map[string][2]int64{
		"bytes of an answer": {mostAnswer, 16 << 20}, "bytes of a row": {mostRow, 64 << 20}, "elements": {MostElements, 10_000}, "levels": {mostLevels, 64},
	} {
		if bound[0] != bound[1] {
			t.Errorf("%s: %d, want %d", what, bound[0], bound[1])
		}
	}
}

// TestRootsInRoots: nothing is made of them but for the first.
func TestRootsInRoots(t *testing.T) {
	const depth = mostLevels - 5
	deep := strings.Repeat(`{"root":`, depth) + `{"text":"x"}` + strings.Repeat("}", depth)
	answer := []byte(`{"result":{"parts":[{"root":{"text":"a"}},` + strings.Repeat(deep+",", 3_000) + `{"text":"b"}]}}`)
	var read readAnswer
	if made := allocated(func() { _ = json.Unmarshal(answer, &read) }); made > 5*len(answer) {
		t.Errorf("%d bytes are made of %d", made, len(answer))
	}
	if read.Text != "a\nb" {
		t.Errorf("%q, %v", read.Text, read.err)
	}
}

// TestFirst reads elements as [json.Unmarshal] does.
func TestFirst(t *testing.T) {
	for _, text := range []string{
		`[]`, ` [ ] `, `[1]`, `[1,2,3]`, "[\n1 ,\t{\"a\":[1,{\"b\":\"],\\\"}\"}]} , \"\\\\\", [[],[{}]],null]", `["a\\",",","]"]`, `{}`, `"[1]"`, `null`, `7`,
	} {
		var want []json.RawMessage
		_ = json.Unmarshal([]byte(text), &want)
		got, more, err := First[json.RawMessage]([]byte(text), 100)
		if len(got) != len(want) || more || err != nil {
			t.Fatalf("%s is read as %q, %v, %v", text, got, more, err)
		}
		for i := range want {
			if string(got[i]) != string(want[i]) {
				t.Errorf("%s: %q, want %q", text, got[i], want[i])
			}
		}
	}
	if got, more, _ := First[int]([]byte(`[1,2,3]`), 2); len(got) != 2 || !more {
		t.Errorf("%v %v", got, more)
	}
	if got, more, err := First[int]([]byte(`[1,"x",3]`), 3); len(got) != 3 || more || err == nil || got[2] != 3 {
		t.Errorf("%v %v %v", got, more, err)
	}
}

// TestAnswersReadAsBefore are those of both versions, and of runtimes that there are.
func TestAnswersReadAsBefore(t *testing.T) {
	for answer, want := range map[string]string{
		`{"result":"hi"}`: "hi",
		`{"result":{"parts":[{"kind":"text","text":"a"},{"kind":"data","text":"x"},{"type":"text","text":"b"},{"root":{"text":"c"}}]}}`:                            "a\nb\nc",
		`{"result":{"kind":"task","artifacts":[{"parts":[{"text":"a"}]},{"name":"none"},{"parts":[{"text":"b"}]}],"status":{"message":{"parts":[{"text":"x"}]}}}}`: "a\nb",
		`{"result":{"status":{"state":"x","message":{"parts":[{"text":"s"}]}}}}`:                                                                                   "s",
		`{"result":{"status":"completed","artifacts":[{"parts":[{"text":"a"}]}]}}`:                                                                                 "a",
		`{"result":{"message":{"parts":[{"text":"m"}]},"task":{"parts":[{"text":"t"}]}}}`:                                                                          "m",
		`{"result":{"message":null,"task":{"artifacts":[{"parts":[{"text":"t"}]}]}}}`:                                                                              "t",
		`{"result":{"parts":7,"artifacts":[{"parts":[{"text":"a"}]}]}}`:                                                                                            "a",
		`{"result":{"parts":` + listOf(MostElements*13, `{"text":"a"}`) + `}}`:                                                                                     strings.Repeat("a\n", MostElements-1) + "a",
		`{"result":{"parts":` + listOf((MostElements+5)*13, `{"text":"a"}`) + `}}`:                                                                                 strings.Repeat("a\n", MostElements) + "(There was more of it, which is left out here.)",
	} {
		var got readAnswer
		if err := json.Unmarshal([]byte(answer), &got); err != nil || got.err != nil || got.Text != want {
			t.Errorf("%.300s: %.100q, %v, %v", answer, got.Text, err, got.err)
		}
	}
	for _, answer := range []string{`{"result":null}`, `{}`, `{"result":null,"status":"running"}`, `7`} {
		if _, err := readReply([]byte(answer)); err == nil {
			t.Errorf("%s is an answer", answer)
		}
	}
	for _, answer := range []string{`{"queued":true,"result":{"parts":[{"text":"x"}]}}`, `{"status":"queued"}`} {
		if got, err := readReply([]byte(answer)); err != nil || !got.Queued || !QueuedText(answer) {
			t.Errorf("%s: %+v, %v", answer, got, err)
		}
	}
	if got, err := readReply([]byte(`{"status":"queued","result":null}`)); err == nil {
		t.Errorf("%+v", got)
	}
}

// TestPlacesOfLargeAnswers: as many large answers are read at once as there are places, and
// a small one waits for none.
func TestPlacesOfLargeAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := make(places, mostLarge)
		large := func() *strings.Reader { return strings.NewReader(strings.Repeat("x", freeAnswer+1)) }
		ctx, cancel := context.WithCancel(t.Context())
		var leaves []func()
		for range mostLarge {
			_, leave, err := p.read(ctx, large())
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, leave)
		}
		if text, leave, err := p.read(ctx, strings.NewReader("small")); string(text) != "small" || err != nil || len(p) != mostLarge {
			t.Errorf("%q, %v", text, err)
		} else {
			leave()
		}
		in, read := large(), make(chan int, 1)
		one := func() {
			text, leave, _ := p.read(ctx, in)
			leave()
			read <- len(text)
		}
		go one()
		if synctest.Wait(); len(read) != 0 || in.Len() != 1 {
			t.Errorf("one more does not wait: %d bytes are left to read", in.Len())
		}
		leaves[0]()
		if n := <-read; n != freeAnswer+1 {
			t.Errorf("%d bytes are read", n)
		}
		_, leaves[0], _ = p.read(ctx, large())
		in = large()
		go one()
		synctest.Wait()
		cancel()
		if n := <-read; n != 0 {
			t.Errorf("%d bytes are read by one who has left", n)
		}
		for _, leave := range leaves {
			leave()
		}
		if len(p) != 0 {
			t.Errorf("%d places are not given back", len(p))
		}
	})
}
