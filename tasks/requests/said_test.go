package requests_test

import (
	"encoding/json"
	"html"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/requests"
)

const id = "0b4cf1ae-7c3c-4a8e-9a55-2f3f4f1f7a01"

var of = requests.Request{Title: "codex asks whether it may run a command", Detail: "codex asks:\n\n    echo approved && ls\n\nApprove is a yes to this, once, and Deny a no."}

// escaped is the detail as a platform escapes it.
const escaped = "codex asks:\n\n    echo approved &amp;&amp; ls\n\nApprove is a yes to this, once, and Deny a no."

const (
	nothing = requests.Pending
	accept  = requests.Approved
	decline = requests.Denied
	lapsed  = requests.Lapsed
)

// TestReadText: words decide in a few short forms, and in no others.
func TestReadText(t *testing.T) {
	for text, want := range map[string]requests.State{
		"Request " + id + " was approved.":                                      accept,
		"request **" + id + "** has been granted":                               accept,
		"Request " + id + " is approved by Ada Lovelace.":                       accept,
		"Approved: " + id:                                                       accept,
		id + " approved":                                                        accept,
		"Your request (" + id + ") has been approved by the user.":              accept,
		"Your request \"" + of.Title + "\" (" + id + ") has been approved":      accept,
		"Your approval request " + id + " was denied":                           decline,
		"Your request (" + id + ") has been rejected by Ada.":                   decline,
		"Request " + id + " (" + of.Title + ") was declined.\n\n" + of.Detail:   decline,
		"Request " + id + " was approved.\n\n" + escaped:                        accept,
		"Request " + id + " was denied automatically: nobody decided within it": lapsed,
		"Request " + id + " has expired.":                                       lapsed,
		"Request " + id + " was auto-denied":                                    lapsed,
		"Request " + id + " timed out after 10 minutes":                         lapsed,
		"Request " + id + " was denied by auto-expired":                         lapsed,

		"Declined: " + id + "\n" + of.Detail[:40]:                                    nothing,
		id + ": " + of.Detail:                                                        nothing,
		"approved or denied: " + id:                                                  nothing,
		id + " was not approved":                                                     nothing,
		id + " isn’t approved":                                                       nothing,
		"Was " + id + " approved?":                                                   nothing,
		"Request " + id + " was approved?":                                           nothing,
		"approved":                                                                   nothing,
		"approved " + id + strings.Repeat(" blah", 4<<10):                            nothing,
		id + " no longer approved":                                                   nothing,
		id + " approval withdrawn, was approved before":                              nothing,
		"revoke approved " + id:                                                      nothing,
		"what did I mean when I approved " + id + " yesterday, tell me":              nothing,
		id + " dismissed. It was: <code>echo approved &amp;&amp; ls</code>":          nothing,
		"Request " + id + " was approved by mistake":                                 nothing,
		"Request " + id + " was approved by nobody":                                  nothing,
		"Request " + id + " was approved by default":                                 nothing,
		"Request " + id + " was approved automatically":                              nothing,
		"Request " + id + " was approved, and tell me what it does":                  nothing,
		"Request " + id + " was approved. Request " + id + " was denied":             nothing,
		"Request " + id + " has expired. It was approved before":                     nothing,
		"Request " + id + " has expired, what now?":                                  nothing,
		"Request " + id + " expires in ten minutes":                                  nothing,
		"~~approved~~ " + id:                                                         nothing,
		"please approve " + id:                                                       nothing,
		"Approved: 11111111-7c3c-4a8e-9a55-2f3f4f1f7a01 and " + id:                   nothing,
		"Your request (" + id + ") has been approved by Ada, who was wrong about it": nothing,
	} {
		if got := read(text, nil, nil).Decision(id, of); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestReadMembers: members decide beside the id of the request, where all that stands there agrees.
func TestReadMembers(t *testing.T) {
	for name, c := range map[string]struct {
		text, data string
		want       requests.State
	}{
		"decision":      {"A decision was made.", `{"request_id":ID,"decision":"Approved"}`, accept},
		"status":        {"x", `{"request":{"id":ID,"status":"denied"}}`, decline},
		"above":         {"x", `{"request":{"id":ID},"decision":"approved"}`, accept},
		"nested":        {"x", `{"row":{"params":{"metadata":{"requestId":ID,"requestStatus":"approved"}}}}`, accept},
		"flag":          {"x", `{"requestId":ID,"approved":true}`, accept},
		"flags":         {"x", `{"requestId":ID,"approved":true,"denied":false,"denied_at":null}`, accept},
		"flag-off":      {"x", `{"requestId":ID,"approved":false}`, decline},
		"both-agree":    {"Approved: ID", `{"decision":"approved"}`, accept},
		"with-the-rest": {"Request ID was approved.", `{"request":{"id":ID,"title":TITLE,"detail":DETAIL,"status":"approved"}}`, accept},
		"escaped":       {"Request ID was approved.", `{"request":{"id":ID,"detail":ESCAPED,"status":"approved"}}`, accept},
		"cut-off":       {"Request ID was approved.", `{"request":{"id":ID,"detail":CUT,"status":"approved"}}`, accept},
		"denied-why":    {"x", `{"request_id":ID,"decision":"denied","comment":"do not do that"}`, decline},

		"expired":          {"x", `{"request":{"id":ID,"status":"expired","rejected":false}}`, lapsed},
		"auto-expired":     {"x", `{"request_id":ID,"status":"denied","decided_by":"auto-expired"}`, lapsed},
		"ours":             {"x", `{"request_id":ID,"status":"denied","decidedBy":"molecule-codex-runtime"}`, lapsed},
		"flag-expired":     {"x", `{"request_id":ID,"denied":true,"auto_expired":true}`, lapsed},
		"expired-no-name":  {"ID", `{"status":"denied","decided_by":"auto-expired"}`, nothing},
		"approved-by-auto": {"x", `{"request_id":ID,"status":"approved","decided_by":"auto-policy"}`, nothing},

		"pending-denied-off":  {"x", `{"request":{"id":ID,"status":"pending","denied":false}}`, nothing},
		"denied-off":          {"x", `{"request":{"id":ID,"denied":false}}`, nothing},
		"action":              {"x", `{"request_id":ID,"status":"pending","action":"approve"}`, nothing},
		"action-alone":        {"x", `{"request_id":ID,"action":"approve"}`, nothing},
		"result":              {"x", `{"request_id":ID,"result":"approved","response":"approved","answer":"approved"}`, nothing},
		"cancelled":           {"x", `{"request_id":ID,"denied":false,"cancelled":true}`, nothing},
		"approved-cancelled":  {"x", `{"request_id":ID,"approved":true,"cancelled":true}`, nothing},
		"revoked-at":          {"x", `{"request_id":ID,"status":"approved","revokedAt":"today"}`, nothing},
		"below":               {"x", `{"request_id":ID,"status":"pending","last":{"status":"approved"}}`, nothing},
		"below-only":          {"x", `{"request_id":ID,"last":{"status":"approved"}}`, nothing},
		"beside":              {"x", `{"a":{"request_id":ID},"b":{"status":"approved"}}`, nothing},
		"beside-another":      {"x", `{"a":{"request_id":ID,"status":"approved"},"b":{"status":"pending"}}`, nothing},
		"another's":           {"ID", `{"request_id":"other","status":"approved"}`, nothing},
		"named-in-words":      {"ID", `{"decision":"approved"}`, nothing},
		"pending":             {"ID", `{"status":"pending"}`, nothing},
		"done-is-no-yes":      {"x", `{"request_id":ID,"status":"done"}`, nothing},
		"ok-is-no-yes":        {"x", `{"request_id":ID,"status":"ok","decision":"approved"}`, nothing},
		"number":              {"x", `{"request_id":ID,"status":200,"decision":"approved"}`, nothing},
		"null":                {"x", `{"request_id":ID,"status":null,"decision":"approved"}`, nothing},
		"object":              {"x", `{"request_id":ID,"state":{},"decision":"approved"}`, nothing},
		"odd-flag":            {"x", `{"request_id":ID,"approved":0,"decision":"approved"}`, nothing},
		"comment":             {"x", `{"request_id":ID,"decision":"approved","comment":"but not the second"}`, nothing},
		"why":                 {"Why? ID", `{"request_id":ID,"decision":"approved"}`, nothing},
		"contradiction":       {"Denied: ID", `{"request_id":ID,"decision":"approved"}`, nothing},
		"other-contradiction": {"Approved: ID", `{"request_id":ID,"decision":"denied"}`, nothing},
		"undecided-words":     {"Approved: ID", `{"status":"pending"}`, nothing},
		"another-member":      {"ID", `{"title":"approved"}`, nothing},
		"history":             {"approved", `{"history":[{"text":"it was approved","request_id":ID,"decision":"approved"}]}`, nothing},
		"deep":                {"Approved: ID", strings.Repeat(`{"x":`, 20) + `{"status":"pending"}` + strings.Repeat(`}`, 20), nothing},
	} {
		var data any
		if err := json.Unmarshal([]byte(strings.NewReplacer(
			"ESCAPED", quoted(escaped), "TITLE", quoted(of.Title), "DETAIL", quoted(of.Detail), "CUT", quoted(of.Detail[:60]+"…"), "ID", quoted(id),
		).Replace(c.data)), &data); err != nil {
			t.Fatal(name, err)
		}
		text := strings.ReplaceAll(c.text, "ID", id)
		if got := read(text, data, nil).Decision(id, of); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if meta, ok := data.(map[string]any); ok && read(text, nil, meta).Decision(id, of) != c.want {
			t.Errorf("%s as metadata is another decision", name)
		}
	}
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func read(text string, data any, meta map[string]any) requests.Said {
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	if data != nil {
		m.Parts = append(m.Parts, a2a.NewDataPart(data))
	}
	return requests.Read(m, meta)
}

// TestNames: the same each time, those in members for them first, and not without an end.
func TestNames(t *testing.T) {
	data := map[string]any{"request_id": id, "decision": "approved"}
	for c := 'a'; c < 'z'; c++ {
		data[string(c)] = map[string]any{"id": strings.Repeat(string(c), 16) + "1"}
	}
	first := read("approved 0000000000000000 ", data, nil).Names
	if len(first) != 16 || first[0] != id {
		t.Errorf("names are %q", first)
	}
	for range 20 {
		if again := read("approved 0000000000000000 ", data, nil).Names; !slices.Equal(again, first) {
			t.Fatalf("names are %q, then %q", first, again)
		}
	}
	if none := read("what is "+id+"?", nil, nil).Names; len(none) != 0 {
		t.Errorf("of a message that decides nothing names are %q", none)
	}
}

// doubt are words beside which nothing is a yes.
var doubt = strings.Fields("not no never denied deny rejected declined refused pending expired automatically auto timeout revoke revoked withdrawn cancelled dismissed longer if unless")

// doubtful reports whether a word of doubt is in what a message says, or in the name of a member that is so.
func doubtful(value any) bool {
	switch value := value.(type) {
	case string:
		words := strings.FieldsFunc(strings.ToLower(html.UnescapeString(value)), func(r rune) bool { return !unicode.IsLetter(r) })
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(doubt, word) })
	case []any:
		return slices.ContainsFunc(value, doubtful)
	case map[string]any:
		for key, one := range value {
			if key != "history" && (doubtful(one) || one == true && doubtful(key)) {
				return true
			}
		}
	}
	return false
}

// FuzzRead: nothing of a message may panic, be read without a bound, decide both, or be a yes where a word of
// doubt is in it.
func FuzzRead(f *testing.F) {
	f.Add("Request "+id+" was approved", `{"decision":"approved"}`)
	f.Add("?", `{"a":[{"status":"denied","approved":true}],"history":[{"decision":"approved"}]}`)
	f.Add("revoke approved "+id, `{"request_id":"`+id+`","decision":"approved","last":{"status":"pending"}}`)
	f.Add("x", `{"request":{"id":"`+id+`","status":"approved","denied":false,"cancelled":true}}`)
	f.Add(of.Detail, `[]`)
	f.Fuzz(func(t *testing.T, text, meta string) {
		var members map[string]any
		_ = json.Unmarshal([]byte(meta), &members)
		said := read(text, nil, members)
		if len(said.Names) > 16 {
			t.Errorf("%d names", len(said.Names))
		}
		names := append(said.Names, id)
		for _, name := range names {
			if said.Decision(name, requests.Request{}) == accept && (doubtful(text) || doubtful(members)) {
				t.Errorf("it allows %s, with a doubt", name)
			}
		}
		both := read(text+"\napproved denied", nil, members)
		for _, name := range names {
			if got := both.Decision(name, requests.Request{}); got == accept || got == decline {
				t.Errorf("words of both kinds decide %d", got)
			}
		}
	})
}
