// Package sandbox knows what the commands of codex can do in the sandboxes that it makes for them: which
// directories they write, whether they reach the network, and so where they could lead codex, or others, who
// believe a path or an answer. It changes nothing; it says why something must not be.
package sandbox
