package login

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/failure"
)

// show tells the waiting jobs how the login stands, if that has changed.
func (k *keeper) show() {
	text, data := k.words()
	data["kind"], data["reason"] = string(agent.FailAuth), k.why.Why
	if k.shown != nil && k.shown.Text == text && k.shown.Unbegun == k.unbegun && maps.Equal(k.shown.Data, data) {
		return
	}
	k.shown = &executor.Pause{Paused: agent.Paused{Kind: agent.FailAuth, Text: text, Data: data}, Peers: k.peers, Unbegun: k.unbegun}
	k.of.open.Store(k.login)
	k.tell(k.shown)
}

// heldForPeers is what jobs of other agents are told of a missing credential, whatever is
// to be done about it: that is the user's to know.
func heldForPeers() *executor.Pause {
	return &executor.Pause{Paused: agent.Paused{
		Kind: agent.FailAuth,
		Text: "The model needs a login or a key, which the user of this agent has to give" + then + ".",
		Data: map[string]any{"kind": string(agent.FailAuth), "reason": "the user of this agent has to give a login or a key"},
	}}
}

// then ends what a job is told that waits for a credential.
const then = "; this message waits, and then runs by itself"

// words says what is wrong with the credential, and what to do about it.
func (k *keeper) words() (string, map[string]any) {
	variable := cmp.Or(failure.MissingVariable(k.why.Why), k.of.keyVariable())
	switch {
	case k.login != nil:
		return fmt.Sprintf("The model needs a login (%s). Open %s, enter the code %s and log in%s. The code is good for 15 minutes.",
				k.why.Why, k.login.VerificationURL, k.login.UserCode, then),
			map[string]any{"verificationUrl": k.login.VerificationURL, "userCode": k.login.UserCode, "loginId": k.login.LoginID}
	case k.kept:
		return fmt.Sprintf("The model's provider refused the credential (%s). There is another one by now, which codex takes as soon as no turn is begun: answer the questions that are open, or cancel their tasks%s.", k.why.Why, then),
			map[string]any{}
	case variable != "":
		return fmt.Sprintf("The model's provider needs a valid key in %s (%s). The operator has to set it and restart the runtime%s.", variable, k.why.Why, then),
			map[string]any{"variable": variable}
	case k.known && k.account.Account != nil && k.account.Account.Type == "apiKey":
		return fmt.Sprintf("The model's provider refused the API key that codex has stored (%s). Log codex in anew on its machine, as the user that it runs as (codex login)%s.", k.why.Why, then),
			map[string]any{}
	case k.offers() && k.trouble != "":
		return fmt.Sprintf("The model needs a login (%s), and %s; that is tried again. Or log codex in on its machine, as the user that it runs as (codex login)%s.", k.why.Why, k.trouble, then),
			map[string]any{}
	case k.offers():
		return fmt.Sprintf("The model needs a login (%s). The code that was given for one is not good any more; a new one comes soon%s.", k.why.Why, then),
			map[string]any{}
	}
	return fmt.Sprintf("The model's provider refused its credential, or got none (%s). See to the provider in codex's config.toml on its machine%s.", k.why.Why, then),
		map[string]any{}
}
