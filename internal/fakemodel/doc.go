// Package fakemodel is a model without intelligence: an HTTP server that speaks
// as much of OpenAI's Responses API as codex 0.169.0 asks for, and answers each
// request as a [Script] says.
//
// It has three uses. Tests set scripts and read back what codex sent; they start
// it with package modeltest. It is the built-in model of a runtime that is
// started without a credential on purpose (RUNTIME_MODEL=scripted): [Listen]
// with [BuiltIn], whose replies all say what they come from. And it is what
// runtime doctor --deep has a codex run its turns with.
//
// # Ownership
//
// A [Server] is an [net/http.Handler] and owns nothing but what it recorded. A
// [Running] owns its listener and the goroutines under it; [Running.Close]
// ends the requests that are still open and waits for them.
//
// # Concurrency
//
// Requests are answered in parallel: a Script is called for each of them on a
// goroutine of its own, and a [Turn] belongs to that goroutine. A Script that
// shares state between requests guards it itself. All methods of Server and
// Running may be called concurrently.
package fakemodel
