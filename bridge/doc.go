// Package bridge runs coding tasks on a running runtime, over A2A: it starts,
// watches, corrects and ends them, and answers what they ask. Its answers are those
// of the codex_bridge tool, which [Client.Do] performs; [Register] offers it over MCP.
//
// It is a client like any other. All that it needs of the runtime is A2A 1.0, the keys
// of metadata that docs/messages.md lists, and for notify_completed one extension
// method. It keeps nothing: what it knows of a task is what the runtime says.
//
// # Ids
//
// A task that the bridge starts has an id of the form codex-<12 hex digits>, which is
// its A2A contextId and the messageId of its first message. So the A2A task is found
// again by its context, and a start that is repeated because its answer was lost is the
// same message, and runs once. Tasks that others have started go by their A2A id.
//
// # Concurrency
//
// A [Client] may be used concurrently, and starts no goroutines of its own.
package bridge
