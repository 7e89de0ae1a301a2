package ask

import (
	"reflect"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// An approval is a subject that one of a few decisions settles.
type approval struct {
	choices []choice
	show    func(*draft) Posed
	noRules bool // codex takes rules here, and callers may make none
}

// A choice is one of the decisions.
type choice struct {
	decision any    // as data names it: one of those in agent/decision.go, or an object that codex has proposed
	words    string // how it is offered to people; empty for what only programs choose
	reply    Reply
}

func (a approval) pose(d *draft) Posed {
	p := a.show(d)
	var words []string
	decisions := make([]any, 0, len(a.choices))
	for _, c := range a.choices {
		if c.reply.Less != "" || c.reply.lasts && d.cut {
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

func (a approval) answer(given agent.Answer) (Reply, error) {
	decision, err := given.Decision()
	if err != nil {
		return Reply{}, err
	}
	for _, c := range a.choices {
		if reflect.DeepEqual(c.decision, decision) {
			return c.reply, nil
		}
	}
	if word, ok := decision.(string); ok {
		return Reply{}, agent.NotUnderstood("The answer %q cannot be given here.", word)
	}
	if a.noRules {
		return Reply{}, agent.NotUnderstood("%s", ruleRefused)
	}
	return Reply{}, agent.NotUnderstood("That decision was not offered.")
}

func (a approval) grant() any { return a.choices[0].reply.Value }

func decision(d any) map[string]any { return map[string]any{"decision": d} }

// decisions are the choices of approvals that are answered by a decision. same says what is
// not asked about again.
func decisions(same string) []choice {
	always := "always (yes, and " + same + " not asked about again in this conversation)"
	return []choice{
		{agent.Accept, "yes", Reply{Value: decision(agent.Accept)}},
		{agent.AcceptForSession, always, Reply{Value: decision(agent.AcceptForSession), lasts: true}},
		{agent.Decline, "no (codex goes on without it)", Reply{Value: decision(agent.Decline)}},
		{agent.Cancel, "cancel (the turn ends)", Reply{Value: decision(agent.Cancel), Ends: true}},
	}
}

// ruleRefused is the answer to a decision that would last beyond its conversation.
const ruleRefused = "That decision is not offered. A rule for all conversations is the operator's to make: " +
	"write it into CODEX_HOME/rules, or set CODEX_RULES=callers. Here decide for this once, or for this conversation."
