package login

import "github.com/Molecule-AI/molecule-codex-runtime/executor"

// Account is what is known of the account; nil if nothing is.
func (c *Credential) Account() *executor.Account {
	status, known := c.account.last()
	switch {
	case !known:
		return nil
	case status.Account != nil:
		return &executor.Account{Kind: status.Account.Type, Plan: status.Account.PlanType}
	case status.RequiresOpenaiAuth:
		return &executor.Account{Kind: "none"}
	}
	return &executor.Account{Kind: "provider"}
}

// Email is that of the account, if it has one and codex was asked.
func (c *Credential) Email() string {
	if status, _ := c.account.last(); status.Account != nil {
		return status.Account.Email
	}
	return ""
}

// Open is the login that the jobs which wait are told of; nil if there is none.
func (c *Credential) Open() *executor.OpenLogin {
	l := c.open.Load()
	if l == nil || l.over() {
		return nil
	}
	return &executor.OpenLogin{URL: l.VerificationURL, Code: l.UserCode, Expires: l.since.Add(loginLasts)}
}
