package executor

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// An approval is a matter that one of a few decisions settles.
type approval struct {
	choices []choice
	show    func(*posing) posed
	noRules bool // codex takes rules here, and callers may make none
}

// A choice is one of the decisions.
type choice struct {
	decision any    // as data names it: one of the strings above, or an object that codex has proposed
	words    string // how it is offered to people; empty for what only programs choose
	reply    reply
}

func (a approval) pose(with *posing) posed {
	p := a.show(with)
	var words []string
	decisions := make([]any, 0, len(a.choices))
	for _, c := range a.choices {
		if c.reply.less != "" || c.reply.lasts && with.cut {
			continue
		}
		decisions = append(decisions, c.decision)
		if c.words != "" {
			words = append(words, c.words)
		}
	}
	p.data["choices"] = decisions
	p.accepts = "Answer " + orList(words) + "."
	return p
}

func orList(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (a approval) answer(given agent.Answer) (reply, error) {
	decision, err := given.Decision()
	if err != nil {
		return reply{}, err
	}
	for _, c := range a.choices {
		if reflect.DeepEqual(c.decision, decision) {
			return c.reply, nil
		}
	}
	if word, ok := decision.(string); ok {
		return reply{}, agent.NotUnderstood("The answer %q cannot be given here.", word)
	}
	if a.noRules {
		return reply{}, agent.NotUnderstood("%s", ruleRefused)
	}
	return reply{}, agent.NotUnderstood("That decision was not offered.")
}

func (a approval) grant() any { return a.choices[0].reply.value }

func decision(d any) map[string]any { return map[string]any{"decision": d} }

// decisions are the choices of approvals that are answered by a decision. same says what is
// not asked about again.
func decisions(same string) []choice {
	always := "always (yes, and " + same + " not asked about again in this conversation)"
	return []choice{
		{agent.Accept, "yes", reply{value: decision(agent.Accept)}},
		{agent.AcceptForSession, always, reply{value: decision(agent.AcceptForSession), lasts: true}},
		{agent.Decline, "no (codex goes on without it)", reply{value: decision(agent.Decline)}},
		{agent.Cancel, "cancel (the turn ends)", reply{value: decision(agent.Cancel), ends: true}},
	}
}

// once has an "always" be for this once. What codex would hold for the same command is not: its
// parser takes a carriage return for a blank, and bash for a part of a word; and a request does not
// say whether the command is to leave the sandbox, so that the runtime cannot tell either (seen on 0.169.0).
func once(choices []choice) []choice {
	for i, c := range choices {
		if c.decision == agent.AcceptForSession {
			choices[i] = choice{decision: agent.AcceptForSession, reply: reply{value: decision(agent.Accept), less: onceOnly}}
		}
	}
	return choices
}

// onceOnly is what the sender of an "always" to a command is told.
const onceOnly = "The command was allowed for this once: the next is asked about again, the same one too."

// ruleRefused is the answer to a decision that would last beyond its conversation.
const ruleRefused = "That decision is not offered. A rule for all conversations is the operator's to make: " +
	"write it into CODEX_HOME/rules, or set CODEX_RULES=callers. Here decide for this once, or for this conversation."

// readCommand reads item/commandExecution/requestApproval. The decisions of codex's that are
// objects are rules, which it writes into its home: they hold in every conversation, in every
// sandbox and under every policy, and the model has worded them. The answer is to all of the
// permissions of the command, so nobody can say "yes" where one of them is unfit.
func (on terms) readCommand(params json.RawMessage) (matter, error) {
	body, err := read[struct {
		Kind        string         `json:"kind"`
		Command     string         `json:"command"`
		Cwd         string         `json:"cwd"`
		Reason      string         `json:"reason"`
		Network     any            `json:"networkApprovalContext"`
		Permissions map[string]any `json:"additionalPermissions"`
		Available   []any          `json:"availableDecisions"`
	}](params)
	if err != nil {
		return nil, err
	}
	choices := decisions("this host is")
	if body.Network == nil {
		choices = once(choices)
	}
	_, withheld := on.narrow(body.Permissions)
	for _, offered := range body.Available { // for programs alone
		if rule, ok := offered.(map[string]any); ok && on.rules {
			choices = append(choices, choice{decision: rule, reply: reply{value: decision(rule), lasts: true}})
		}
	}
	return approval{choices: choices, noRules: !on.rules, show: func(with *posing) posed {
		data := map[string]any{}
		set(data, "command", with.shown(body.Command))
		set(data, "cwd", body.Cwd)
		set(data, "reason", with.shown(body.Reason))
		setAny(data, "network", with.value(body.Network))
		setAny(data, "permissions", with.value(orNil(body.Permissions)))
		what := "codex asks whether it may run this command:"
		switch {
		case body.Kind == "writeStdin":
			data["input"] = true
			what = "codex asks whether it may send this input to a command that is running:"
		case body.Network != nil:
			what = "codex asks whether this command may use the network:"
		}
		text, note := what, ""
		switch {
		case body.Kind == "writeStdin":
			note = "codex does not say to which command, and whether that runs outside of the sandbox."
		case body.Network == nil:
			note = "It may run outside of the sandbox: codex does not say whether it will."
		}
		if command, _ := data["command"].(string); command != "" {
			text += "\n\n" + brief.Indented(command) + "\n"
		}
		if len(body.Permissions) > 0 {
			text += "\nIt is to have, beside what the sandbox allows:\n\n" + brief.Indented(permissionsInWords(with, body.Permissions)) + "\n"
		}
		places := with.look(append(pathsOf(body.Permissions), body.Cwd)...)
		with.leads(data, places)
		p := posed{kind: "command", text: text + inWords(data), data: data, places: places, opens: writesOf(body.Permissions), barred: with.reasons(withheld)}
		if note != "" {
			p.text += "\n" + note
			p.notes = append(p.notes, note)
		}
		if opensNetwork(body.Permissions) {
			p.notes = append(p.notes, networkNote)
		}
		if body.Command == "" && body.Network == nil {
			p.unseen = "run a command, without saying which"
		}
		return p
	}}, nil
}

// inWords says where and why, and where that leads.
func inWords(data map[string]any) string {
	var b strings.Builder
	leads, _ := data["leads"].([]any)
	for _, lead := range leads {
		one, _ := lead.(map[string]any)
		fmt.Fprintf(&b, "\nA link: %s leads to %s", named(fmt.Sprint(one["path"])), named(fmt.Sprint(one["to"])))
	}
	if host, ok := data["network"].(map[string]any); ok {
		fmt.Fprintf(&b, "\nHost: %s (%s)", named(fmt.Sprint(host["host"])), named(fmt.Sprint(host["protocol"])))
	}
	if cwd, ok := data["cwd"].(string); ok {
		b.WriteString("\nDirectory: " + named(cwd))
	}
	if reason, ok := data["reason"].(string); ok {
		b.WriteString("\nReason: " + oneLine(reason))
	}
	return b.String()
}

// readFileChange reads item/fileChange/requestApproval. What is to be changed
// stands in the item, which codex has begun before it asks.
func (on terms) readFileChange(params json.RawMessage) (matter, error) {
	body, err := read[struct {
		ItemID    string `json:"itemId"`
		Reason    string `json:"reason"`
		GrantRoot string `json:"grantRoot"`
	}](params)
	if err != nil {
		return nil, err
	}
	root := slices.DeleteFunc([]string{body.GrantRoot}, func(s string) bool { return s == "" })
	withheld := on.withheld(root)
	return approval{choices: decisions("changes to these files, whatever they are, are"), show: func(with *posing) posed {
		data, text := map[string]any{}, "codex asks whether it may change files"
		set(data, "reason", with.shown(body.Reason))
		set(data, "grantRoot", body.GrantRoot)
		all := with.changes(body.ItemID)
		if len(all) > mostChanges { // each would be followed to where it leads
			return posed{kind: "fileChange", text: text, data: data, unseen: fmt.Sprintf("change %d files at once", len(all))}
		}
		places := with.look(append(pathsIn(all), body.GrantRoot)...)
		changes, names := changesOf(with, all, places)
		if len(changes) > 0 {
			data["changes"] = changes
			text += ":\n\n" + brief.Indented(strings.Join(names, "\n")) + "\n"
		}
		if body.GrantRoot != "" {
			text += "\nand to write below " + named(body.GrantRoot) + " from now on"
		}
		with.leads(data, with.folders(places))
		p := posed{kind: "fileChange", text: text + inWords(data), data: data, places: places, opens: root, barred: with.reasons(withheld)}
		if len(changes) == 0 { // also with a root, below which they need not lie
			p.unseen = "change files, without saying which"
		}
		return p
	}}, nil
}

// pathsIn are those that changes name.
func pathsIn(changes []appserver.FileChange) []string {
	paths := make([]string, 0, 1+2*len(changes))
	for _, c := range changes {
		paths = append(paths, c.Path, c.Kind.MovePath)
	}
	return paths
}

// changesOf shows the changes of a patch: their diffs whole where all of them have room,
// and else each with its share of it. What codex calls to add takes the place of what is there.
func changesOf(with *posing, all []appserver.FileChange, places []place) (changes []any, names []string) {
	taken := map[string]bool{}
	for _, p := range places {
		taken[p.path] = p.there
	}
	total := 0
	for _, c := range all {
		total += len(c.Diff)
	}
	each := mostShown
	if total > mostShown {
		each = mostShown / len(all)
	}
	for _, c := range all {
		name, diff := c.Kind.Type+" "+named(c.Path), with.within(with.clean(c.Diff), each)
		change := map[string]any{"path": c.Path, "kind": c.Kind.Type, "diff": diff}
		if to := c.Kind.MovePath; to != "" {
			change["to"], name = to, name+", which becomes "+named(to)
		}
		if taken[made(c)] {
			change["replaces"], name = true, name+", in the place of what is there"
		}
		if diff != "" {
			name += "\n" + brief.Indented(diff)
		}
		changes, names = append(changes, change), append(names, name)
	}
	return changes, names
}

// made is the file that a change makes; empty if it makes none.
func made(c appserver.FileChange) string {
	if c.Kind.Type == "add" {
		return c.Path
	}
	return c.Kind.MovePath
}

func set(data map[string]any, key, value string) {
	if value != "" {
		data[key] = value
	}
}

func setAny(data map[string]any, key string, value any) {
	if value != nil {
		data[key] = value
	}
}

// orNil keeps a member out where there is nothing in it.
func orNil(m map[string]any) any {
	if len(m) == 0 {
		return nil
	}
	return m
}
