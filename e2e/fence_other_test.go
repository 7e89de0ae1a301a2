//go:build !linux

package e2e

// fenced is for where there is a /proc.
func fenced(string) { panic("there is nothing to fence in") }

const twoUsersEnv = "E2E_AS_RUNTIME_USER"

func asRuntimeUser(string) {}

const hidingEnv = "E2E_HIDE"

func hide(string) {}

const leaseEnv = "E2E_LEASE"

func takeLease(string) {}

const terminalEnv = "E2E_TERMINAL"

func takeTerminal(string) {}
