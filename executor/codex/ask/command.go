package ask

import (
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// once has an "always" be for this once. What codex would hold for the same command is not: its
// parser takes a carriage return for a blank, and bash for a part of a word; and a request does not
// say whether the command is to leave the sandbox, so that the runtime cannot tell either (seen on 0.169.0).
func once(choices []choice) []choice {
	for i, c := range choices {
		if c.decision == agent.AcceptForSession {
			choices[i] = choice{decision: agent.AcceptForSession, reply: Reply{Value: decision(agent.Accept), Less: onceOnly}}
		}
	}
	return choices
}

// onceOnly is what the sender of an "always" to a command is told.
const onceOnly = "The command was allowed for this once: the next is asked about again, the same one too."

// readCommand reads item/commandExecution/requestApproval. The decisions of codex's that are
// objects are rules, which it writes into its home: they hold in every conversation, in every
// sandbox and under every policy, and the model has worded them. The answer is to all of the
// permissions of the command, so there is no "yes" where one of them is unfit.
func (on Terms) readCommand(params json.RawMessage) (subject, error) {
	body, err := decode[struct {
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
		if rule, ok := offered.(map[string]any); ok && on.Rules {
			choices = append(choices, choice{decision: rule, reply: Reply{Value: decision(rule), lasts: true}})
		}
	}
	return approval{choices: choices, noRules: !on.Rules, show: func(d *draft) Posed {
		data := map[string]any{}
		set(data, "command", d.shown(body.Command))
		set(data, "cwd", body.Cwd)
		set(data, "reason", d.shown(body.Reason))
		setAny(data, "network", d.value(body.Network))
		setAny(data, "permissions", d.value(orNil(body.Permissions)))
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
			text += "\nIt is to have, beside what the sandbox allows:\n\n" + brief.Indented(permissionsInWords(d, body.Permissions)) + "\n"
		}
		places := d.look(append(pathsOf(body.Permissions), body.Cwd)...)
		d.leads(data, places)
		p := Posed{kind: "command", text: text + inWords(data), data: data, Places: places, Opens: writesOf(body.Permissions), barred: d.reasons(withheld)}
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
