// Package tracing makes OpenTelemetry traces of what the runtime does, from outside of what
// does it: it wraps the handler of A2A and the caller of tools, watches jobs, and
// observes the calls of the platform. Nothing below knows of it but by the trace context
// that a message, a job and a turn carry as text.
//
//	SendMessage                       the request, until it is answered
//	├── queue                         from the job's submission to its turn
//	├── turn                          an attempt at it in codex
//	│   ├── tool command              an item that does something
//	│   └── tool delegate_task
//	│       └── platform              what that asked the platform for
//	└── answer                        until the end is committed and shown
//
// A job's spans are below the request that brought it, also where that ended long before:
// the context stands in the message's metadata and so in the journal. Spans have ids,
// names, numbers and outcomes. They have nothing of what anybody has written, neither a
// prompt nor a command nor the text of an error.
//
// # Off
//
// A nil [*Tracing] is switched off: what it wraps, and whom it would stand before, is returned as it is, so nothing is paid
// for it.
//
// # Ownership and concurrency
//
// Whoever calls [Open] calls [Tracing.Close], when no job is left. All methods may be called
// concurrently. Spans are handed over in batches by one goroutine, which nobody waits for:
// what a collector does not take in time is dropped.
package tracing
