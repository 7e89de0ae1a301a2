// Package browser tests the console as a person meets it: the page of the built program
// in a real Chromium, with the real pinned codex behind it and a scripted model behind
// that.
package browser
