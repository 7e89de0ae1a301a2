// Package logging makes the runtime's logger: coloured lines on a terminal,
// JSON otherwise, and in either case without secrets.
//
// A [Redactor] knows the secrets and is safe for concurrent use; the handler
// that wraps the real one passes everything through it: messages, keys, and
// values however deeply grouped. What is logged may still be lost in
// formatting: a value that holds a secret is logged as redacted text.
//
// A [Queue] keeps those who log from waiting for what reads the log.
package logging
