// Package e2e tests the built program as its users meet it: over HTTP, with
// the real pinned codex behind it and a scripted model behind that.
package e2e
