// Package wirelog keeps a record of what is said to codex and by it, without the
// secrets, in a file for people who look for a fault. docs/wire-record.md describes it.
//
// # Ownership and concurrency
//
// A [Recorder] owns the file and one goroutine, which cleans and writes what it is
// given: [Open] starts it, [Recorder.Close] ends it. Whoever records copies a line
// into a queue and goes on: a disk that is full, slow or gone costs entries of the
// record, and no turn waits for it. What is lost is counted, and the count stands
// in the record where the entries would. All methods may be called concurrently;
// entries stand in the file in the order of the calls.
package wirelog
