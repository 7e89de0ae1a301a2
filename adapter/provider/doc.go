// Package provider decides which model provider a workspace's codex talks to, and
// with which credential: from what the platform and the user have set, by the
// registry of providers, in the platform's order.
//
// Everything here is a function of its parameters; nothing is read from the machine.
package provider
