package login

import (
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// Account is what is known of the account; nil if nothing is.
func (c *Credential) Account() *executor.Account {
	status, known := c.account.last()
	if !known {
		return nil
	}
	account, _ := AccountOf(status)
	return &account
}

// Email is that of the account, if it has one and codex was asked.
func (c *Credential) Email() string {
	status, _ := c.account.last()
	_, email := AccountOf(status)
	return email
}

// AccountOf is the account that codex tells of, and its email if it has one.
func AccountOf(status appserver.AccountStatus) (account executor.Account, email string) {
	switch {
	case status.Account != nil:
		return executor.Account{Kind: status.Account.Type, Plan: status.Account.PlanType}, status.Account.Email
	case status.RequiresOpenaiAuth:
		return executor.Account{Kind: executor.AccountNone}, ""
	}
	return executor.Account{Kind: executor.AccountProvider}, ""
}

// Open is the login that the jobs which wait are told of; nil if there is none.
func (c *Credential) Open() *executor.OpenLogin {
	l := c.open.Load()
	if l == nil || l.over() {
		return nil
	}
	return &executor.OpenLogin{URL: l.VerificationURL, Code: l.UserCode, Expires: l.since.Add(loginLasts)}
}
